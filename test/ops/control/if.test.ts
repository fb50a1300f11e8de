import { describe, expect, test } from 'vitest'
import { floats, type GraphParts, int64s, type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { body, layer, net } from '../../openvino/ir.ts'
import { alias, bools, flag, float, inferIr, inferOnnx, rejection, runIr, runOnnx, sequencePort } from '../model.ts'

const branch = (nodes: readonly object[], parts: Partial<GraphParts> = {}): GraphParts => ({
  nodes,
  outputs: [port('b', 'float')],
  ...parts
})

const choice = (thenBranch: GraphParts, elseBranch: GraphParts, parts: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('c', 'bool', []), port('x', 'float', ['n', 2])],
  nodes: [node('If', ['c'], ['y'], { then_branch: { graph: thenBranch }, else_branch: { graph: elseBranch } })],
  outputs: [port('y', 'float')],
  ...parts
})

const rows = (...values: number[]): Record<string, unknown> => ({
  type: 'float32',
  dims: [values.length / 2, 2],
  data: Float32Array.from(values)
})
const negated = branch([node('Neg', ['x'], ['b'])])
const doubled = branch([node('Concat', ['x', 'x'], ['b'], { axis: 0 })])
const constantCondition = (value: number): Partial<ModelParts> => ({
  inputs: [port('x', 'float', ['n', 2])],
  initializers: [bools('c', [], [value])]
})

describe('ONNX If', () => {
  test('runs the branch that the condition picks, on values from outside', async () => {
    expect((await runOnnx(choice(negated, doubled), { c: flag(true), x: rows(1, 2) as never })).y).toEqual([
      [1, 2],
      -1,
      -2
    ])
    expect((await runOnnx(choice(negated, doubled), { c: flag(false), x: rows(1, 2) as never })).y).toEqual([
      [2, 2],
      1,
      2,
      1,
      2
    ])
  })

  test("a branch may be a value from outside, and the output is then the caller's own", async () => {
    const x = rows(1, 2)
    const { y } = await runOnnx(choice(branch([], { outputs: [port('x', 'float')] }), negated), {
      c: flag(true),
      x: x as never
    })
    expect(y).toEqual([[1, 2], 1, 2])
  })

  test('names from outside stay readable where a branch declares their type once more', async () => {
    const again = branch([node('Neg', ['x'], ['b'])], { values: [port('x', 'float', ['n', 2])] })
    expect((await runOnnx(choice(again, doubled), { c: flag(true), x: rows(1, 2) as never })).y).toEqual([
      [1, 2],
      -1,
      -2
    ])
  })

  test('branches in branches', async () => {
    const inner = branch([
      node('If', ['c'], ['b'], {
        then_branch: { graph: branch([node('Abs', ['x'], ['d'])], { outputs: [port('d', 'float')] }) },
        else_branch: { graph: branch([alias('x', 'd')], { outputs: [port('d', 'float')] }) }
      })
    ])
    expect((await runOnnx(choice(inner, doubled), { c: flag(true), x: rows(-1, 2) as never })).y).toEqual([
      [1, 2],
      1,
      2
    ])
  })

  test('sequences may come out', async () => {
    const one = branch([node('SequenceConstruct', ['x'], ['b'])], { outputs: [sequencePort('b', 'float')] })
    const none = branch([node('SequenceEmpty', [], ['b'])], { outputs: [sequencePort('b', 'float')] })
    const model = choice(one, none, { outputs: [sequencePort('y', 'float')] })
    expect((await runOnnx(model, { c: flag(false), x: rows(1, 2) as never })).y).toEqual([])
    expect(await inferOnnx(model)).toEqual({ y: '0..1 of [n, 2]' })
  })

  test('a condition of several elements is refused', async () => {
    const model = choice(negated, doubled, { inputs: [port('c', 'bool', ['k']), port('x', 'float', ['n', 2])] })
    expect(
      (
        await rejection(
          runOnnx(model, { c: { type: 'bool', dims: [2], data: Uint8Array.of(1, 0) }, x: rows(1, 2) as never })
        )
      ).code
    ).toBe('dims-mismatch')
  })

  test('a condition of one element may have any rank', async () => {
    const model = choice(negated, doubled, { inputs: [port('c', 'bool', [1, 1]), port('x', 'float', ['n', 2])] })
    const condition = { type: 'bool', dims: [1, 1], data: Uint8Array.of(1) } as never
    expect((await runOnnx(model, { c: condition, x: rows(1, 2) as never })).y).toEqual([[1, 2], -1, -2])
  })

  test('an operator that is missing in a branch is named with all others', async () => {
    const model = choice(branch([node('NoOp1', ['x'], ['b'])]), branch([node('NoOp2', ['x'], ['b'])]))
    expect(await rejection(runOnnx(model, { c: flag(true), x: rows(1, 2) as never }))).toMatchObject({
      code: 'unsupported-op',
      details: { types: ['ai.onnx::NoOp1-17', 'ai.onnx::NoOp2-17'] }
    })
  })

  test('a branch that is known not to be taken may hold anything', async () => {
    const broken = branch([node('NoOp1', ['x'], ['z']), node('Reshape', ['z', 'shape'], ['b'])], {
      initializers: [int64s('shape', [1], [-7])]
    })
    expect((await runOnnx(choice(negated, broken, constantCondition(1)), { x: rows(1, 2) as never })).y).toEqual([
      [1, 2],
      -1,
      -2
    ])
  })

  test('a failure in a branch has the place of its node', async () => {
    const failing = branch([node('Gather', ['x', 'far'], ['b'])], { initializers: [int64s('far', [], [5])] })
    const model = choice(failing, doubled)
    expect((await runOnnx(model, { c: flag(false), x: rows(1, 2) as never })).y).toEqual([[2, 2], 1, 2, 1, 2])
    expect(await rejection(runOnnx(model, { c: flag(true), x: rows(1, 2) as never }))).toMatchObject({
      code: 'index-out-of-range',
      place: { graphPath: '0:then_branch', nodeIndex: 0 }
    })
  })

  test('a branch with inputs, or with fewer outputs than the node, is refused', async () => {
    for (const wrong of [
      branch([node('Neg', ['x'], ['b'])], { inputs: [port('p', 'float')] }),
      branch([], { outputs: [] })
    ]) {
      expect((await rejection(runOnnx(choice(wrong, doubled), { c: flag(true), x: rows(1, 2) as never }))).code).toBe(
        'invalid-graph'
      )
    }
  })
})

