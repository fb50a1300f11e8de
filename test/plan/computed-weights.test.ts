import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, planOf } from './plan.ts'

const constant = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])
const opsOf = async (parts: ModelParts, isObserved = false): Promise<string[]> =>
  (await planOf(parts, { isObserved })).steps.map(({ call }) => call.op.name)

/** Directions, and the lengths that they get before something reads them. */
const DIMS = [16, 8, 3, 3]
const directed = [
  node('ReduceL2', ['v', 'axes'], ['length']),
  node('Div', ['v', 'length'], ['direction']),
  node('Mul', ['direction', 'g'], ['w'])
]
const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  opset: 18,
  inputs: [port('x', 'float', [1, 8, 9, 9])],
  outputs: [port('y', 'float')],
  initializers: [constant('v', DIMS, 1), constant('g', [16, 1, 1, 1], 2), int64s('axes', [3], [1, 2, 3])],
  nodes: [...directed, ...nodes],
  ...changes
})
const conv = node('Conv', ['x', 'w'], ['y'])

/** As PyTorch exports a convolution whose weights have mean 0 and variance 1 in each row. */
const standardized: ModelParts = model([], {
  initializers: [
    ...[constant('v', DIMS, 1), constant('scale', [16], 2), constant('shift', [16], 3)],
    ...[int64s('rows', [3], [1, 16, 72]), int64s('axes', [2], [0, 2]), int64s('back', [4], DIMS)]
  ],
  nodes: [
    node('Reshape', ['v', 'rows'], ['r']),
    node('ReduceMean', ['r', 'axes'], ['mean'], { keepdims: 0 }),
    node('ReduceMean', ['r', 'axes'], ['center']),
    node('Sub', ['r', 'center'], ['off']),
    node('Mul', ['off', 'off'], ['squares']),
    node('ReduceMean', ['squares', 'axes'], ['variance'], { keepdims: 0 }),
    node('BatchNormalization', ['r', 'scale', 'shift', 'mean', 'variance'], ['normal']),
    node('Reshape', ['normal', 'back'], ['w']),
    conv
  ]
})

const product = (reader: object, more: readonly object[] = []): ModelParts =>
  model([], {
    inputs: [port('x', 'float', [5, 64])],
    initializers: [constant('v', [64, 48], 1), constant('g', [1, 48], 2), int64s('axes', [1], [0])],
    nodes: [...directed, reader, ...more]
  })

