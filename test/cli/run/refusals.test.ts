import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson } from '../command.ts'
import { palette, runModels, TABLE } from './models.ts'

const { file, gather, identity } = runModels()

describe('run reports failures', () => {
  test('in one line with the place first: ONNX', async () => {
    const { status, stdout, stderr } = await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[0,9]'])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      `${gather}: node 0 Gather "Gather_y" (ai.onnx 17): index 9 at [1] is out of range for axis 0 of size 2; ` +
        'the index comes from "ids" (graph input)\n'
    )
  })

  test('in one line with line and column: OpenVINO', async () => {
    const text = readFileSync(join(MODELS, 'palette.xml'), 'utf8')
      .replaceAll('version="opset8"', 'version="opset7"')
      .replaceAll(/<layer ([^>]*)type="Gather"([^>]*)>/g, '$&<data batch_dims="0"/>')
    const model = file('palette.xml', text)
    file('palette.bin', readFileSync(join(MODELS, 'palette.bin')))
    const line = text.split('\n').findIndex(part => part.includes('type="Gather"')) + 1
    const { status, stderr } = await nodewise(['run', model, '-i', 'ids=[99]'])
    expect(status).toBe(2)
    expect(stderr).toMatch(
      new RegExp(
        `^${model}:${line}:3: Gather "name" \\(opset7\\): ` +
          'index 99 at \\[0\\] is out of range for axis 0 of size 6; [^\\n]*\\n$'
      )
    )
  })

  test('as JSON with code, message, place and details', async () => {
    const { status, json } = await nodewiseJson(['run', gather, '-i', TABLE, '-i', 'ids=[0,9]', '--json'])
    expect(status).toBe(2)
    expect(json.error).toMatchObject({
      code: 'index-out-of-range',
      place: { file: gather, node: 'Gather_y', nodeIndex: 0, type: 'Gather' },
      details: { index: '9', position: [1], axis: 0, size: 2 }
    })
  })

  test('with the stack only when --debug asks for it', async () => {
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[9]'])).stderr).not.toMatch(/\n\s+at /)
    expect((await nodewise(['run', gather, '-i', TABLE, '-i', 'ids=[9]', '--debug'])).stderr).toMatch(/\n\s+at /)
  })

  test('and no control characters of a file reach the terminal', async () => {
    const model = file(
      'control.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [node('No\u001b[31mSuch\n', ['x'], ['y'])]
      })
    )
    const { stderr } = await nodewise(['run', model, '-i', 'x=[1]'])
    expect(stderr.includes('\u001b')).toBe(false)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('run refuses a malformed model in one line with its place', () => {
  const xml = readFileSync(join(MODELS, 'palette.xml'), 'utf8')
  const bin = readFileSync(join(MODELS, 'palette.bin'))
  const relu = (name: string, from: string, to: string): object => ({ ...node('Relu', [from], [to]), name })
  const cases: [string, string, string | Uint8Array, Uint8Array | undefined, RegExp][] = [
    ['a cut-off protobuf', 'cut.onnx', readFileSync(palette).subarray(0, 150), undefined, /^[^:]*cut\.onnx: /],
    ['a file that is no model', 'text.onnx', 'hello', undefined, /^[^:]*text\.onnx: /],
    ['an empty file', 'empty.onnx', '', undefined, /^[^:]*empty\.onnx: /],
    ['a mismatched tag', 'tag.xml', xml.replace('</edges>', '</edgez>'), bin, /^[^:]*tag\.xml:\d+:\d+: /],
    [
      'a duplicate attribute',
      'twice.xml',
      xml.replace('<layer id="0"', '<layer id="0" id="0"'),
      bin,
      /^[^:]*twice\.xml:4:3: /
    ],
    ['a second root', 'roots.xml', `${xml}<net/>`, bin, /^[^:]*roots\.xml:\d+:\d+: /],
    ['a missing .bin that is needed', 'bare.xml', xml, undefined, /^[^:]*bare\.xml:\d+:\d+: Const /],
    ['a constant beyond the .bin', 'short.xml', xml, bin.subarray(0, 10), /^[^:]*short\.xml:\d+:\d+: Const .*10 bytes/],
    [
      'an unknown element type',
      'type.xml',
      xml.replace('element_type="u8"', 'element_type="u9"'),
      bin,
      /^[^:]*type\.xml:\d+:\d+: .*u9/
    ],
    [
      'duplicate value names',
      'names.onnx',
      onnxBytes({
        inputs: [port('ids', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [relu('one', 'ids', 'y'), relu('two', 'ids', 'y')]
      }),
      undefined,
      /^[^:]*names\.onnx: node \d+ Relu "(one|two)"/
    ],
    [
      'a cycle',
      'cycle.onnx',
      onnxBytes({
        inputs: [port('ids', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [relu('one', 'y', 'z'), relu('two', 'z', 'y')]
      }),
      undefined,
      /^[^:]*cycle\.onnx: node \d+ Relu/
    ]
  ]
  test.each(cases)('%s', async (_, name, content, weights, expected) => {
    const model = file(name, content)
    if (weights !== undefined) file(name.replace('.xml', '.bin'), weights)
    const { status, stdout, stderr } = await nodewise(['run', model, '-i', 'ids=[0]'])
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(expected)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('run names what is at fault', () => {
  const refused = async (...args: string[]): Promise<unknown> =>
    ((await nodewiseJson(['run', ...args, '--json'])).json as { error: unknown }).error

  test('a file that an option names and that is not there, as the place', async () => {
    const place = { file: 'gone.file' }
    const ids = ['-i', 'ids=[1]']
    expect(await refused(palette, ...ids, '--labels', 'gone.file')).toMatchObject({ code: 'missing-file', place })
    expect(await refused(palette, '--image', 'ids=gone.file')).toMatchObject({ code: 'missing-file', place })
    expect(await refused(identity, '--audio', 'a=gone.file')).toMatchObject({ code: 'missing-file', place })
  })

  test('the option whose size is none', async () => {
    const needed = 'a size such as 2GB, 512MiB or a number of bytes is needed'
    expect(await refused(palette, '--max-memory', '2XB')).toMatchObject({ message: `--max-memory 2XB: ${needed}` })
    expect(await refused(palette, '--limit', 'nodes=x')).toMatchObject({ message: `--limit nodes=x: ${needed}` })
  })

  test('values to fetch where none is named, as by a variable that is not set', async () => {
    const { status, stderr } = await nodewise(['run', palette, '-i', 'ids=[1]', '--fetch', ''])
    expect([status, stderr]).toEqual([2, `${palette}: --fetch names no value; a run would compute nothing\n`])
  })

  test('a model without a name, which a variable that is not set gives', async () => {
    for (const command of ['run', 'check', 'inspect'])
      expect((await nodewise([command, ''])).stderr).toBe('nodewise: the name of a model is empty\n')
  })
})

test('an input that is not given comes with options that fill it, whatever is known of its dims', async () => {
  const model = file(
    'open.onnxtxt',
    `<ir_version: 9, opset_import: ["" : 17]>
    open (float[?,3] a, float[n] b, float[] c) => (float[?,3] x, float[n] y, float[] z) {
      x = Abs (a) y = Abs (b) z = Abs (c)
    }`
  )
  const { stderr } = await nodewise(['run', model])
  expect(stderr).toContain('--fill random --shape a=1x3 --shape n=1 --shape c=1 for values of no meaning')
  const shapes = ['a=1x3', 'n=1', 'c=1'].flatMap(shape => ['--shape', shape])
  expect((await nodewise(['run', model, '--fill', 'random', ...shapes])).status).toBe(0)
})