describe('the shape rule of ONNX If', () => {
  const fixed = (rows: number): GraphParts =>
    branch([], { initializers: [floats('b', [rows, 3], new Array<number>(rows * 3).fill(0))] })

  test('gives what both branches have in common', async () => {
    expect(await inferOnnx(choice(fixed(2), fixed(4)))).toEqual({ y: '[2..4, 3]' })
    expect(await inferOnnx(choice(negated, negated))).toEqual({ y: '[n, 2]' })
    expect(await inferOnnx(choice(negated, branch([], { initializers: [floats('b', [1], [0])] })))).toEqual({
      y: '[...]'
    })
  })

  test('gives the branch that a known condition picks', async () => {
    expect(await inferOnnx(choice(fixed(2), fixed(4), constantCondition(1)))).toEqual({ y: '[2, 3]' })
    expect(await inferOnnx(choice(fixed(2), fixed(4), constantCondition(0)))).toEqual({ y: '[4, 3]' })
  })

  test('values that only differ in part keep what they share', async () => {
    const size = (last: number): GraphParts =>
      branch([], { outputs: [port('b', 'int64', [2])], initializers: [int64s('b', [2], [3, last])] })
    const model = choice(size(4), size(6))
    const nodes = [
      node('If', ['c'], ['dims'], { then_branch: { graph: size(4) }, else_branch: { graph: size(6) } }),
      node('Expand', ['one', 'dims'], ['y'])
    ]
    expect(await inferOnnx({ ...model, nodes, initializers: [floats('one', [1], [1])] })).toEqual({ y: '[3, 4..6]' })
  })

  test('branches of different types contradict each other', async () => {
    const other = branch([], { outputs: [port('b', 'int64', [1])], initializers: [int64s('b', [1], [3])] })
    expect((await rejection(runOnnx(choice(negated, other), { c: flag(true), x: rows(1, 2) as never }))).code).toBe(
      'type-mismatch'
    )
  })
})

describe('OpenVINO If', () => {
  const parameter = (id: number): string =>
    layer(id, 'Parameter', { data: 'shape="?" element_type="f32"', out: ['0:FP32[-1]'] })
  const result = (id: number): string => layer(id, 'Result', { in: ['0'] })
  const thenBody = body(
    [
      parameter(0),
      parameter(1),
      layer(2, 'Subtract', { data: 'auto_broadcast="numpy"', in: ['0', '1'], out: ['2:FP32[-1]'] }),
      result(3),
      result(4)
    ],
    ['0:0>2:0', '1:0>2:1', '2:2>3:0', '0:0>4:0']
  )
  const elseBody = body(
    [parameter(0), layer(1, 'Concat', { data: 'axis="0"', in: ['0', '1'], out: ['2:FP32[-1]'] }), result(2)],
    ['0:0>1:0', '0:0>1:1', '1:2>2:0']
  )
  const maps = `<then_port_map><input external_port_id="2" internal_layer_id="0"/>
      <input external_port_id="1" internal_layer_id="1"/><output external_port_id="3" internal_layer_id="3"/>
      <output external_port_id="4" internal_layer_id="4"/></then_port_map>
    <else_port_map><input external_port_id="1" internal_layer_id="0"/>
      <output external_port_id="4" internal_layer_id="2"/>
      <output external_port_id="3" internal_layer_id="2"/></else_port_map>`
  const xml = net(
    [
      layer(0, 'Parameter', { name: 'c', data: 'shape="1" element_type="boolean"', out: ['0:BOOL[1]'] }),
      layer(1, 'Parameter', { name: 'x', data: 'shape="2" element_type="f32"', out: ['0:FP32[2]'] }),
      layer(2, 'Parameter', { name: 'y', data: 'shape="2" element_type="f32"', out: ['0:FP32[2]'] }),
      layer(3, 'If', {
        version: 'opset8',
        in: ['0', '1', '2'],
        out: ['3:FP32', '4:FP32'],
        more: `${maps}<then_body>${thenBody}</then_body><else_body>${elseBody}</else_body>`
      }),
      layer(4, 'Result', { name: 'a', in: ['0'] }),
      layer(5, 'Result', { name: 'b', in: ['0'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0', '3:4>5:0']
  )
  const given = (c: boolean): never =>
    ({ c: { type: 'bool', dims: [1], data: Uint8Array.of(Number(c)) }, x: float(1, 2), y: float(10, 20) }) as never

  test('feeds each branch by its own port map', async () => {
    expect(await runIr(xml, [given(true), given(false)])).toEqual([
      { a: [[2], 9, 18], b: [[2], 10, 20] },
      { a: [[4], 1, 2, 1, 2], b: [[4], 1, 2, 1, 2] }
    ])
    expect(inferIr(xml)).toEqual({ a: '[2..4]', b: '[2..4]' })
  })

  test('an output that a branch does not map is refused', async () => {
    const without = xml.replace('<output external_port_id="3" internal_layer_id="2"/>', '')
    expect((await rejection(runIr(without, [given(true)]))).code).toBe('invalid-graph')
  })
})
