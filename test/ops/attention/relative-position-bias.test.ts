import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota, scalar } from '../values.ts'

const KIND: Kind = ['onnx', 'RelativePositionBias', 1, 'com.microsoft']

/** A table as ONNX Runtime's tests have it: the rows are buckets in name only, the elements lie head by head. */
const table = new Tensor('float32', [1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12], [4, 3])

/** The bucket of each key for a query, of a table whose elements are the buckets. */
function bucketsFor(query: number, length: number, buckets: number, attributes: Record<string, number>): number[] {
  const counted = iota([buckets, 1])
  const out = runTensor(KIND, [counted, ints(length), ints(length)], { attributes })
  return [...out.data].slice(query * length, (query + 1) * length) as number[]
}

describe('RelativePositionBias', () => {
  test('gives what the tests of ONNX Runtime give', () => {
    const attributes = { max_distance: 128, is_bidirectional: 1 }
    const out = runTensor(KIND, [table, ints(2), ints(2)], { attributes })
    expect([out.type, out.dims]).toEqual(['float32', [1, 3, 2, 2]])
    expect([...out.data]).toEqual([1, 10, 4, 1, 2, 11, 5, 2, 3, 12, 6, 3])
    const causal = runTensor(KIND, [table, ints(2), ints(2)], { attributes: { max_distance: 128 } })
    expect([...causal.data]).toEqual([1, 1, 4, 1, 2, 2, 5, 2, 3, 3, 6, 3])
  })

  test('float16 keeps its codes; lengths may be scalars', () => {
    const half = convert(table, 'float16')
    const attributes = { max_distance: 128, is_bidirectional: 1 }
    const out = runTensor(KIND, [half, scalar(2), scalar(2)], { attributes })
    expect(out.type).toBe('float16')
    expect([...convert(out, 'float32').data]).toEqual([1, 10, 4, 1, 2, 11, 5, 2, 3, 12, 6, 3])
  })

  test('with 32 buckets has those of T5', () => {
    const after = bucketsFor(0, 300, 32, { max_distance: 128, is_bidirectional: 1 })
    // 8 + floor(8 log(d / 8) / log 16): boundaries at 8 * 16^(k / 8), of which every second is a whole number.
    const first = [8, 12, 16, 23, 32, 46, 64, 91]
    const bucket = (d: number): number => (d < 8 ? d : 7 + first.filter(at => at <= d).length)
    expect(after).toEqual(Array.from({ length: 300 }, (_, d) => bucket(d) + (d > 0 ? 16 : 0)))
    const before = bucketsFor(299, 300, 32, { max_distance: 128, is_bidirectional: 1 })
    expect(before.reverse()).toEqual(Array.from({ length: 300 }, (_, d) => bucket(d)))
  })

  test('in one direction keys after the query are as near as itself', () => {
    const row = bucketsFor(200, 300, 32, { max_distance: 128 })
    expect(row.slice(200)).toEqual(new Array(100).fill(0))
    const first = Array.from({ length: 16 }, (_, k) => Math.ceil(16 * 8 ** (k / 16) - 1e-9))
    const bucket = (d: number): number => (d < 16 ? d : 15 + first.filter(at => at <= d).length)
    expect(row.slice(0, 201).reverse()).toEqual(Array.from({ length: 201 }, (_, d) => bucket(d)))
  })

  test('every element is that of the bucket of its distance, whatever buckets, heads and length are', () => {
    for (const [buckets, heads, length, both] of [
      [5, 2, 7, 1],
      [7, 3, 5, 0],
      [2, 1, 9, 0],
      [4, 2, 1, 1],
      [9, 2, 70, 1]
    ]) {
      const attributes = { max_distance: 12, is_bidirectional: both }
      const data = iota([buckets, heads])
      const out = [...runTensor(KIND, [data, ints(length), ints(length)], { attributes }).data]
      for (let query = 0; query < length; query++) {
        const row = bucketsFor(query, length, buckets, attributes)
        for (let head = 0; head < heads; head++) {
          const from = (head * length + query) * length
          expect(out.slice(from, from + length)).toEqual(row.map(bucket => head * buckets + bucket))
        }
      }
    }
  })

  test('is empty for a length of 0', () => {
    const out = runTensor(KIND, [table, ints(0), ints(0)], { attributes: { max_distance: 128 } })
    expect(out.dims).toEqual([1, 3, 0, 0])
  })

  test('takes its length from either input, and keeps symbols', () => {
    const attributes = { max_distance: 128 }
    const facts = [fact('float16', [32, 'h']), fact('int64', []), ints(7)]
    expect(dimsOf(inferOp(KIND, facts, { attributes })[0])).toEqual([1, 'h', 7, 7])
    const unknown = [fact('float32', undefined), fact('int64', [1]), fact('int64', [1])]
    expect(dimsOf(inferOp(KIND, unknown, { attributes })[0])).toHaveLength(4)
  })
})

test.each([
  ['a table of rank 1', [iota([4]), ints(2), ints(2)], { max_distance: 9 }, 'rank-mismatch'],
  ['a table of another type', [iota([4, 1], 'float64'), ints(2), ints(2)], { max_distance: 9 }, 'type-not-allowed'],
  ['other keys than queries', [table, ints(2), ints(3)], { max_distance: 9 }, 'dims-mismatch'],
  ['several lengths', [table, ints(2, 2), ints(2)], { max_distance: 9 }, 'dims-mismatch'],
  ['a negative length', [table, ints(-1), ints(-1)], { max_distance: 9 }, 'value-out-of-range'],
  ['no largest distance', [table, ints(2), ints(2)], {}, 'missing-attribute'],
  ['a largest distance of 0', [table, ints(2), ints(2)], { max_distance: 0 }, 'unknown-attribute-value'],
  [
    'a largest distance that has its own bucket',
    [table, ints(2), ints(2)],
    { max_distance: 2 },
    'unknown-attribute-value'
  ],
  ['one bucket', [iota([1, 2]), ints(2), ints(2)], { max_distance: 9 }, 'dims-mismatch'],
  ['3 in two directions', [iota([3, 2]), ints(2), ints(2)], { max_distance: 9, is_bidirectional: 1 }, 'dims-mismatch']
] as const)('RelativePositionBias refuses %s', (_, inputs, attributes, code) => {
  expect(errorOf(() => runTensor(KIND, inputs, { attributes })).code).toBe(code)
})
