import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, planOf } from './plan.ts'

const weights = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

const model = (
  equation: string,
  x: readonly (number | string)[],
  w: readonly number[],
  more: readonly object[] = []
): ModelParts => ({
  inputs: [port('x', 'float', [...x])],
  outputs: [port('y', 'float')],
  initializers: [weights('w', w, 1)],
  nodes: [node('Einsum', ['x', 'w'], [more.length > 0 ? 'product' : 'y'], { equation }), ...more]
})

const opsOf = async (parts: ModelParts): Promise<string[]> =>
  (await planOf(parts)).steps.map(({ call }) => call.op.name)

describe('Einsum of a value by constant weights is one product of matrices', () => {
  test.each([
    ['abc,cde->abde', [2, 5, 12], [12, 3, 4], ['MatMul', 'Reshape']],
    ['abc,dec->abde', [2, 5, 12], [3, 4, 12], ['MatMul', 'Reshape']],
    ['abc,dce->abed', [2, 5, 12], [3, 12, 4], ['MatMul', 'Reshape']],
    ['abde,dec->abc', [2, 5, 3, 4], [3, 4, 12], ['Reshape', 'MatMul']],
    ['abde,ced->abc', [2, 5, 3, 4], [12, 4, 3], ['Reshape', 'MatMul']],
    ['abde,dexy->abyx', [2, 5, 3, 4], [3, 4, 6, 2], ['Reshape', 'MatMul', 'Reshape']],
    ['ab,bc->ac', [7, 12], [12, 8], ['MatMul']],
    ['...b,cb->...c', [2, 7, 12], [8, 12], ['MatMul']],
    ['ab,bc', [7, 12], [12, 8], ['MatMul']],
    ['ab,cb->ac', [7, 1], [8, 1], ['MatMul']],
    ['ab,cb->ac', [7, 12], [1, 12], ['MatMul']],
    ['abc,cde->abde', ['batch', 'rows', 12], [12, 3, 4], ['MatMul', 'Reshape']]
  ])('%s of %j and %j', async (equation, x, w, ops) => {
    const parts = model(equation, x, w)
    expect(await opsOf(parts)).toEqual(ops)
    const dims = x.map(dim => (typeof dim === 'number' ? dim : 3))
    expect(await differenceBetween(parts, { x: dims })).toBeLessThan(1e-5)
  })

  test('to which what follows is added', async () => {
    const parts = model('abde,dec->abc', [2, 5, 3, 4], [3, 4, 12], [node('Relu', ['product'], ['y'])])
    expect(await opsOf(parts)).toEqual(['Reshape', 'FusedMatMul'])
    expect(await differenceBetween(parts, { x: [2, 5, 3, 4] })).toBeLessThan(1e-5)
  })

  test('whose weights may be the first factor', async () => {
    const parts = model('abc,dec->abde', [2, 5, 12], [3, 4, 12])
    const nodes = [node('Einsum', ['w', 'x'], ['y'], { equation: 'dec,abc->abde' })]
    expect(await opsOf({ ...parts, nodes })).toEqual(['MatMul', 'Reshape'])
    expect(await differenceBetween({ ...parts, nodes }, { x: [2, 5, 12] })).toBeLessThan(1e-5)
  })
})

describe('Einsum stays what it is', () => {
  test.each([
    ['of products in batches', 'bij,jbk->bik', [2, 5, 12], [12, 2, 4]],
    ['of weights in front of the result', 'ab,bc->ca', [5, 12], [12, 4]],
    ['of labels that do not come last', 'acb,cd->abd', [2, 12, 5], [12, 4]],
    ['of a diagonal', 'aab,bc->abc', [5, 5, 12], [12, 4]],
    ['without a sum', 'ab,cd->abcd', [5, 12], [3, 4]],
    ['of a sum of the weights alone', 'ab,bcd->ac', [5, 12], [12, 3, 4]],
    ['of a dim that is broadcast', 'ab,bc->ac', [5, 1], [12, 4]],
    ['without a label of the weights', 'ab,b->a', [5, 12], [12]],
    ['without a row', 'b,bc->c', [12], [12, 4]],
    ['of a dim that is not known', 'ab,bc->ac', [5, 'n'], [12, 4]],
    ['of weights without elements', 'abc,cde->abde', [2, 3, 4], [4, 2, 0]],
    ['of a sum of nothing', 'abde,dec->abc', [2, 3, 4, 0], [4, 0, 5]]
  ])('%s', async (_, equation, x, w) => {
    const parts = model(equation, x, w)
    expect(await opsOf(parts)).toEqual(['Einsum'])
    const dims = x.map(dim => (typeof dim === 'number' ? dim : 12))
    expect(await differenceBetween(parts, { x: dims })).toBeLessThan(1e-5)
  })
})
