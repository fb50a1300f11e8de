import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const OFFSETS: Kind = ['openvino', 'EmbeddingBagOffsetsSum', 3]
const OFFSETS_15: Kind = ['openvino', 'EmbeddingBagOffsets', 15]
const PACKED: Kind = ['openvino', 'EmbeddingBagPackedSum', 3]
const PACKED_15: Kind = ['openvino', 'EmbeddingBagPacked', 15]
const SEGMENTS: Kind = ['openvino', 'EmbeddingSegmentsSum', 3]

const table = (type: DType = 'float32'): Tensor =>
  convert(new Tensor('float64', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [5, 2]), type)
const list = (type: DType, ...values: number[]): Tensor => convert(new Tensor('float64', values), type)
const ids = (...values: number[]): Tensor => new Tensor('int32', values)
const id = (value: number): Tensor => new Tensor('int32', [value], [])
const numbers = (tensor: Tensor): number[] => [...convert(tensor, 'float64').data]

describe('EmbeddingBagOffsets', () => {
  test('sums rows from one offset to the next', () => {
    for (const type of ['float32', 'float16', 'bfloat16', 'int32', 'int64', 'uint8', 'float64'] as const) {
      const out = runTensor(OFFSETS, [table(type), ids(0, 2, 3, 4), ids(0, 2, 2), id(0), list(type, 2, 1, 1, 3)])
      expect(out.dims).toEqual([3, 2])
      expect(numbers(out), type).toEqual([7, 10, 1, 2, 34, 38])
    }
  })

  test('empty bags are zeros, or the default row; the last bag may be empty', () => {
    expect(numbers(runTensor(OFFSETS, [table(), ids(0, 1), ids(0, 0, 2)]))).toEqual([0, 0, 4, 6, 0, 0])
    expect(numbers(runTensor(OFFSETS, [table(), ids(0, 1), ids(0, 0, 2), id(4)]))).toEqual([9, 10, 4, 6, 9, 10])
    expect(numbers(runTensor(OFFSETS, [table(), ids(0, 1), ids(0, 0, 2), id(-1)]))).toEqual([0, 0, 4, 6, 0, 0])
    expect(numbers(runTensor(OFFSETS, [table(), ids(), ids(0)]))).toEqual([0, 0])
  })

  test('indices before the first offset are in no bag', () => {
    expect(numbers(runTensor(OFFSETS, [table(), ids(4, 0, 1), ids(1)]))).toEqual([4, 6])
  })

  test('means divide by the size of the bag, not the default row', () => {
    const mean = { attributes: { reduction: 'mean' } }
    expect(numbers(runTensor(OFFSETS_15, [table(), ids(0, 2, 3), ids(0, 2, 3), id(1)], mean))).toEqual([
      3, 4, 7, 8, 3, 4
    ])
    expect(numbers(runTensor(OFFSETS_15, [table('int64'), ids(0, 1, 1), ids(0)], mean))).toEqual([2, 3])
    expect(errorOf(() => runTensor(OFFSETS_15, [table(), ids(0), ids(0), id(-1), list('float32', 1)], mean)).code).toBe(
      'wrong-input-count'
    )
  })

  test('names a row that is not in the table', () => {
    const error = errorOf(() => runTensor(OFFSETS, [table(), ids(0, 5), ids(0)]))
    expect(error.code).toBe('index-out-of-range')
    expect(error.details).toEqual({ index: '5', position: [1], axis: 0, size: 5 })
    expect(errorOf(() => runTensor(OFFSETS, [table(), ids(-1), ids(0)])).code).toBe('index-out-of-range')
    expect(errorOf(() => runTensor(OFFSETS, [table(), ids(0), ids(0), id(5)])).details).toEqual({
      index: '5',
      position: [],
      axis: 0,
      size: 5
    })
    expect(errorOf(() => runTensor(OFFSETS, [table(), ids(0), ids(0), id(-2)])).code).toBe('index-out-of-range')
  })

  test('offsets ascend and stay within the indices', () => {
    for (const bad of [
      [0, 3],
      [1, 0],
      [-1, 0]
    ])
      expect(errorOf(() => runTensor(OFFSETS, [table(), ids(0, 1), ids(...bad)])).code).toBe('value-out-of-range')
    expect(errorOf(() => inferOp(OFFSETS, [fact('float32', [5, 2]), fact('int32', [2]), ids(0, 3)])).code).toBe(
      'value-out-of-range'
    )
  })

  test('the shape is a row for each offset', () => {
    expect(
      dimsOf(inferOp(OFFSETS, [fact('float32', [5, 'd', 2]), fact('int32', ['?']), fact('int32', ['n'])])[0])
    ).toEqual(['n', 'd', 2])
    expect(
      errorOf(() => inferOp(OFFSETS, [fact('float32', [5, 2]), fact('int32', [2, 2]), fact('int32', [1])])).code
    ).toBe('rank-mismatch')
    expect(
      errorOf(() =>
        inferOp(OFFSETS, [
          fact('float32', [5, 2]),
          fact('int32', [2]),
          fact('int32', [1]),
          fact('int32', []),
          fact('float32', [3])
        ])
      ).code
    ).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        inferOp(OFFSETS, [
          fact('float32', [5, 2]),
          fact('int32', [2]),
          fact('int32', [1]),
          fact('int32', []),
          fact('float16', [2])
        ])
      ).code
    ).toBe('type-mismatch')
    expect(errorOf(() => inferOp(OFFSETS, [fact('float32', []), fact('int32', [2]), fact('int32', [1])])).code).toBe(
      'rank-zero-data'
    )
  })
})

