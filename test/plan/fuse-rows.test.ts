import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const weights = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

/** Reshape, Gemm and Reshape, as exporters write a dense layer of PyTorch. */
const layer = (
  from: string,
  to: string,
  attributes: Parameters<typeof node>[3] = {},
  c: string | undefined = 'c'
): object[] => [
  node('Reshape', [from, 'merged'], [`${to}_rows`]),
  node('Gemm', [`${to}_rows`, 'w', ...(c ? [c] : [])], [`${to}_product`], attributes),
  node('Reshape', [`${to}_product`, 'parted'], [to])
]

const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', [2, 5, 16])],
  outputs: [port('y', 'float')],
  initializers: [
    ...[weights('w', [16, 16], 1), weights('c', [16], 2), weights('column', [10, 1], 3), weights('scale', [16], 4)],
    ...[int64s('merged', [2], [-1, 16]), int64s('parted', [3], [2, 5, 16]), int64s('other', [3], [5, 2, 16])]
  ],
  nodes,
  ...changes
})
const FEEDS = { x: [2, 5, 16] }

describe('a Gemm between two Reshapes', () => {
  test.each([
    ['with a bias', layer('x', 'y'), 'FusedMatMul'],
    ['without', layer('x', 'y', {}, ''), 'MatMul'],
    ['of transposed weights', layer('x', 'y', { transB: 1 }), 'FusedMatMul'],
    [
      'with a shortcut and an activation',
      [...layer('x', 'a'), node('Add', ['a', 'x'], ['s']), node('Relu', ['s'], ['y'])],
      'FusedMatMul'
    ]
  ])('is one product of all rows: %s', async (_, nodes, op) => {
    const { steps } = await planOf(model(nodes))
    expect(steps.map(({ call }) => call.op.name)).toEqual([op])
    expect(steps[0].nodes).toHaveLength(nodes.length)
    expect(await differenceBetween(model(nodes), FEEDS)).toBeLessThan(1e-5)
  })

  test('is one product where the number of rows is known only when the model runs', async () => {
    const initializers = [weights('w', [16, 8], 1), weights('c', [8], 2), int64s('merged', [2], [-1, 16])]
    const nodes = [
      ...[node('Shape', ['x'], ['dims'], { end: 2 }), node('Concat', ['dims', 'last'], ['parted'], { axis: 0 })],
      ...layer('x', 'y')
    ]
    const parts = model(nodes, {
      inputs: [port('x', 'float', ['batch', 'rows', 16])],
      initializers: [...initializers, int64s('last', [1], [8])],
      opset: 15
    })
    expect(opsOf(await planOf(parts))).toEqual(['FusedMatMul'])
    expect(await differenceBetween(parts, { x: [3, 4, 16] })).toBeLessThan(1e-5)
  })

  test.each([
    ['scaled', layer('x', 'y', { alpha: { float: 0.5 } })],
    ['with a scaled bias', layer('x', 'y', { beta: { float: 0.5 } })],
    ['with a column added', layer('x', 'y', {}, 'column')],
    ['with rows that are parted otherwise', layer('x', 'y').with(2, node('Reshape', ['y_product', 'other'], ['y']))],
    ['whose rows others read', [...layer('x', 'a'), node('Sub', ['a_product', 'scale'], ['y'])]]
  ])('stays what it is: %s', async (_, nodes) => {
    expect(opsOf(await planOf(model(nodes)))).toContain('Gemm')
    expect(await differenceBetween(model(nodes), FEEDS)).toBeLessThan(1e-5)
  })
})
