import { describe, expect, test } from 'vitest'
import { Blocks } from '../../src/runtime/blocks.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Budget } from '../../src/runtime/memory.ts'
import { isConstant } from '../../src/runtime/slots.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { product } from '../../src/tensor/tensor.ts'
import { isOnHeap } from '../../src/wasm/heap.ts'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, planOf } from './plan.ts'

const constant = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

const CHANNELS = 8
const statistics = [
  ...[constant('scale', [CHANNELS], 21), constant('shift', [CHANNELS], 22), constant('mean', [CHANNELS], 23)],
  floats(
    'variance',
    [CHANNELS],
    Array.from({ length: CHANNELS }, (_, i) => 0.5 + i / 4)
  )
]
const norm = (from: string, to = 'y', attributes: Parameters<typeof node>[3] = { epsilon: { float: 1e-3 } }): object =>
  node('BatchNormalization', [from, 'scale', 'shift', 'mean', 'variance'], [to], attributes)

const model = (
  x: readonly number[],
  constants: readonly object[],
  nodes: readonly object[],
  changes: Partial<ModelParts> = {}
): ModelParts => ({
  opset: 15,
  inputs: [port('x', 'float', [...x])],
  outputs: [port('y', 'float')],
  initializers: [...statistics, ...constants],
  nodes,
  ...changes
})
/** The dims that a model declares of its input. */
const dimsOf = ({ inputs }: ModelParts): number[] => {
  const [{ type }] = inputs as [{ type: { tensorType: { shape: { dim: { dimValue: number }[] } } } }]
  return type.tensorType.shape.dim.map(({ dimValue }) => dimValue)
}
const opsOf = async (parts: ModelParts): Promise<string[]> =>
  (await planOf(parts)).steps.map(({ call }) => call.op.name)

const IMAGE = [1, 4, 9, 9]
const conv = (attributes: Parameters<typeof node>[3] = {}, ...bias: string[]): object =>
  node('Conv', ['x', 'w', ...bias], ['made'], attributes)
const w = (...dims: number[]): object => constant('w', dims, 1)
const b = constant('b', [CHANNELS], 2)

