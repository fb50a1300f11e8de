import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, nodewise, nodewiseJson, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const wrong = join(MODELS, 'wrong-dim.xml')
const right = join(MODELS, 'palette.onnx')

describe('check', () => {
  test('says yes to a model without faults', async () => {
    const { status, stdout } = await nodewise(['check', right])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^0 errors, 0 warnings \(2 nodes, /)
  })

  test('says no to a false dim, with the place of the <dim>', async () => {
    const { status, stdout } = await nodewise(['check', wrong])
    expect(status).toBe(1)
    const finding = 'dim 3 of value "gather" is declared 12; it is 10 [error: dims-mismatch]'
    expect(stdout).toBe(`${wrong}:47:6: Gather "gather" (opset8): ${finding}
  45 |         <dim>15</dim>
  46 |         <dim>4</dim>
  47 |         <dim>12</dim>
     |         ^~~~~

1 error, 0 warnings (5 nodes, 4 values, 0 values of unknown rank)
`)
  })

  test('names a value once where it is the place of a finding', async () => {
    const inputs = [port('x', 'float', [-3])]
    const odd = onnxBytes({ inputs, outputs: [port('y', 'float', ['n'])], nodes: [node('Abs', ['x'], ['y'])] })
    const path = file('odd.onnx', odd)
    expect((await nodewise(['check', path])).stdout).toContain(`${path}: value "x": it is declared with a dim of -3 [`)
  })

  test.each([['--json'], ['--format', 'json']])('gives findings and summary as JSON with %s %s', async (...args) => {
    const { status, json } = await nodewiseJson(['check', wrong, ...args])
    expect(status).toBe(1)
    expect(json).toMatchObject({
      model: wrong,
      findings: [
        {
          code: 'dims-mismatch',
          severity: 'error',
          declared: '[6, 15, 4, 12]',
          inferred: '[6, 15, 4, 10]',
          place: { file: wrong, line: 47, column: 6, layer: '3', port: '3' }
        }
      ],
      summary: { errors: 1, warnings: 0, nodes: 5, values: 4, unknownShapes: 0 }
    })
    expect(json).not.toHaveProperty('values')
  })

  test('lists every value with --values', async () => {
    expect((await nodewise(['check', wrong, '--values'])).stdout).toMatch(
      /^data +f32 +\[6, 12, 10\]\n[^]*\ngather +f32 +\[6, 15, 4, 10\] +declared \[6, 15, 4, 12\]\n/
    )
    const { json } = await nodewiseJson(['check', wrong, '--values', '--json'])
    expect(json.values).toContainEqual({
      name: 'gather',
      type: 'f32',
      dims: [6, 15, 4, 10],
      declaredDims: [6, 15, 4, 12],
      node: 'gather'
    })
  })

  test('takes dims of inputs as sizes, names and intervals', async () => {
    const model = file(
      'concat.onnx',
      onnxBytes({
        inputs: [port('a', 'float', ['p', 'q']), port('b', 'float', ['r', 's'])],
        outputs: [port('y', 'float')],
        nodes: [{ ...node('Concat', ['a', 'b'], ['y'], { axis: 0 }) }]
      })
    )
    const dims = async (...shapes: string[]): Promise<unknown> => {
      const { json } = await nodewiseJson([
        'check',
        model,
        '--values',
        '--json',
        ...shapes.flatMap(shape => ['--input-shape', shape])
      ])
      return (json.values as { name: string; dims: unknown }[]).find(({ name }) => name === 'y')?.dims
    }
    expect(await dims('a=2x3', 'b=4x3')).toEqual([6, 3])
    expect(await dims('a=[n,3]', 'b=[n,3]')).toEqual(['2*n', 3])
    expect(await dims('a=[1..4,3]', 'b=[2,3]')).toEqual(['3..6', 3])
    expect((await nodewise(['check', model, '--input-shape', 'a=2x3', '--input-shape', 'b=4x5'])).status).toBe(1)
    expect(await dims('p=2', 'q=3', 'b=4x3')).toEqual([6, 3])
    expect(await dims('p=1..4', 'q=3', 'b=[2,3]')).toEqual(['3..6', 3])
    expect(await dims('a=[r,3]', 'b=[4,3]', 'r=5')).toEqual([9, 3])
  })

  test.each([
    ['an input that is not there', ['--input-shape', 'zzz=2x3'], 'unexpected-input'],
    ['dims that are none', ['--input-shape', 'ids=[2,,3]'], 'bad-usage'],
    ['an empty interval', ['--input-shape', 'ids=[5..2]'], 'bad-usage'],
    ['a form that nobody knows', ['--format', 'xml'], 'bad-usage']
  ])('refuses %s with exit code 2', async (_, args, code) => {
    const { status, json } = await nodewiseJson(['check', right, ...args, '--json'])
    expect([status, (json.error as { code: string }).code]).toEqual([2, code])
  })

  test('reports duplicate names and cycles as findings, which run refuses', async () => {
    const twice = file(
      'twice.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [node('Relu', ['x'], ['y']), node('Neg', ['x'], ['y'])]
      })
    )
    const circle = file(
      'circle.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('y', 'float')],
        nodes: [node('Relu', ['y'], ['z']), node('Neg', ['z'], ['y'])]
      })
    )
    for (const model of [twice, circle]) {
      const { status, json } = await nodewiseJson(['check', model, '--json'])
      expect(status).toBe(1)
      expect((json.findings as { severity: string }[]).some(({ severity }) => severity === 'error')).toBe(true)
    }
  })

  test('shows of an ONNX file the node, what it reads and who reads it', async () => {
    const model = file(
      'places.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [6, 'n']), port('ids', 'int64', [4])],
        values: [port('h', 'float', [5, 'n'])],
        outputs: [port('y', 'float', [4, 'n'])],
        nodes: [node('Gather', ['x', 'ids'], ['h']), node('Relu', ['h'], ['y'])]
      })
    )
    const { stdout } = await nodewise(['check', model])
    const finding = 'dim 0 of value "h" is declared 5; it is 4 [error: dims-mismatch]'
    expect(stdout).toContain(`${model}: node 0 Gather "Gather_h" (ai.onnx 17): ${finding}
  |   <- x: float32 [6, n]  from graph input "x"
  |   <- ids: int64 [4]  from graph input "ids"
  |   -> h: float32 [4, n], declared float32 [5, n]  to Relu "Relu_y"
`)
  })

  test('names the way into a body', async () => {
    const body = { inputs: [], outputs: [port('b', 'float', [7])], nodes: [node('Relu', ['x'], ['b'])] }
    const model = file(
      'body.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [6]), port('c', 'bool', [])],
        outputs: [port('y', 'float')],
        nodes: [
          node('If', ['c'], ['y'], {
            then_branch: { graph: body },
            else_branch: { graph: { ...body, outputs: [port('b', 'float', [6])] } }
          })
        ]
      })
    )
    const { stdout } = await nodewise(['check', model])
    expect(stdout).toContain(`${model}: node 0:then_branch/0 Relu "Relu_b"`)
    expect(stdout).toContain('<- x: float32 [6]  from graph input "x"')
  })

  test('counts notes with --strict, and warnings as errors', async () => {
    const model = file(
      'loose.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [6])],
        values: [port('h', 'float', ['n'])],
        outputs: [port('y', 'float', [6])],
        nodes: [node('Relu', ['x'], ['h']), node('Relu', ['h'], ['y'])]
      })
    )
    expect((await nodewise(['check', model])).stdout).not.toContain('loose-declaration')
    expect(await nodewise(['check', model, '--strict'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(
        'value "h" is declared [n]; its dims are known to be [6] [note: loose-declaration]'
      ) as string
    })
    const odd = file(
      'odd.xml',
      `<net name="m" version="10"><layers>
      <layer id="0" name="x" type="Parameter" version="opset1"><data shape="6" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>6</dim></port></output></layer>
      <layer id="1" name="r" type="Result" version="opset1"><input><port id="0"><dim>6</dim></port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
    </net>`.replace('type="Result"', 'type="result"')
    )
    expect(await nodewise(['check', odd])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('[warning: not-an-output]') as string
    })
    expect((await nodewise(['check', odd, '--strict'])).status).toBe(1)
  })

  test('counts notes that are many', async () => {
    const layers = Array.from(
      { length: 15 },
      (_, i) =>
        `<layer id="${i + 2}" name="p${i}" type="Const" version="opset1">
          <data element_type="f32" shape="1" offset="0" size="4"/>
          <output><port id="0" precision="FP32"><dim>1</dim></port></output></layer>`
    )
    const model = file(
      'dead.xml',
      `<net name="m" version="11"><layers>
      <layer id="0" name="x" type="Parameter" version="opset1"><data shape="6" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>6</dim></port></output></layer>
      <layer id="1" name="r" type="Result" version="opset1"><input><port id="0"><dim>6</dim></port></input></layer>
      ${layers.join('\n')}
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>`
    )
    const { stdout } = await nodewise(['check', model])
    expect(stdout.match(/\[note: dead-layer\]/g)).toHaveLength(10)
    expect(stdout).toContain('and 5 more notes dead-layer')
  })

  test('refuses what cannot be decoded', async () => {
    expect(await nodewise(['check', file('broken.xml', '<net version="11"><layers></net>')])).toMatchObject({
      status: 2,
      stdout: ''
    })
  })
})

