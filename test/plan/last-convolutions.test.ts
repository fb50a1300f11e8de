import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { planOf } from './plan.ts'

const CHANNELS = 64
const weights = (name: string, taps: readonly number[], seed: number): object => {
  const { dims, data } = noise([CHANNELS, CHANNELS, ...taps], seed, 0.05)
  return floats(name, dims, [...data])
}
const model = (nodes: readonly object[], outputs = ['y'], taps = [3, 3]): ModelParts => ({
  inputs: [port('x', 'float', [1, CHANNELS, ...taps.map(() => 20)])],
  outputs: outputs.map(name => port(name, 'float')),
  initializers: [
    weights('v', taps, 1),
    weights('w', taps, 2),
    floats('scale', [20], new Array(20).fill(1.5)),
    floats('gain', [CHANNELS], new Array(CHANNELS).fill(2))
  ],
  nodes
})
const conv = (from: string, to: string, w = 'w'): object => node('Conv', [from, w], [to], { auto_pad: 'SAME_UPPER' })

/** By convolution of a plan, in order, whether it is a last one. */
const lastOf = async (parts: ModelParts): Promise<boolean[]> =>
  (await planOf(parts)).steps
    .filter(({ call }) => call.op.name.endsWith('Conv'))
    .map(({ call }) => call.known.isLast === true)

describe('a convolution is a last one', () => {
  test.each([
    ['where it makes an output', [conv('x', 'a', 'v'), conv('a', 'y')]],
    ['before an activation', [conv('x', 'a', 'v'), conv('a', 'b'), node('Relu', ['b'], ['y'])]],
    [
      'before a normalization of moved elements',
      [
        conv('x', 'a', 'v'),
        conv('a', 'b'),
        node('Transpose', ['b'], ['c'], { perm: [0, 2, 1, 3] }),
        node('LayerNormalization', ['c', 'scale'], ['y'])
      ]
    ],
    [
      'before other normalizations',
      [
        conv('x', 'a', 'v'),
        conv('a', 'b'),
        node('InstanceNormalization', ['b', 'gain', 'gain'], ['c']),
        node('MeanVarianceNormalization', ['c'], ['d']),
        node('LogSoftmax', ['d'], ['y'])
      ]
    ],
    ['before a number is multiplied', [conv('x', 'a', 'v'), conv('a', 'b'), node('Mul', ['b', 'scale'], ['y'])]]
  ])('%s', async (_, nodes) => {
    expect(await lastOf(model(nodes))).toEqual([false, true])
  })

  test.each([
    [32, [false, true, true]],
    [33, [false, false, true]]
  ])('before a head of %i channels: %j', async (channels, expected) => {
    const parts = model([conv('x', 'a', 'v'), conv('a', 'b'), conv('b', 'y', 'head')])
    const { dims, data } = noise([channels, CHANNELS, 1, 1], 3)
    const initializers = [...parts.initializers!, floats('head', dims, [...data])]
    expect(await lastOf({ ...parts, initializers })).toEqual(expected)
  })

  test('where its results are a part of an output', async () => {
    const nodes = [conv('x', 'a', 'v'), conv('x', 'b'), node('Concat', ['a', 'b'], ['y'], { axis: 1 })]
    expect(await lastOf(model(nodes))).toEqual([true, true])
  })

  test('where it makes an output that others read, too', async () => {
    const nodes = [conv('x', 'a', 'v'), conv('a', 'b'), node('GlobalAveragePool', ['b'], ['y'])]
    expect(await lastOf(model(nodes, ['y', 'a']))).toEqual([true, false])
  })
})

test.each([
  ['sums even its errors out', [conv('x', 'a', 'v'), conv('a', 'b'), node('GlobalAveragePool', ['b'], ['y'])]],
  ['it is one of two that are multiplied', [conv('x', 'a', 'v'), conv('x', 'b'), node('Mul', ['a', 'b'], ['y'])]]
])('a convolution is no last one where %s', async (_, nodes) => {
  expect(await lastOf(model(nodes))).toEqual([false, false])
})

test.each([
  ['over a plane', [3, 3]],
  ['along one axis', [7]]
])('a last convolution errs as the definition does: %s', async (_, taps) => {
  const data = await onnxModel(model([conv('x', 'y')], ['y'], taps))
  const x = noise([1, CHANNELS, ...taps.map(() => 20)], 3)
  const [exact, fast] = await Promise.all(
    (['exact', 'fast'] as const).map(async precision => {
      const session = new InferenceSession(data, { precision })
      const { y } = await session.run({ x })
      session.dispose()
      return (y as Tensor<'float32'>).data.slice()
    })
  )
  const sumOf = (values: Float32Array): number => values.reduce((sum, value) => sum + Math.abs(value), 0)
  expect(sumOf(fast.map((value, i) => value - exact[i])) / sumOf(exact)).toBeLessThan(3.5e-7)
})
