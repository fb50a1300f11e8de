import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota, scalar } from '../values.ts'

const SDPA: Kind = ['openvino', 'ScaledDotProductAttention', 13]
/** Two queries of zeros see every key alike, so that the result is the mean of the values they see. */
const zeros = new Tensor('float32', new Float32Array(4), [1, 2, 2])
const values = new Tensor('float32', [2, 4, 6], [1, 3, 1])
const keys = new Tensor('float32', new Float32Array(6), [1, 3, 2])

describe('ScaledDotProductAttention', () => {
  test('weighs values by the softmax of scaled products', () => {
    const query = new Tensor('float32', [1, 1], [1, 1, 2])
    const key = new Tensor('float32', [0, 0, 1, 1], [1, 2, 2])
    const value = new Tensor('float32', [0, 1], [1, 2, 1])
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
    expectNear(runTensor(SDPA, [query, key, value]), [sigmoid(2 / Math.sqrt(2))])
    const mask = scalar(0, 'float32')
    expectNear(runTensor(SDPA, [query, key, value, mask, scalar(3, 'float32')]), [sigmoid(6)])
  })

  test('causal hides later keys and ignores the mask', () => {
    expectNear(runTensor(SDPA, [zeros, keys, values], { attributes: { causal: true } }), [2, 3])
    const mask = new Tensor('bool', new Uint8Array(6), [1, 2, 3])
    expectNear(runTensor(SDPA, [zeros, keys, values, mask], { attributes: { causal: true } }), [2, 3])
  })

  test('a boolean mask hides, a float mask is added, both are broadcast', () => {
    expectNear(runTensor(SDPA, [zeros, keys, values, new Tensor('bool', [1, 0, 1], [1, 1, 3])]), [4, 4])
    const added = new Tensor('float32', [0, -Infinity, -Infinity, 0, 0, -Infinity], [2, 3])
    expectNear(runTensor(SDPA, [zeros, keys, values, added]), [2, 3])
  })

  test('a query that sees nothing gives NaN', () => {
    expect([...runTensor(SDPA, [zeros, keys, values, new Tensor('bool', [0], [1, 1, 1])]).data]).toEqual([NaN, NaN])
  })

  test('many keys and queries are handled in blocks', () => {
    const query = new Tensor('float32', new Float32Array(300), [1, 300, 1])
    const key = new Tensor('float32', new Float32Array(700), [1, 700, 1])
    const out = runTensor(SDPA, [query, key, iota([1, 700, 2])], { attributes: { causal: true } })
    expect([out.data[0], out.data[1], out.data[598], out.data[599]]).toEqual([0, 1, 299, 300])
  })

  test('batches are broadcast, ranks below 3 and sizes that differ are refused', () => {
    const dims = [
      fact('float32', ['n', 'h', 's', 8]),
      fact('float32', ['n', 1, 't', 8]),
      fact('float32', [1, 1, 't', 4]),
      fact('bool', ['s', 't'])
    ]
    expect(dimsOf(inferOp(SDPA, dims)[0])).toEqual(['n', 'h', 's', 4])
    expect(errorOf(() => inferOp(SDPA, [fact('float32', [2, 3]), ...dims.slice(1, 3)])).code).toBe('rank-mismatch')
    expect(errorOf(() => inferOp(SDPA, [fact('float32', [1, 2, 7]), ...dims.slice(1, 3)])).code).toBe('shape-mismatch')
    expect(
      errorOf(() => inferOp(SDPA, [fact('float32', [1, 2, 8]), fact('float32', [1, 5, 8]), fact('float32', [1, 6, 8])]))
        .code
    ).toBe('shape-mismatch')
  })
})
