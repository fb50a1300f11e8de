import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints } from '../values.ts'

const KIND: Kind = ['onnx', 'TfIdfVectorizer', 9]
const POOL = {
  pool_int64s: [5, 6, 5, 6],
  ngram_counts: [0, 2],
  ngram_indexes: [1, 0, 2],
  min_gram_length: 1,
  max_gram_length: 2,
  max_skip_count: 1
}
type Attributes = Record<string, number | string | number[] | string[]>
const count = (x: Tensor, attributes: Attributes): number[] => [
  ...(runTensor(KIND, [x], { attributes: { mode: 'TF', ...POOL, ...attributes } }).data as Float32Array)
]

describe('TfIdfVectorizer', () => {
  const list = ints(5, 6, 5, 9, 6)

  test('counts n-grams whose items stand equally far apart', () => {
    expect(count(list, {})).toEqual([2, 2, 2])
    expect(count(list, { max_skip_count: 0 })).toEqual([2, 2, 1])
    expect(count(list, { min_gram_length: 2 })).toEqual([0, 0, 2])
    expect(count(list, { max_gram_length: 1 })).toEqual([2, 2, 0])
  })

  test('weighs by the place in the pool, and IDF counts no n-gram twice', () => {
    expect(count(list, { mode: 'TFIDF', weights: [10, 20, 30] })).toEqual([40, 20, 60])
    expect(count(list, { mode: 'IDF', weights: [10, 20, 30] })).toEqual([20, 10, 30])
    expect(count(list, { mode: 'IDF' })).toEqual([1, 1, 1])
  })

  test('adds n-grams of one coordinate up, equal ones too', () => {
    expect(count(list, { ngram_indexes: [0, 0, 2] })).toEqual([4, 0, 2])
    expect(count(list, { pool_int64s: [5, 5], ngram_counts: [0], ngram_indexes: [0, 1] })).toEqual([2, 2])
  })

  test('IDF counts n-grams of one coordinate once', () => {
    const shared = { mode: 'IDF', ngram_indexes: [0, 0, 2] }
    expect(count(list, shared)).toEqual([1, 0, 1])
    expect(count(ints(5, 6), { ...shared, weights: [10, 20, 30] })).toEqual([20, 0, 30])
    expect(count(ints(6, 5), { ...shared, weights: [10, 20, 30] })).toEqual([10, 0, 0])
  })

  test('goes row by row', () => {
    const out = runTensor(KIND, [new Tensor('int32', [5, 5, 5, 6, 6, 6], [2, 3])], {
      attributes: { mode: 'TF', ...POOL }
    })
    expect(out.dims).toEqual([2, 3])
    expect([...out.data]).toEqual([0, 3, 0, 3, 0, 0])
  })

  test('counts strings', () => {
    const { pool_int64s: _, ...rest } = POOL
    const out = runTensor(KIND, [new Tensor('string', ['b', 'a', 'b'])], {
      attributes: { mode: 'TF', ...rest, pool_strings: ['a', 'b', 'a', 'b'] }
    })
    expect([...out.data]).toEqual([2, 1, 1])
  })

  test('compares 64-bit items exactly', () => {
    expect(count(ints(2n ** 53n + 1n), { pool_int64s: [2 ** 53], ngram_counts: [0], ngram_indexes: [0] })).toEqual([0])
  })

  test('a large skip count costs nothing', () => {
    expect(count(list, { max_skip_count: 2 ** 40 })).toEqual([2, 2, 3])
  })

  test('refuses pools that do not hold together', () => {
    const wrongs: Attributes[] = [
      { ngram_counts: [0, 1] },
      { ngram_indexes: [0, 1] },
      { ngram_counts: [0, 9] },
      { ngram_indexes: [0, 1, -2] },
      { weights: [1] },
      { min_gram_length: 3 },
      { max_skip_count: -1 }
    ]
    for (const wrong of wrongs)
      expect(errorOf(() => count(list, wrong)).code, JSON.stringify(wrong)).toBe('unknown-attribute-value')
    expect(errorOf(() => count(new Tensor('string', ['a']), {})).code).toBe('type-mismatch')
    expect(errorOf(() => count(list, { pool_strings: ['a', 'b', 'a', 'b'] })).code).toBe('unknown-attribute-value')
  })

  test('the last coordinate says how long the result is', () => {
    const attributes = { mode: 'TF', ...POOL, ngram_indexes: [7, 0, 2] }
    expect(dimsOf(inferOp(KIND, [fact('int64', ['n', '?'])], { attributes })[0])).toEqual(['n', 8])
    expect(dimsOf(inferOp(KIND, [fact('int64', ['?'])], { attributes })[0])).toEqual([8])
    expect(errorOf(() => inferOp(KIND, [fact('int64', [])], { attributes })).code).toBe('rank-mismatch')
  })
})
