import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { type Byte, bytes, floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const noiseCodes = (name: string, dims: readonly number[]): object =>
  bytes(
    name,
    'int8',
    dims,
    [...noise(dims, 5, 127).data].map(x => Math.round(x))
  )

/** Scale `name.s` and zero point `name.z`. */
const quantization = (name: string, type: Byte, scale: number, zero: number): readonly object[] => [
  floats(`${name}.s`, [], [scale]),
  bytes(`${name}.z`, type, [], [zero])
]
const quantize = (from: string, to: string, by: string): object =>
  node('QuantizeLinear', [from, `${by}.s`, `${by}.z`], [to])
const dequantize = (from: string, to: string, by: string, attributes = {}): object =>
  node('DequantizeLinear', [from, `${by}.s`, `${by}.z`], [to], attributes)

const constants: readonly object[] = [
  ...quantization('q', 'uint8', 0.011, 128),
  ...quantization('r', 'uint8', 0.043, 120),
  ...quantization('i', 'int8', 0.05, -7),
  floats('w.s', [6], [0.01, 0.02, 0.003, 0.007, 0.011, 0.005]),
  bytes('w.z', 'int8', [6], [0, 1, 0, -3, 0, 0]),
  noiseCodes('w', [6, 8, 3, 3]),
  ...quantization('b', 'int8', 0.004, 0),
  noiseCodes('b', [40, 24]),
  floats('bias', [6], [...noise([6], 8).data]),
  floats('list', [24], [...noise([24], 8).data]),
  floats('low', [], [-0.4]),
  floats('high', [], [1.1]),
  floats('twice', [4], [1, 1, 2, 2]),
  floats('roi', [8], [0, 0, 0, 0, 1, 1, 1, 1.5]),
  int64s('rows', [2], [-1, 40]),
  bytes('point', 'uint8', [24], new Array<number>(24).fill(3)),
  floats('columns', [24], [...noise([24], 3).data].map(Math.abs)),
  floats('one', [], [0.02]),
  floats('unit', [], [1]),
  floats('half', [], [0.5]),
  floats('root', [], [Math.SQRT2])
]

/** `x` and `x2` as codes `c` and `d` of q and r, and what they stand for: `u` and `v`. */
const inputs: readonly object[] = [
  quantize('x', 'c', 'q'),
  dequantize('c', 'u', 'q'),
  quantize('x2', 'd', 'r'),
  dequantize('d', 'v', 'r')
]

const model = (dims: readonly (number | string)[], nodes: readonly object[], to: Byte = 'uint8'): ModelParts => ({
  inputs: [port('x', 'float', dims), port('x2', 'float', dims)],
  outputs: [port('y', to)],
  initializers: constants,
  nodes: [...inputs, ...nodes]
})

/** Codes that a model gives for noise; `observed`: no calls are fused. */
async function run(parts: ModelParts, dims: readonly number[], observed = false): Promise<number[]> {
  const session = new InferenceSession(await onnxModel(parts))
  const feeds = { x: noise(dims, 1, 1.3), x2: noise(dims, 2, 5) }
  const { y } = await session.run(feeds, observed ? { onStep: () => undefined } : {})
  session.dispose()
  return Array.from(y.data as Uint8Array)
}

const IMAGE = [2, 8, 33, 35]
const MATRIX = [2, 13, 40]
const weights = dequantize('w', 'f', 'w', { axis: 0 })
const conv = (bias: readonly string[] = []): object =>
  node('Conv', ['u', 'f', ...bias], ['p'], { pads: [1, 1, 1, 1], strides: [2, 2] })
const factor = dequantize('b', 'f', 'b')

const products: readonly (readonly [string, string, readonly number[], readonly object[]])[] = [
  ['a convolution', 'QLinearConv', IMAGE, [weights, conv(), quantize('p', 'y', 'r')]],
  ['a convolution with a bias', 'QLinearConv', IMAGE, [weights, conv(['bias']), quantize('p', 'y', 'r')]],
  [
    'a convolution with Relu',
    'QLinearConv',
    IMAGE,
    [weights, conv(['bias']), node('Relu', ['p'], ['a']), quantize('a', 'y', 'r')]
  ],
  [
    'a convolution with Clip',
    'QLinearConv',
    IMAGE,
    [weights, conv(), node('Clip', ['p', 'low', 'high'], ['a']), quantize('a', 'y', 'r')]
  ],
  [
    'AveragePool',
    'QLinearAveragePool',
    IMAGE,
    [node('AveragePool', ['u'], ['p'], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }), quantize('p', 'y', 'q')]
  ],
  [
    'GlobalAveragePool',
    'QLinearGlobalAveragePool',
    [16, 70, 9, 9],
    [node('GlobalAveragePool', ['u'], ['p']), quantize('p', 'y', 'q')]
  ],
  ['a product', 'QLinearMatMul', MATRIX, [factor, node('MatMul', ['u', 'f'], ['p']), quantize('p', 'y', 'r')]],
  ['Gemm', 'QGemm', [13, 40], [factor, node('Gemm', ['u', 'f', 'list'], ['p']), quantize('p', 'y', 'r')]],
  [
    'Gemm, transposed',
    'QGemm',
    [40, 13],
    [factor, node('Gemm', ['u', 'f'], ['p'], { transA: 1 }), quantize('p', 'y', 'r')]
  ]
]

