import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const model = (
  inputs: Readonly<Record<string, readonly (number | string)[]>>,
  nodes: readonly object[]
): ModelParts => ({
  inputs: Object.entries(inputs).map(([name, dims]) => port(name, 'float', [...dims])),
  outputs: [port('y', 'float')],
  initializers: [floats('quarter', [], [0.25])],
  nodes
})
const einsum = (equation: string): object => node('Einsum', ['a', 'b'], ['y'], { equation })

describe('Einsum of two values', () => {
  test.each([
    ['bhqd,bhkd->bhqk', [2, 3, 5, 8], [2, 3, 7, 8]],
    ['bhqk,bhkd->bhqd', [2, 3, 5, 7], [2, 3, 7, 8]],
    ['bij,bjk->bik', [2, 5, 7], [2, 7, 3]]
  ])('%s is a product of matrices in fast precision', async (equation, a, b) => {
    const parts = model({ a, b }, [einsum(equation)])
    expect(opsOf(await planOf(parts))).toEqual(['MatMul'])
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(['Einsum'])
    expect(await differenceBetween(parts, { a, b })).toBeLessThan(3e-6)
  })

  test('around a softmax is attention, as MONAI writes it', async () => {
    const dims = { q: [2, 3, 20, 16], k: [2, 3, 30, 16], v: [2, 3, 30, 8] }
    const nodes = [
      node('Einsum', ['q', 'k'], ['s'], { equation: 'blxd,blyd->blxy' }),
      node('Mul', ['s', 'quarter'], ['d']),
      node('Softmax', ['d'], ['w'], { axis: -1 }),
      node('Einsum', ['w', 'v'], ['y'], { equation: 'bhxy,bhyd->bhxd' })
    ]
    expect(opsOf(await planOf(model(dims, nodes)))).toEqual(['ScaledDotProductAttention'])
    expect(await differenceBetween(model(dims, nodes), dims, 2)).toBeLessThan(3e-6)
  })

  test.each([
    ['batches in another order', 'bhqd,hbkd->bhqk', [2, 3, 5, 8], [3, 2, 7, 8]],
    ['a transposed result', 'bhqd,bhkd->bhkq', [2, 3, 5, 8], [2, 3, 7, 8]],
    ['a label of one term that is summed over', 'bhqd,bhkc->bhqk', [2, 3, 5, 8], [2, 3, 7, 8]],
    ['no batches', 'qd,kd->qk', [5, 8], [7, 8]]
  ])('stays what it is: %s', async (_, equation, a, b) => {
    expect(opsOf(await planOf(model({ a, b }, [einsum(equation)])))).not.toContain('MatMul')
  })

  test('stays what it is where one element of an axis may stand for all that is summed over', async () => {
    const parts = model({ a: ['n', 5, 'd'], b: ['n', 7, 'e'] }, [einsum('nqd,nkd->nqk')])
    expect(opsOf(await planOf(parts))).toEqual(['Einsum'])
    expect(await differenceBetween(parts, { a: [2, 5, 4], b: [2, 7, 4] })).toBeLessThan(3e-6)
  })
})