describe('EmbeddingBagPacked', () => {
  const packed = new Tensor('int64', [0n, 2n, 1n, 2n, 3n, 4n], [3, 2])

  test('sums the rows of each bag, weighted or not', () => {
    expect(numbers(runTensor(PACKED, [table(), packed]))).toEqual([6, 8, 8, 10, 16, 18])
    const weights = new Tensor('float32', [0.5, 0.5, 1, 0, 2, -1], [3, 2])
    expect(numbers(runTensor(PACKED_15, [table(), packed, weights], { attributes: { reduction: 'sum' } }))).toEqual([
      3, 4, 3, 4, 5, 6
    ])
  })

  test('means and empty bags', () => {
    expect(numbers(runTensor(PACKED_15, [table(), packed], { attributes: { reduction: 'mean' } }))).toEqual([
      3, 4, 4, 5, 8, 9
    ])
    expect(numbers(runTensor(PACKED, [table(), allocate('int64', [2, 0])]))).toEqual([0, 0, 0, 0])
  })

  test('sums of 64-bit integers are exact', () => {
    const wide = new Tensor('int64', [2n ** 60n, 1n], [2, 1])
    expect([...runTensor(PACKED, [wide, new Tensor('int32', [0, 1, 1], [1, 3])]).data]).toEqual([2n ** 60n + 2n])
  })

  test('indices are a matrix within the table', () => {
    expect(errorOf(() => runTensor(PACKED, [table(), ids(0)])).code).toBe('rank-mismatch')
    expect(errorOf(() => inferOp(PACKED, [fact('float32', ['0..2', 2]), packed])).details).toEqual({
      index: '2',
      position: [0, 1],
      axis: 0
    })
    expect(dimsOf(inferOp(PACKED, [fact('float32', ['n', 3]), fact('int64', ['b', 4])])[0])).toEqual(['b', 3])
  })
})

describe('EmbeddingSegmentsSum', () => {
  test('sums rows by segment', () => {
    const out = runTensor(SEGMENTS, [
      table(),
      ids(0, 2, 3, 4),
      ids(0, 0, 2, 2),
      id(4),
      id(1),
      list('float32', 1, 2, 1, 1)
    ])
    expect(out.dims).toEqual([4, 2])
    expect(numbers(out)).toEqual([11, 14, 3, 4, 16, 18, 3, 4])
    expect(numbers(runTensor(SEGMENTS, [table(), ids(0), ids(1), id(3)]))).toEqual([0, 0, 1, 2, 0, 0])
  })

  test('segments ascend and are as many as were said', () => {
    expect(errorOf(() => runTensor(SEGMENTS, [table(), ids(0, 1), ids(1, 0), id(2)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(SEGMENTS, [table(), ids(0, 1), ids(0, 2), id(2)])).details).toEqual({
      index: '2',
      position: [1],
      axis: 0,
      size: 2
    })
    expect(errorOf(() => runTensor(SEGMENTS, [table(), ids(0), ids(0), id(-1)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(SEGMENTS, [table(), ids(0), ids(0), id(1), id(-1)])).code).toBe('index-out-of-range')
    expect(errorOf(() => runTensor(SEGMENTS, [table(), ids(0), ids(0, 0), id(1)])).code).toBe('dims-mismatch')
  })

  test('the number of segments is the first dim, known or not', () => {
    const infer = (count: Tensor | ReturnType<typeof fact>): unknown =>
      dimsOf(inferOp(SEGMENTS, [fact('float32', [5, 2]), fact('int32', ['n']), fact('int32', ['n']), count])[0])
    expect(infer(id(3))).toEqual([3, 2])
    expect(infer(fact('int32', []))).toEqual(['?', 2])
  })
})