describe('between DequantizeLinear and QuantizeLinear', () => {
  test.each(products)('%s becomes one of codes: %s', async (_, op, dims, nodes) => {
    const parts = model(dims, nodes)
    expect(opsOf(await planOf(parts))).toEqual(['QuantizeLinear', op])
    const [fused, apart] = [await run(parts, dims), await run(parts, dims, true)]
    expect(new Set(apart).size).toBeGreaterThan(20)
    expect(Math.max(...fused.map((code, i) => Math.abs(code - apart[i])))).toBeLessThanOrEqual(1)
    expect(fused.filter((code, i) => code !== apart[i]).length).toBeLessThan(fused.length / 100)
  })

  test.each(products)('%s stays as it is in exact precision', async (_, op, dims, nodes) => {
    expect(opsOf(await planOf(model(dims, nodes), { isExact: true }))).not.toContain(op)
  })

  test.each([
    ['a sum', [node('Add', ['u', 'v'], ['p']), quantize('p', 'y', 'r')]],
    ['a sum of a value with itself', [node('Add', ['u', 'u'], ['p']), quantize('p', 'y', 'r')]],
    ['a product to int8', [node('Mul', ['u', 'v'], ['p']), quantize('p', 'y', 'i')]],
    ['a quotient, with division by 0', [node('Div', ['v', 'u'], ['p']), quantize('p', 'y', 'r')]],
    ['a sum with Relu', [node('Add', ['u', 'v'], ['p']), node('Relu', ['p'], ['a']), quantize('a', 'y', 'r')]],
    ['Sigmoid', [node('Sigmoid', ['u'], ['p']), quantize('p', 'y', 'q')]],
    ['LeakyRelu', [node('LeakyRelu', ['u'], ['p'], { alpha: { float: 0.3 } }), quantize('p', 'y', 'i')]],
    ['Clip', [node('Clip', ['v', 'low', 'high'], ['p']), quantize('p', 'y', 'r')]]
  ])('%s becomes a table that gives the same codes', async (_, nodes) => {
    const dims = [3, 5, 40, 41]
    const parts = model(dims, nodes, JSON.stringify(nodes).includes('"i.z"') ? 'int8' : 'uint8')
    for (const isExact of [true, false]) expect(opsOf(await planOf(parts, { isExact }))).toContain('ByteTable')
    expect(await run(parts, dims)).toEqual(await run(parts, dims, true))
  })

  test('a sum is broadcast by the table', async () => {
    const nodes = [
      ...[node('ReduceMax', ['x2'], ['m'], { axes: [2] }), quantize('m', 'e', 'r'), dequantize('e', 'g', 'r')],
      ...[node('Add', ['u', 'g'], ['p']), quantize('p', 'y', 'r')]
    ]
    const dims = [3, 50, 40, 41]
    expect(opsOf(await planOf(model(dims, nodes)))).toContain('ByteTable')
    expect(await run(model(dims, nodes), dims)).toEqual(await run(model(dims, nodes), dims, true))
  })

  test('a small sum stays as it is', async () => {
    const parts = model([3, 5], [node('Add', ['u', 'v'], ['p']), quantize('p', 'y', 'r')])
    expect(opsOf(await planOf(parts))).not.toContain('ByteTable')
  })

  test.each([
    ['of channels', { axes: [1, 3] }],
    ['of rows', { axes: [3] }],
    ['of planes that lose their axes', { axes: [2, 3], keepdims: 0 }]
  ])('means %s stay as they are', async (_, attributes) => {
    const nodes = [node('ReduceMean', ['u'], ['p'], attributes), quantize('p', 'y', 'q')]
    expect(opsOf(await planOf(model(IMAGE, nodes)))).toContain('ReduceMean')
    expect(await run(model(IMAGE, nodes), IMAGE)).toEqual(await run(model(IMAGE, nodes), IMAGE, true))
  })

  test.each([
    ['of means', { mode: 'linear' }],
    ['with a number beyond the data', { mode: 'nearest', coordinate_transformation_mode: 'tf_crop_and_resize' }]
  ])('Resize %s moves no codes', async (_, attributes) => {
    const nodes = [node('Resize', ['u', 'roi', 'twice'], ['p'], attributes), quantize('p', 'y', 'q')]
    expect(opsOf(await planOf(model([2, 8, 10, 21], nodes)))).toEqual(['RoundedCodes', 'Resize', 'QuantizeLinear'])
  })

  test.each([
    ['Transpose', node('Transpose', ['u'], ['p'], { perm: [0, 2, 3, 1] })],
    ['Reshape', node('Reshape', ['u', 'rows'], ['p'])],
    ['Flatten', node('Flatten', ['u'], ['p'])],
    ['MaxPool', node('MaxPool', ['u'], ['p'], { kernel_shape: [3, 3], pads: [1, 1, 1, 1], strides: [2, 2] })],
    ['Resize', node('Resize', ['u', '', 'twice'], ['p'], { mode: 'nearest' })]
  ])('%s moves the codes where they mean the same before and after', async (op, moving) => {
    const dims = [2, 8, 10, 21]
    const parts = model(dims, [moving, quantize('p', 'y', 'q')])
    expect(opsOf(await planOf(parts))).toEqual(['QuantizeLinear', op])
    expect(await run(parts, dims)).toEqual(await run(parts, dims, true))
    const other = await planOf(model(dims, [moving, quantize('p', 'y', 'r')]))
    expect(opsOf(other)).toEqual(['RoundedCodes', op, 'QuantizeLinear'])
  })
})