describe('weights that nodes compute of constants are constants', () => {
  test.each<[string, string, ModelParts, number[]]>([
    ['of a convolution', 'Conv', model([conv]), [1, 8, 9, 9]],
    ['of one with standardized weights', 'Conv', standardized, [1, 8, 9, 9]],
    [
      'of a transposed convolution',
      'ConvTranspose',
      model([node('ConvTranspose', ['x', 'w'], ['y'])], { inputs: [port('x', 'float', [1, 16, 5, 5])] }),
      [1, 16, 5, 5]
    ],
    ['of a product', 'MatMul', product(node('MatMul', ['x', 'w'], ['y'])), [5, 64]],
    ['of Gemm', 'Gemm', product(node('Gemm', ['x', 'w'], ['y'])), [5, 64]],
    [
      'of two that read the same',
      'MatMul',
      product(node('MatMul', ['x', 'w'], ['a']), [
        node('Relu', ['x'], ['z']),
        node('MatMul', ['z', 'w'], ['b']),
        node('Add', ['a', 'b'], ['y'])
      ]),
      [5, 64]
    ]
  ])('%s', async (_, op, parts, dims) => {
    const left = await opsOf(parts)
    expect(left.filter(op => /Reduce|Div|BatchNorm|^Mul|Sub/.test(op))).toEqual([])
    expect(left).toContain(op)
    expect(await differenceBetween(parts, { x: dims })).toBeLessThan(1e-5)
  })

  test.each([
    ['LSTM', 4],
    ['GRU', 3],
    ['RNN', 1]
  ])('of a recurrent layer, put into another order of gates, in a body too: %s', async (op, gates) => {
    const size = 8 * gates
    /** The first gate behind the others, and an axis for the direction. */
    const ordered = (name: string): object[] => [
      node('Slice', [name, 'zero', 'eight', 'zero'], [`${name} first`]),
      node('Slice', [name, 'eight', 'end', 'zero'], [`${name} others`]),
      node('Concat', [`${name} others`, `${name} first`], [`${name} gates`], { axis: 0 }),
      node('Unsqueeze', [`${name} gates`, 'zero'], [`${name} layer`])
    ]
    const nodes = [
      ...['v', 'r', 'b'].flatMap(ordered),
      node(op, ['x', 'v layer', 'r layer', 'b layer'], ['all', 'y'], { hidden_size: 8 })
    ]
    const lists = { zero: 0, eight: 8, end: 1000 }
    const parts = model([], {
      inputs: [port('x', 'float', [5, 1, 6])],
      initializers: [
        ...[constant('v', [size, 6], 1), constant('r', [size, 8], 2), constant('b', [2 * size], 3)],
        ...Object.entries(lists).map(([name, number]) => int64s(name, [1], [number]))
      ],
      nodes
    })
    expect(await opsOf(parts)).toEqual([op])
    expect(await differenceBetween(parts, { x: [5, 1, 6] })).toBeLessThan(1e-5)

    const body = {
      inputs: [port('i', 'int64', []), port('go', 'bool', [])],
      outputs: [port('go', 'bool', []), port('y', 'float')],
      nodes
    }
    const looped = { ...parts, nodes: [node('Loop', ['eight', ''], ['y'], { body: { graph: body } })] }
    const plan = await planOf(looped)
    const [planned] = [...plan.steps[0].bodies.values()]
    expect(planned.plan().steps.map(({ call }) => call.op.name)).toEqual([op])
    expect(await differenceBetween(looped, { x: [5, 1, 6] })).toBeLessThan(1e-5)
  })

  test('of any call in a body, also where they are only moved', async () => {
    const nodes = [
      node('Transpose', ['v'], ['moved']),
      node('Mul', ['x', 'moved'], ['scaled']),
      node('Exp', ['g'], ['computed']),
      node('Add', ['scaled', 'computed'], ['y'])
    ]
    const body = {
      inputs: [port('i', 'int64', []), port('go', 'bool', [])],
      outputs: [port('go', 'bool', []), port('y', 'float')],
      nodes
    }
    const parts = model([], {
      inputs: [port('x', 'float', [50, 60])],
      initializers: [constant('v', [60, 50], 1), constant('g', [50, 60], 2), int64s('trip', [], [3])],
      nodes: [node('Loop', ['trip', ''], ['y'], { body: { graph: body } })]
    })
    const [planned] = [...(await planOf(parts)).steps[0].bodies.values()]
    expect(planned.plan().steps.map(({ call }) => call.op.name)).toEqual(['Mul', 'Add'])
    expect(await differenceBetween(parts, { x: [50, 60] })).toBeLessThan(1e-6)
    expect(await opsOf(model(nodes, { ...parts, nodes }))).toEqual(expect.arrayContaining(['Transpose', 'Exp']))
  })

  test('in exact precision as the nodes make them', async () => {
    const x = noise([1, 8, 9, 9], 7)
    const whole = new InferenceSession(await onnxModel(standardized), { precision: 'exact' })
    const seen: unknown[] = []
    const { y } = await whole.run({ x }, { onStep: ({ outputs }) => void seen.push(outputs) })
    expect((await whole.run({ x })).y.data).toEqual(y.data)
    expect(seen).toHaveLength(9)
    whole.dispose()
  })
})

