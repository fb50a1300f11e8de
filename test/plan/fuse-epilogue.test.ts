import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { convert } from '../../src/tensor/convert.ts'
import { isTensor, Tensor } from '../../src/tensor/tensor.ts'
import { floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'
import { opsOf, planOf } from './plan.ts'

const weights = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

/** Bytes of noise as float16. */
const halves = (dims: readonly number[], seed: number): Uint8Array =>
  new Uint8Array(convert(noise(dims, seed), 'float16').data.buffer as ArrayBuffer)

const convolution = (nodes: readonly object[], output = 'y'): ModelParts => ({
  inputs: [port('x', 'float', [1, 16, 12, 12])],
  outputs: [port(output, 'float')],
  initializers: [
    weights('w', [16, 16, 3, 3], 1),
    weights('b', [16], 2),
    weights('channels', [16, 1, 1], 3),
    floats('low', [], [0]),
    floats('high', [], [6]),
    floats('one', [1], [1])
  ],
  nodes: [node('Conv', ['x', 'w', 'b'], ['c'], { pads: [1, 1, 1, 1] }), ...nodes]
})

/** A convolution whose weights take less memory than a tensor on the heap. */
const small = (nodes: readonly object[]): ModelParts => ({
  inputs: [port('x', 'float', [1, 16, 12, 12])],
  outputs: [port('y', 'float')],
  initializers: [
    weights('w', [8, 16, 1, 1], 1),
    floats('low', [], [0]),
    floats('high', [], [6]),
    weights('channels', [8, 1, 1], 2),
    weights('wide', [1, 8, 1, 1], 3),
    weights('across', [12], 4),
    { name: 'half', dims: [1, 8, 1, 1], dataType: 10, rawData: halves([1, 8, 1, 1], 5) }
  ],
  nodes: [node('Conv', ['x', 'w'], ['c']), ...nodes]
})

const product = (nodes: readonly object[]): ModelParts => ({
  inputs: [port('x', 'float', [1, 12, 32])],
  outputs: [port('y', 'float')],
  initializers: [
    weights('w', [32, 32], 1),
    weights('b', [32], 2),
    weights('column', [12, 1], 3),
    weights('wide', [1, 1, 32], 4),
    floats('three', [1, 1, 1], [3]),
    floats('manyAxes', [1, 1, 1, 1], [3]),
    weights('widest', [1, 1, 1, 32], 5)
  ],
  nodes: [node('MatMul', ['x', 'w'], ['c']), ...nodes]
})

const silu = (from: string, to: string): object[] => [
  node('Sigmoid', [from], [`${from}_s`]),
  node('Mul', [from, `${from}_s`], [to])
]

const cases: readonly (readonly [string, ModelParts, readonly string[]])[] = [
  ['Conv and Relu', convolution([node('Relu', ['c'], ['y'])]), ['FusedConv']],
  ['Conv and Clip', convolution([node('Clip', ['c', 'low', 'high'], ['y'])]), ['FusedConv']],
  ['a small Conv and Clip', small([node('Clip', ['c', 'low', 'high'], ['y'])]), ['FusedConv']],
  ...(
    [
      ['Elu', { alpha: { float: 0.7 } }],
      ['Selu', {}],
      ['HardSigmoid', { alpha: { float: 0.3 } }],
      ['Softplus', {}],
      ['Softsign', {}],
      ['ThresholdedRelu', { alpha: { float: 0.4 } }]
    ] as const
  ).map(
    ([name, attributes]) =>
      [`Conv and ${name}`, convolution([node(name, ['c'], ['y'], attributes)]), ['FusedConv']] as const
  ),
  [
    'Conv and Mish',
    convolution([node('Softplus', ['c'], ['s']), node('Tanh', ['s'], ['t']), node('Mul', ['c', 't'], ['y'])]),
    ['FusedConv']
  ],
  ['Conv and SiLU', convolution(silu('c', 'y')), ['FusedConv']],
  ['SiLU alone', convolution([node('Relu', ['x'], ['r']), ...silu('r', 's'), node('Add', ['s', 'c'], ['y'])]), []],
  ['Conv, residual and Relu', convolution([node('Add', ['x', 'c'], ['a']), node('Relu', ['a'], ['y'])]), ['FusedConv']],
  [
    'Conv, a number for each channel and Relu',
    small([node('Add', ['channels', 'c'], ['a']), node('Relu', ['a'], ['y'])]),
    ['FusedConv']
  ],
  ['the same of as many axes', small([node('Add', ['c', 'wide'], ['y'])]), ['Conv']],
  [
    'the same of 16 bits, which a node widens',
    small([node('Cast', ['half'], ['widened'], { to: 1 }), node('Add', ['c', 'widened'], ['y'])]),
    ['Conv']
  ],
  ['MatMul and bias', product([node('Add', ['b', 'c'], ['y'])]), ['FusedMatMul']],
  ['MatMul and a bias of as many axes', product([node('Add', ['c', 'wide'], ['y'])]), ['FusedMatMul']],
  [
    'MatMul, bias, residual and Relu',
    product([node('Add', ['c', 'b'], ['a']), node('Add', ['a', 'x'], ['d']), node('Relu', ['d'], ['y'])]),
    ['FusedMatMul']
  ],
  ['MatMul and a scale', product([node('Mul', ['three', 'c'], ['y'])]), ['MatMul']],
  [
    'MatMul, a scale and a bias',
    product([node('Mul', ['c', 'three'], ['s']), node('Add', ['s', 'b'], ['y'])]),
    ['FusedMatMul']
  ]
]

/** A product of as many rows as columns. */
const square: Partial<ModelParts> = {
  inputs: [port('x', 'float', [32, 32])],
  initializers: [weights('w', [32, 32], 1), weights('rows', [32], 2)]
}

async function outputOf(parts: ModelParts, precision: 'fast' | 'exact'): Promise<ReturnType<typeof noise>> {
  const session = new InferenceSession(await onnxModel(parts), { precision })
  const { y } = await session.run({ x: noise(inputDims(parts), 9) })
  session.dispose()
  if (y === undefined || !isTensor(y)) throw new Error('y is no tensor')
  return y as ReturnType<typeof noise>
}

const unranked = { inputs: [port('x', 'float')] }

const inputDims = (parts: ModelParts): number[] =>
  parts.inputs === square.inputs || parts.inputs === unranked.inputs
    ? [32, 32]
    : JSON.stringify(parts.inputs).includes('"dimValue":32')
      ? [1, 12, 32]
      : [1, 16, 12, 12]

describe('what follows a convolution or a product', () => {
  test.each(cases)('%s: fused in fast precision, and the same numbers as apart', async (_, parts, fused) => {
    const plan = await planOf(parts)
    if (fused.length > 0) expect(opsOf(plan)).toEqual(fused)
    expect(opsOf(await planOf(parts, { isExact: true })).some(op => op.startsWith('Fused'))).toBe(false)
    expect(differenceOf(await outputOf(parts, 'fast'), await outputOf(parts, 'exact'))).toBeLessThan(2e-5)
  })

  test('SiLU is one call where a Mul reads its sigmoid and the same value', async () => {
    expect(opsOf(await planOf(cases.find(([name]) => name === 'SiLU alone')![1]))).toContain('Silu')
  })

  test.each([
    ['two readers of the convolution', convolution([node('Relu', ['c'], ['r']), node('Add', ['r', 'c'], ['y'])])],
    ['a sigmoid of another value', convolution([node('Sigmoid', ['x'], ['s']), node('Mul', ['c', 's'], ['y'])])],
    ['an addition to itself', convolution([node('Add', ['c', 'c'], ['y'])])],
    [
      'a list laid onto rows, as before opset 7',
      { ...product([node('Add', ['c', 'rows'], ['y'], { broadcast: 1, axis: 0 })]), opset: 6, ...square }
    ],
    ['an addition of one number', convolution([node('Add', ['c', 'one'], ['y'])])],
    ['an addition to rows', product([node('Add', ['c', 'column'], ['y'])])],
    ['a list that adds an axis', product([node('Add', ['c', 'widest'], ['y'])])],
    ['a scale for each column', product([node('Mul', ['c', 'b'], ['y'])])],
    ['a scale that adds an axis', product([node('Mul', ['c', 'manyAxes'], ['y'])])],
    [
      'a scale that may add an axis to a product of unknown rank',
      { ...product([node('Mul', ['c', 'manyAxes'], ['y'])]), ...unranked }
    ],
    ['a scale of what others read', product([node('Mul', ['c', 'three'], ['s']), node('Div', ['s', 'c'], ['y'])])]
  ])('is left apart: %s', async (_, parts) => {
    const ops = opsOf(await planOf(parts))
    expect(ops).toHaveLength(ops.includes('Silu') ? parts.nodes.length - 1 : parts.nodes.length)
    expect(differenceOf(await outputOf(parts, 'fast'), await outputOf(parts, 'exact'))).toBeLessThan(2e-5)
  })

  test.each([
    ['numbers for the columns', small([node('Add', ['c', 'across'], ['y'])])],
    [
      'numbers that a run gives',
      {
        ...small([node('Add', ['c', 'given'], ['y'])]),
        inputs: [port('x', 'float', [1, 16, 12, 12]), port('given', 'float', [1, 8, 1, 1])]
      }
    ],
    ['a convolution with a bias', convolution([node('Add', ['c', 'channels'], ['y'])])]
  ])('is no bias of a convolution: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).toEqual(['Conv', 'Add'])
  })

  const MICROSOFT = 'com.microsoft'
  const fusedConv = (attributes: Parameters<typeof node>[3]): object =>
    node('FusedConv', ['x', 'w', 'b'], ['c'], { pads: [1, 1, 1, 1], ...attributes }, MICROSOFT)
  const inFile = (parts: ModelParts, first: object): ModelParts => ({
    ...parts,
    domains: [MICROSOFT],
    nodes: [first, ...parts.nodes.slice(1)]
  })
  test.each([
    [
      'a product that is scaled',
      inFile(
        product([node('Add', ['b', 'c'], ['a']), node('Relu', ['a'], ['y'])]),
        node('FusedMatMul', ['x', 'w'], ['c'], { alpha: { float: 0.5 }, transB: 1 }, MICROSOFT)
      ),
      ['FusedMatMul']
    ],
    [
      'a convolution that has no activation yet',
      inFile(convolution([node('Add', ['x', 'c'], ['a']), node('Relu', ['a'], ['y'])]), fusedConv({})),
      ['FusedConv']
    ],
    [
      'but not a convolution that has one',
      inFile(convolution([node('Sigmoid', ['c'], ['y'])]), fusedConv({ activation: 'Relu' })),
      ['FusedConv', 'Sigmoid']
    ],
    [
      'nor one that accelerated kernels do not know',
      inFile(
        convolution([node('Relu', ['c'], ['y'])]),
        fusedConv({ activation: 'Celu', activation_params: { floats: [1] } })
      ),
      ['FusedConv', 'Relu']
    ]
  ])('goes into what the file has fused: %s', async (_, parts, ops) => {
    expect(opsOf(await planOf(parts))).toEqual(ops)
    expect(differenceOf(await outputOf(parts, 'fast'), await outputOf(parts, 'exact'))).toBeLessThan(2e-5)
  })

  test('is left apart where an inner value is wanted, or the run is watched', async () => {
    const parts = convolution([node('Relu', ['c'], ['y'])])
    expect(opsOf(await planOf(parts, { wanted: ['y', 'c'] }))).toEqual(['Conv', 'Relu'])
    expect(opsOf(await planOf(parts, { isObserved: true }))).toEqual(['Conv', 'Relu'])
  })
})

test.each([
  ['the activation', node('Tanh', ['product'], ['y'])],
  ['the factor', node('Mul', ['product', 'factor'], ['y'])]
])('a product whose operands do not suit is named, not %s behind it', async (_, behind) => {
  const model = await onnxModel({
    inputs: [port('x', 'float', ['n', 8]), port('start', 'int64', [1])],
    outputs: [port('y', 'float')],
    initializers: [
      floats('rows', [13, 8], [...noise([13, 8], 1).data]),
      int64s('end', [1], [13]),
      floats('factor', [], [2])
    ],
    nodes: [node('Slice', ['rows', 'start', 'end'], ['w']), node('MatMul', ['x', 'w'], ['product']), behind]
  })
  const session = new InferenceSession(model)
  const run = session.run({ x: noise([2, 8], 2), start: new Tensor('int64', [9n], [1]) })
  await expect(run).rejects.toMatchObject({ code: 'shape-mismatch', place: { nodeIndex: 1, node: 'MatMul_product' } })
  session.dispose()
})