describe('a product of codes that is scaled to floats', () => {
  const dynamic = (scale: string, rest: readonly object[]): ModelParts => ({
    inputs: [port('x', 'float', MATRIX)],
    outputs: [port('y', 'float')],
    initializers: constants,
    nodes: [
      node('DynamicQuantizeLinear', ['x'], ['c', 's', 'z']),
      node('MatMulInteger', ['c', 'b', 'z', 'b.z'], ['p']),
      node('Cast', ['p'], ['f'], { to: 1 }),
      node('Mul', ['s', scale], ['t']),
      ...rest
    ]
  })

  test.each([
    ['one scale', dynamic('one', [node('Mul', ['f', 't'], ['y'])]), false],
    ['scales of columns', dynamic('columns', [node('Mul', ['t', 'f'], ['y'])]), false],
    ['a bias', dynamic('one', [node('Mul', ['f', 't'], ['n']), node('Add', ['list', 'n'], ['y'])]), false],
    ['Gelu', dynamic('one', [node('Mul', ['f', 't'], ['n']), node('Gelu', ['n'], ['y'])]), true],
    [
      'a bias and Gelu in several nodes',
      dynamic('columns', [
        node('Mul', ['f', 't'], ['n']),
        node('Add', ['n', 'list'], ['u']),
        ...[node('Div', ['u', 'root'], ['d']), node('Erf', ['d'], ['e']), node('Add', ['e', 'unit'], ['g'])],
        ...[node('Mul', ['u', 'g'], ['h']), node('Mul', ['h', 'half'], ['y'])]
      ]),
      true
    ]
  ] as const)('becomes MatMulIntegerToFloat: with %s', async (_, parts, isFused) => {
    const op = isFused ? 'FusedMatMulIntegerToFloat' : 'MatMulIntegerToFloat'
    expect(opsOf(await planOf(parts))).toEqual(['DynamicQuantizeLinear', op])
    expect(opsOf(await planOf(parts, { isExact: true }))).toContain('MatMulInteger')
    const results: Float32Array[] = []
    for (const precision of ['fast', 'exact'] as const) {
      const session = new InferenceSession(await onnxModel(parts), { precision })
      const { y } = await session.run({ x: noise(MATRIX, 1) })
      results.push(y.data as Float32Array)
      session.dispose()
    }
    const [fast, exact] = results
    const largest = Math.max(...exact.map(Math.abs))
    expect(Math.max(...fast.map((value, i) => Math.abs(value - exact[i])))).toBeLessThan(largest * 1e-6)
  })

  test('stays what it is where a scale has more axes than a list', async () => {
    const scale = 'one in three axes'
    const parts = dynamic(scale, [node('Mul', ['f', 't'], ['y'])])
    const model = { ...parts, initializers: [...constants, floats(scale, [1, 1, 1], [0.5])] }
    expect(opsOf(await planOf(model))).toContain('MatMulInteger')
    expect(await differenceBetween(model, { x: MATRIX })).toBeLessThan(1e-5)
  })

  test('stays what it is where each row has a zero point', async () => {
    const flat = [13, 40]
    const parts = dynamic('one', [
      node('Abs', ['points'], ['sizes']),
      node('Cast', ['sizes'], ['zeros'], { to: 2 }),
      node('MatMulInteger', ['c', 'b', 'zeros', 'b.z'], ['by rows']),
      node('Cast', ['by rows'], ['g'], { to: 1 }),
      node('Mul', ['g', 't'], ['y'])
    ])
    const inputs = [port('x', 'float', flat), port('points', 'float', [13])]
    const nodes = parts.nodes.filter(each => !['p', 'f'].includes((each as { output: string[] }).output[0]))
    const rows = { ...parts, inputs, nodes }
    expect(opsOf(await planOf(rows))).toContain('MatMulInteger')
    expect(await differenceBetween(rows, { x: flat, points: [13] }, 20)).toBeLessThan(1e-4)
  })

  test('takes no matrix as its bias', async () => {
    const parts = dynamic('one', [node('Mul', ['f', 't'], ['n']), node('Add', ['n', 'matrix'], ['y'])])
    const matrix = floats('matrix', [1, 13, 24], [...noise([13, 24], 4).data])
    const model = { ...parts, initializers: [...constants, matrix] }
    expect(opsOf(await planOf(model))).toEqual(['DynamicQuantizeLinear', 'MatMulIntegerToFloat', 'Add'])
    expect(await differenceBetween(model, { x: MATRIX })).toBeLessThan(1e-5)
  })

  test('stays what it is where each of the scales is one of columns', async () => {
    // Of two constants the product would be one.
    const parts = dynamic('one', [node('Mul', ['columns', 'given'], ['lists']), node('Mul', ['f', 'lists'], ['y'])])
    const model = { ...parts, inputs: [...parts.inputs!, port('given', 'float', [24])] }
    expect(opsOf(await planOf(model))).toContain('MatMulInteger')
    expect(await differenceBetween(model, { x: MATRIX, given: [24] })).toBeLessThan(1e-5)
  })

  test('MatMulIntegerToFloat with the scales of columns in the place of that of A has them swapped', async () => {
    const parts = dynamic('columns', [])
    const scaled = node('MatMulIntegerToFloat', ['c', 'b', 'columns', 's', 'z', 'b.z'], ['y'], {}, 'com.microsoft')
    const swapped = { ...parts, nodes: [parts.nodes[0], scaled], domains: ['com.microsoft'] }
    const { steps } = await planOf(swapped)
    const { call } = steps.at(-1)!
    const inputOf = (name: string): unknown => call.inputs[call.operands.find(operand => operand.name === name)!.index]
    const first = steps[0].call.outputs
    expect(first).toContain(inputOf('aScale'))
    expect(first).not.toContain(inputOf('bScale'))
    expect(await differenceBetween(swapped, { x: MATRIX })).toBeLessThan(1e-6)
  })
})