describe('check --fix', () => {
  test('writes an IR without its false dim, and says what it replaced', async () => {
    const out = join(folder, 'fixed.xml')
    const { status, json } = await nodewiseJson(['check', wrong, '--fix', out, '--json'])
    expect(status).toBe(1)
    expect(json).toMatchObject({
      findings: [{ code: 'dims-mismatch' }],
      changed: [{ node: 'gather', how: '"gather" is declared f32[6,15,4,10], not f32[6,15,4,12]' }]
    })
    const fixed = await nodewiseJson(['check', out, '--json'])
    expect(fixed.status).toBe(0)
    expect(fixed.json).toMatchObject({ findings: [] })
    const [before, after] = [wrong, out].map(path => readFileSync(path, 'utf8'))
    // Only the dim is another one, in the port that makes the value and in the one that reads it.
    expect(after.match(/\d+/g)).toHaveLength(before.match(/\d+/g)!.length)
    expect(after.match(/<dim>10</g)).toHaveLength(before.match(/<dim>10</g)!.length + 2)
  })

  test('writes an ONNX model without its false dim, and nothing else anew', async () => {
    const path = file(
      'false.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [2, 3])],
        outputs: [port('y', 'float', [2, 4])],
        nodes: [node('Abs', ['x'], ['a']), node('Neg', ['a'], ['y'])]
      })
    )
    const out = join(folder, 'fixed.onnx')
    const { stdout } = await nodewise(['check', path, '--fix', out])
    expect(stdout).toMatch(/fixed: .*Neg.*: "y" is declared float\[2,3\], not float\[2,4\]/)
    expect((await nodewise(['check', out])).status).toBe(0)
    expect(readFileSync(out).length).toBe(readFileSync(path).length)
  })

  test('is refused where it would write another dialect, or many models', async () => {
    expect((await nodewise(['check', wrong, '--fix', join(folder, 'no.onnx')])).status).toBe(2)
    expect((await nodewise(['check', wrong, right, '--fix', join(folder, 'no.xml')])).status).toBe(2)
    expect(existsSync(join(folder, 'no.onnx'))).toBe(false)
  })
})
