import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const move = (
  type: 'BatchToSpace' | 'SpaceToBatch',
  data: Tensor,
  block: number[],
  begin: number[],
  end: number[]
): Tensor => runTensor(['openvino', type, 2], [data, ints(...block), ints(...begin), ints(...end)])

describe('BatchToSpace', () => {
  test('moves blocks of the batch into an axis, then crops it', () => {
    const out = move('BatchToSpace', iota([4, 2]), [1, 2], [0, 1], [0, 0])
    expect(out.dims).toEqual([2, 3])
    expect([...out.data]).toEqual([4, 1, 5, 6, 3, 7])
    expect(move('BatchToSpace', iota([10, 2]), [1, 5], [0, 2], [0, 0]).dims).toEqual([2, 8])
    expect(
      move('BatchToSpace', iota([48, 3, 3, 1, 3]), [1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]).dims
    ).toEqual([2, 6, 10, 3, 3])
    expect(move('BatchToSpace', iota([4, 2]), [1, 2], [0, 3], [0, 1]).dims).toEqual([2, 0])
  })

  test('refuses batches that do not divide, crops beyond the axis and blocks of the batch', () => {
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [1, 3], [0, 0], [0, 0])).code).toBe('shape-mismatch')
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [1, 2], [0, 3], [0, 2])).code).toBe('value-out-of-range')
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [2, 2], [0, 0], [0, 0])).code).toBe('value-out-of-range')
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [1, 2], [1, 0], [0, 0])).code).toBe('value-out-of-range')
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [1, 0], [0, 0], [0, 0])).code).toBe('value-out-of-range')
    expect(errorOf(() => move('BatchToSpace', iota([4, 2]), [1, 2, 1], [0, 0], [0, 0])).code).toBe('dims-mismatch')
    expect(errorOf(() => move('BatchToSpace', iota([4]), [1], [0], [0])).code).toBe('rank-mismatch')
  })
})

describe('SpaceToBatch', () => {
  test('pads with zeros and moves blocks into the batch', () => {
    const out = move('SpaceToBatch', iota([2, 3]), [1, 2], [0, 1], [0, 2])
    expect(out.dims).toEqual([4, 3])
    expect([...out.data]).toEqual([0, 1, 0, 0, 4, 0, 0, 2, 0, 3, 5, 0])
    expect(
      move('SpaceToBatch', iota([2, 6, 10, 3, 3]), [1, 2, 4, 3, 1], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0]).dims
    ).toEqual([48, 3, 3, 1, 3])
    expect(errorOf(() => move('SpaceToBatch', iota([2, 3]), [1, 2], [0, 0], [0, 0])).message).toBe(
      'padded axis 1 of size 3 is no multiple of 2'
    )
  })

  test('is undone by BatchToSpace', () => {
    for (const type of ['float32', 'string', 'uint1', 'complex128', 'int64'] as const) {
      const data = iota([2, 3, 4], type)
      const deep = move('SpaceToBatch', data, [1, 2, 3], [0, 1, 0], [0, 0, 2])
      expect(deep.dims).toEqual([12, 2, 2])
      expect([...move('BatchToSpace', deep, [1, 2, 3], [0, 1, 0], [0, 0, 2]).data]).toEqual([...data.data])
    }
  })

  test('keeps symbols', () => {
    const of = (type: string, dims: readonly (number | string)[], ...lists: Parameters<typeof inferOp>[1]): unknown =>
      dimsOf(inferOp(['openvino', type, 2], [fact('float32', dims), ...lists])[0])
    expect(of('SpaceToBatch', ['n', 4], ints(1, 2), ints(0, 1), ints(0, 1))).toEqual(['2*n', 3])
    expect(of('BatchToSpace', ['n', 'm'], ints(1, 1), ints(0, 0), ints(0, 1))).toEqual(['n', 'm-1'])
    expect(of('BatchToSpace', [8, 4], fact('int64', ['k']), ints(0, 0), ints(0, 0))).toEqual(['?', '?'])
  })
})