describe('BatchNormalization of what constant weights make becomes part of them', () => {
  test.each<[string, string[], ModelParts]>([
    ['a convolution', ['Conv'], model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made')])],
    ['one with a bias', ['Conv'], model(IMAGE, [w(8, 4, 3, 3), b], [conv({}, 'b'), norm('made')])],
    ['one in groups', ['Conv'], model(IMAGE, [w(8, 2, 3, 3), b], [conv({ group: 2 }, 'b'), norm('made')])],
    ['one of a channel each', ['Conv'], model([1, 8, 9, 9], [w(8, 1, 3, 3)], [conv({ group: 8 }), norm('made')])],
    ['one along lines', ['Conv'], model([2, 4, 30], [w(8, 4, 3)], [conv(), norm('made')])],
    [
      'one and its activation',
      ['FusedConv'],
      model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made', 'normal'), node('Relu', ['normal'], ['y'])])
    ],
    [
      'a transposed convolution',
      ['ConvTranspose'],
      model(IMAGE, [w(4, 8, 3, 3), b], [node('ConvTranspose', ['x', 'w', 'b'], ['made']), norm('made')])
    ],
    ['a Gemm', ['Gemm'], model([5, 6], [w(6, 8)], [node('Gemm', ['x', 'w'], ['made']), norm('made')])],
    [
      'a Gemm of transposed weights with a share of a bias',
      ['Gemm'],
      model(
        [5, 6],
        [w(8, 6), b],
        [
          node('Gemm', ['x', 'w', 'b'], ['made'], { transB: 1, alpha: { float: 0.5 }, beta: { float: 0.25 } }),
          norm('made')
        ]
      )
    ],
    [
      'a product whose rows are merged',
      ['FusedMatMul', 'Flatten'],
      model(
        [2, 5, 6],
        [w(6, 8)],
        [node('MatMul', ['x', 'w'], ['made']), node('Flatten', ['made'], ['rows'], { axis: 2 }), norm('rows')]
      )
    ]
  ])('%s', async (_, ops, parts) => {
    expect(await opsOf(parts)).toEqual(ops)
    expect(await differenceBetween(parts, { x: dimsOf(parts) })).toBeLessThan(1e-5)
  })
})

test('LeViT: rows of a product are merged for it, and parted again by the dims that the product has', async () => {
  const nodes = [
    node('MatMul', ['x', 'w'], ['made']),
    node('Flatten', ['made'], ['rows'], { axis: 2 }),
    node('Shape', ['made'], ['dims']),
    norm('rows', 'normal'),
    node('Reshape', ['normal', 'dims'], ['parted']),
    node('Add', ['x', 'parted'], ['y'])
  ]
  const parts = model([], [w(8, 8)], nodes, { inputs: [port('x', 'float', ['b', 5, 8])] })
  expect(await opsOf(parts)).toEqual(['FusedMatMul'])
  expect(await differenceBetween(parts, { x: [3, 5, 8] })).toBeLessThan(1e-5)
})

describe('BatchNormalization stays what it is', () => {
  test.each<[string, string[], ModelParts]>([
    [
      'of weights that are no constant',
      ['Conv', 'BatchNormalization'],
      model([8, 8, 3, 3], [], [node('Conv', ['x', 'x'], ['made']), norm('made')])
    ],
    [
      'where others read what it normalizes',
      ['Conv', 'BatchNormalization', 'Add'],
      model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made', 'normal'), node('Add', ['made', 'normal'], ['y'])])
    ],
    [
      'where that is an output',
      ['Conv', 'BatchNormalization'],
      model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made')], { outputs: [port('y', 'float'), port('made', 'float')] })
    ],
    [
      'where statistics are of the batch',
      ['Conv', 'BatchNormalization'],
      model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made', 'y', { training_mode: 1 })])
    ],
    [
      'of a transposed convolution in groups',
      ['ConvTranspose', 'BatchNormalization'],
      model(IMAGE, [w(4, 4, 3, 3)], [node('ConvTranspose', ['x', 'w'], ['made'], { group: 2 }), norm('made')])
    ],
    [
      'of a product whose axis 1 are rows',
      ['MatMul', 'BatchNormalization'],
      model([2, 8, 6], [w(6, 8)], [node('MatMul', ['x', 'w'], ['made']), norm('made')])
    ],
    [
      'of a Gemm that adds a matrix',
      ['Gemm', 'BatchNormalization'],
      model([5, 6], [w(6, 8), constant('c', [5, 8], 3)], [node('Gemm', ['x', 'w', 'c'], ['made']), norm('made')])
    ],
    [
      'of a Gemm that adds a column of as many numbers',
      ['Gemm', 'BatchNormalization'],
      model([8, 6], [w(6, 8), constant('c', [8, 1], 3)], [node('Gemm', ['x', 'w', 'c'], ['made']), norm('made')])
    ],
    [
      'of a product whose columns are parted',
      ['MatMul', 'Reshape', 'BatchNormalization'],
      model(
        [5, 6],
        [w(6, 16), int64s('dims', [2], [10, 8])],
        [node('MatMul', ['x', 'w'], ['made']), node('Reshape', ['made', 'dims'], ['parted']), norm('parted')]
      )
    ]
  ])('%s', async (_, ops, parts) => {
    expect(await opsOf(parts)).toEqual(ops)
    expect(await differenceBetween(parts, { x: dimsOf(parts) })).toBeLessThan(1e-5)
  })
})

describe('weights are read onto the heap and scaled there, without copies of them', () => {
  const inFile = (...dims: number[]): object => {
    const rawData = new Uint8Array(Float32Array.from(noise(dims, 1).data).buffer)
    return { name: 'w', dims, dataType: 1, rawData }
  }
  test.each<[string, ModelParts]>([
    ['of a convolution', model([1, 24, 9, 9], [inFile(8, 24, 3, 3)], [conv(), norm('made')])],
    ['of a product', model([2, 200], [inFile(200, 8)], [node('MatMul', ['x', 'w'], ['made']), norm('made')])]
  ])('%s', async (_, parts) => {
    const { initial } = await planOf(parts)
    const scaled = initial.find(constant => constant && product(constant.dims) > 1000)!
    if (!isConstant(scaled)) throw new Error('these are read when a run needs them')
    const weights = new Weights(new Blocks({}))
    const { data } = weights.read(scaled, new Budget(new MemoryLimit(1 << 24), weights))
    expect(isOnHeap(data as Float32Array)).toBe(true)
    expect(data).toEqual(scaled.read().data)
    weights.clear()
    expect(await differenceBetween(parts, { x: dimsOf(parts) })).toBeLessThan(1e-4)
  })
})

test('in exact precision it is computed as the file says', async () => {
  const { steps } = await planOf(model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made')]), { isExact: true })
  expect(steps.map(({ call }) => call.op.name)).toEqual(['Conv', 'BatchNormalization'])
})

test('in a run that is watched every node is seen', async () => {
  const { steps } = await planOf(model(IMAGE, [w(8, 4, 3, 3)], [conv(), norm('made')]), { isObserved: true })
  expect(steps.map(({ call }) => call.op.name)).toEqual(['Conv', 'BatchNormalization'])
})
