import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const withBody = file(
  'body.onnx',
  onnxBytes({
    inputs: [port('c', 'bool', []), port('x', 'float', ['n', 2])],
    outputs: [port('y', 'float', ['n', 2])],
    nodes: [
      node('If', ['c'], ['y'], {
        then_branch: { graph: { outputs: [port('t', 'float')], nodes: [node('Relu', ['x'], ['t'])] } },
        else_branch: {
          graph: { outputs: [port('e', 'float')], nodes: [node('Neg', ['x'], ['m']), node('NoSuchOp', ['m'], ['e'])] }
        }
      })
    ]
  })
)

describe('inspect', () => {
  test('says in JSON what is in an ONNX file, nodes of bodies included', async () => {
    const { status, json } = await nodewiseJson(['inspect', withBody, '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      format: 'onnx',
      irVersion: 9,
      opsets: { 'ai.onnx': 17 },
      inputs: [
        { name: 'c', type: 'bool', dims: [] },
        { name: 'x', type: 'float32', dims: ['n', 2] }
      ],
      outputs: [{ name: 'y', type: 'float32', dims: ['n', 2] }],
      nodes: 4,
      ops: { If: 1, Neg: 1, NoSuchOp: 1, Relu: 1 },
      parameters: 0,
      weightBytes: 0
    })
    expect(json.unsupported).toContain('NoSuchOp')
    expect(json.unsupported).not.toContain('Relu')
  })

  test("says in JSON what is in an IR, with OpenVINO's names of types, without its .bin", async () => {
    const model = file('alone.xml', readFileSync(join(MODELS, 'palette.xml')))
    const { status, json } = await nodewiseJson(['inspect', model, '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      format: 'openvino',
      irVersion: 11,
      inputs: [{ name: 'ids', type: 'i64', dims: ['?'] }],
      outputs: [
        { name: 'name', type: 'string', dims: ['?'] },
        { name: 'rgb', type: 'u8', dims: ['?', 3] }
      ],
      nodes: 8,
      ops: { Const: 3, Gather: 2, Parameter: 1, Result: 2 },
      unsupported: [],
      parameters: 25,
      weightBytes: 86
    })
  })

  test('prints the same for people', async () => {
    const { status, stdout } = await nodewise(['inspect', withBody])
    expect(status).toBe(0)
    expect(stdout).toMatch(/nodes +4, those of 2 bodies included/)
    expect(stdout).toMatch(/inputs\n {2}c +bool +\[\]\n {2}x +float32 +\[n, 2\]\n/)
    expect(stdout).toMatch(/1 {2}NoSuchOp {2}\(cannot be run\)/)
    expect(stdout).not.toContain('\u001b')
  })

  test('draws the graph with its bodies as frames: dot', async () => {
    const { stdout } = await nodewise(['inspect', withBody, '--graph', 'dot'])
    expect(stdout).toMatch(/^digraph model \{\n[^]*\n\}\n$/)
    expect(stdout.match(/subgraph cluster_/g)).toHaveLength(2)
    expect(stdout.match(/\{/g)?.length).toBe(stdout.match(/\}/g)?.length)
    expect(stdout).toContain('float32 [n, 2]')
  })

  test('draws the graph with its bodies as frames: mermaid', async () => {
    const { stdout } = await nodewise(['inspect', withBody, '--graph', 'mermaid'])
    expect(stdout).toMatch(/^flowchart TD\n/)
    expect(stdout.match(/^ *subgraph /gm)).toHaveLength(2)
    expect(stdout.match(/^ *end$/gm)).toHaveLength(2)
  })

  test('keeps names of a file from breaking out of a drawing', async () => {
    const model = file(
      'quotes.onnx',
      onnxBytes({
        inputs: [port('a"] ; x', 'float')],
        outputs: [port('y', 'float')],
        nodes: [node('Relu', ['a"] ; x'], ['y'])]
      })
    )
    expect((await nodewise(['inspect', model, '--graph', 'dot'])).stdout).toContain('a\\"] ; x')
    expect((await nodewise(['inspect', model, '--graph', 'mermaid'])).stdout).not.toContain('a"')
  })

  test('fails with exit code 2 where there is no model', async () => {
    expect(await nodewise(['inspect', join(folder, 'none.onnx')])).toEqual({
      status: 2,
      stdout: '',
      stderr: `${join(folder, 'none.onnx')}: does not exist\n`
    })
    expect(await nodewiseJson(['inspect', folder, '--json'])).toMatchObject({
      status: 2,
      json: { error: { code: 'invalid-file', place: { file: folder } } }
    })
  })
})
