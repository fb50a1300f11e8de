import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar } from '../values.ts'

const roll = (data: Tensor, shift: Tensor, axes: Tensor): unknown[] => [
  ...runTensor(['openvino', 'Roll', 7], [data, shift, axes]).data
]
const data = iota([4, 3])

test('Roll moves elements round along axes', () => {
  expect(roll(data, scalar(1), scalar(0))).toEqual([9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8])
  expect(roll(data, ints(-1, 2), ints(0, 1))).toEqual([4, 5, 3, 7, 8, 6, 10, 11, 9, 1, 2, 0])
  expect(roll(data, ints(-5, 8), ints(-2, -1))).toEqual([4, 5, 3, 7, 8, 6, 10, 11, 9, 1, 2, 0])
  expect(roll(iota([3], 'string'), new Tensor('int32', [4]), ints(0))).toEqual(['2', '0', '1'])
  expect(roll(iota([0, 2]), ints(1), ints(0))).toEqual([])
})

test('shifts of one axis add up, one shift serves all axes', () => {
  expect(roll(data, ints(1, 2, 1), ints(0, 1, 0))).toEqual([7, 8, 6, 10, 11, 9, 1, 2, 0, 4, 5, 3])
  expect(roll(data, scalar(1), ints(0, 1))).toEqual([11, 9, 10, 2, 0, 1, 5, 3, 4, 8, 6, 7])
})

test('Roll refuses far axes, other numbers of shifts and other index types', () => {
  expect(errorOf(() => roll(data, ints(1), ints(2))).code).toBe('axis-out-of-range')
  expect(errorOf(() => roll(data, ints(1, 2), ints(0))).code).toBe('dims-mismatch')
  expect(errorOf(() => roll(data, new Tensor('int8', [1]), ints(0))).code).toBe('type-not-allowed')
  expect(
    dimsOf(inferOp(['openvino', 'Roll', 7], [fact('float32', ['n', 2]), fact('int64', ['k']), fact('int64', ['k'])])[0])
  ).toEqual(['n', 2])
})