describe('biases that nodes compute of constants are constants', () => {
  /** The zeros that PyTorch's exporter writes as the bias of a convolution without one. */
  const zeros = (to: string): object[] => [
    node('CastLike', ['zero', 'x'], ['typed']),
    node('Expand', ['typed', 'channels'], [to])
  ]
  const initializers = [
    ...[constant('v', DIMS, 1), floats('zero', [], [0]), int64s('channels', [1], [16])],
    ...['scale', 'shift', 'mean'].map((name, i) => constant(name, [16], i + 2)),
    floats('variance', [16], [...noise([16], 5).data.map(Math.abs)])
  ]
  const normal = (from: string): object =>
    node('BatchNormalization', [from, 'scale', 'shift', 'mean', 'variance'], ['n'])

  test.each<[string, object[], string[]]>([
    ['of a convolution', [...zeros('b'), node('Conv', ['x', 'v', 'b'], ['y'])], ['Conv']],
    [
      'of one that is normalized, whose weights take the normalization over',
      [...zeros('b'), node('Conv', ['x', 'v', 'b'], ['c']), normal('c'), node('Relu', ['n'], ['y'])],
      ['FusedConv']
    ],
    [
      'of a normalization',
      [
        ...zeros('mean 0'),
        node('Conv', ['x', 'v'], ['c']),
        node('BatchNormalization', ['c', 'scale', 'shift', 'mean 0', 'variance'], ['y'])
      ],
      ['Conv']
    ]
  ])('%s', async (_, nodes, ops) => {
    const parts = { ...model([]), initializers, nodes }
    expect(await opsOf(parts)).toEqual(ops)
    expect(await differenceBetween(parts, { x: [1, 8, 9, 9] })).toBeLessThan(1e-5)
  })

  test('but not what is larger than the weights beside them', async () => {
    const wide = model([], {
      inputs: [port('x', 'float', [5000, 1])],
      initializers: [constant('v', [1, 48], 1), floats('zero', [], [0]), int64s('dims', [2], [5000, 48])],
      nodes: [node('Expand', ['zero', 'dims'], ['b']), node('Gemm', ['x', 'v', 'b'], ['y'])]
    })
    expect(await opsOf(wide)).toEqual(['Expand', 'Gemm'])
  })
})

describe('nodes compute again in each run', () => {
  test('what somebody sees', async () => {
    const parts = model([conv], { outputs: [port('y', 'float'), port('w', 'float')] })
    expect(await opsOf(parts)).toContain('Div')
    expect(await opsOf(model([conv]), true)).toContain('Div')
  })

  test('what is more than weights', async () => {
    const parts = product(node('MatMul', ['x', 'w'], ['z']), [
      node('Gather', ['w', 'i'], ['row']),
      node('Add', ['z', 'row'], ['y'])
    ])
    const indexed = { ...parts, inputs: [...parts.inputs!, port('i', 'int64', [])] }
    expect(await opsOf(indexed)).toContain('Div')
  })

  test('what is larger on the way than what it is made of', async () => {
    const wide = model([], {
      inputs: [port('x', 'float', [5, 1])],
      initializers: [constant('v', [48], 1), int64s('dims', [2], [4000, 48]), int64s('axes', [1], [0])],
      nodes: [
        node('Expand', ['v', 'dims'], ['e']),
        node('Sqrt', ['e'], ['r']),
        node('ReduceMean', ['r', 'axes'], ['w']),
        node('MatMul', ['x', 'w'], ['y'])
      ]
    })
    expect(await opsOf(wide)).toContain('ReduceMean')
  })

  test('what takes long: a product of constants', async () => {
    const initializers = [constant('v', [64, 48], 1), constant('u', [48, 48], 2)]
    const nodes = [node('MatMul', ['v', 'u'], ['w']), node('MatMul', ['x', 'w'], ['y'])]
    const made = model([], { inputs: [port('x', 'float', [5, 64])], initializers, nodes })
    expect(await opsOf(made)).toEqual(['MatMul', 'MatMul'])
  })

  test('what an input has part in', async () => {
    const parts = model([conv])
    expect(await opsOf({ ...parts, inputs: [...parts.inputs!, port('g', 'float', [16, 1, 1, 1])] })).toContain('Mul')
  })
})
