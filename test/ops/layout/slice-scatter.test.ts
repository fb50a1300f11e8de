import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const scatter = (data: Tensor, updates: Tensor, start: Tensor, stop: Tensor, step: Tensor, axes?: Tensor): Tensor =>
  runTensor(['openvino', 'SliceScatter', 15], [data, updates, start, stop, step, ...(axes ? [axes] : [])])

describe('SliceScatter', () => {
  const data = iota([3, 5])

  test('replaces a slice and copies the rest', () => {
    const updates = new Tensor('float32', [50, 60, 70, 80], [2, 2])
    expect([...scatter(data, updates, ints(0, 1), ints(3, 5), ints(2, 2)).data]).toEqual([
      0, 50, 2, 60, 4, 5, 6, 7, 8, 9, 10, 70, 12, 80, 14
    ])
    expect([...data.data]).toEqual([...iota([3, 5]).data])
  })

  test('clamps ends and goes backward', () => {
    const updates = new Tensor('float32', [-1, -2, -3], [3, 1])
    expect([...scatter(data, updates, ints(-25), ints(1), ints(1), ints(-1)).data]).toEqual([
      -1, 1, 2, 3, 4, -2, 6, 7, 8, 9, -3, 11, 12, 13, 14
    ])
    expect([
      ...scatter(iota([4], 'string'), new Tensor('string', ['a', 'b']), ints(3), ints(-100), ints(-2)).data
    ]).toEqual(['0', 'b', '2', 'a'])
    expect([...scatter(iota([2]), iota([0]), ints(1), ints(1), ints(1)).data]).toEqual([0, 1])
  })

  test('updates have just the dims of the slice and the type of the data', () => {
    expect(errorOf(() => scatter(data, iota([1, 5]), ints(0), ints(2), ints(1))).message).toBe(
      'updates have shape [1, 5]; the slice has [2, 5]'
    )
    expect(errorOf(() => scatter(data, iota([5]), ints(0), ints(1), ints(1))).code).toBe('shape-mismatch')
    expect(errorOf(() => scatter(data, iota([1, 5], 'int32'), ints(0), ints(1), ints(1))).code).toBe('type-mismatch')
    expect(errorOf(() => scatter(data, iota([3, 5]), ints(0), ints(3), ints(0))).code).toBe('value-out-of-range')
    expect(errorOf(() => scatter(iota([]), iota([]), ints(), ints(), ints())).code).toBe('rank-zero-data')
  })

  test('the output has the shape of the data', () => {
    expect(
      dimsOf(
        inferOp(
          ['openvino', 'SliceScatter', 15],
          [fact('float32', ['n', 4]), fact('float32', ['k', 4]), ints(0), fact('int64', [1]), ints(1)]
        )[0]
      )
    ).toEqual(['n', 4])
  })
})
