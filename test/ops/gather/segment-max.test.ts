import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const KIND: Kind = ['openvino', 'SegmentMax', 16]
const segments = (data: Tensor, ids: Tensor, count?: number, mode = 'ZERO'): unknown[] => [
  ...runTensor(KIND, [data, ids, count === undefined ? undefined : scalar(count)], { attributes: { fill_mode: mode } })
    .data
]

describe('SegmentMax', () => {
  const data = new Tensor('float32', [1, -2, -3, 4, -5, -6, 7, 0], [4, 2])

  test('finds the highest elements of each segment', () => {
    expect(segments(data, ints(0, 0, 1, 3))).toEqual([1, 4, -5, -6, 0, 0, 7, 0])
    expect(segments(new Tensor('float32', [1, NaN, 3]), ints(0, 0, 1))).toEqual([NaN, 3])
  })

  test('a count adds segments or leaves some out', () => {
    expect(segments(data, ints(0, 0, 1, 3), 1)).toEqual([1, 4])
    expect(segments(data, ints(0, 0, 0, 0), 2)).toEqual([7, 4, 0, 0])
    expect(segments(data, ints(0, 0, 0, 0), 0)).toEqual([])
  })

  test('segments without elements hold zeros or the lowest value of the type', () => {
    const lowest = (type: 'int8' | 'uint16' | 'int64' | 'float16' | 'bfloat16' | 'float64'): unknown => {
      const [value] = runTensor(KIND, [allocate(type, [1]), ints(1)], { attributes: { fill_mode: 'lowest' } }).data
      return type === 'float16' || type === 'bfloat16'
        ? convert(new Tensor(type, new Uint16Array([value as number]), [1]), 'float64').data[0]
        : value
    }
    expect([lowest('int8'), lowest('uint16'), lowest('int64'), lowest('float16'), lowest('float64')]).toEqual([
      -128,
      0,
      -(2n ** 63n),
      -65504,
      -Number.MAX_VALUE
    ])
    expect(lowest('bfloat16')).toBe(-(2 - 2 ** -7) * 2 ** 127)
    expect(segments(new Tensor('float32', [5]), ints(1), 2, 'LOWEST')).toEqual([Math.fround(-3.4028234663852886e38), 5])
  })

  test('64-bit elements are compared exactly', () => {
    expect(segments(ints(2n ** 53n, 2n ** 53n + 1n, -5n), ints(0, 0, 2))).toEqual([2n ** 53n + 1n, 0n, -5n])
  })

  test('ids ascend from 0, one a slice', () => {
    expect(errorOf(() => segments(data, ints(0, 1, 0, 2)))).toMatchObject({ code: 'value-out-of-range' })
    expect(errorOf(() => segments(data, ints(-1, 0, 0, 2), 3)).code).toBe('value-out-of-range')
    expect(errorOf(() => segments(data, ints(0, 0))).code).toBe('dims-mismatch')
    expect(errorOf(() => segments(data, ints(0, 0, 0, 0), -1)).code).toBe('value-out-of-range')
    expect(errorOf(() => segments(scalar(1, 'float32'), ints(0))).code).toBe('rank-mismatch')
    expect(errorOf(() => segments(data, ints(0, 0, 0, 2n ** 60n))).code).toMatch(/limit-exceeded|shape-mismatch/)
  })

  test('the count of segments is known from the ids or the count', () => {
    const infer = (
      ids: Parameters<typeof inferOp>[1][number],
      count?: Parameters<typeof inferOp>[1][number]
    ): unknown =>
      dimsOf(inferOp(KIND, [fact('float32', [3, 'm']), ids, count], { attributes: { fill_mode: 'ZERO' } })[0])
    expect(infer(ints(0, 0, 4))).toEqual([5, 'm'])
    expect(infer(fact('int64', [3]))).toEqual(['?', 'm'])
    expect(infer(fact('int64', [3]), scalar(7))).toEqual([7, 'm'])
    expect(infer(fact('int64', [3]), fact('int64', []))).toEqual(['?', 'm'])
  })
})
