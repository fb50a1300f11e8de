import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const reverse = (data: Tensor, axes: Tensor, mode?: string): unknown[] => [
  ...runTensor(['openvino', 'Reverse', 1], [data, axes], mode ? { attributes: { mode } } : {}).data
]
const mask = (...flags: number[]): Tensor => new Tensor('bool', flags)

test('Reverse turns axes round that are given by index or by mask', () => {
  expect(reverse(iota([2, 3]), ints(1), 'index')).toEqual([2, 1, 0, 5, 4, 3])
  expect(reverse(iota([2, 3]), ints(1, 0), 'index')).toEqual([5, 4, 3, 2, 1, 0])
  expect(reverse(iota([2, 3]), mask(1, 0), 'mask')).toEqual([3, 4, 5, 0, 1, 2])
  expect(reverse(iota([2, 3], 'string'), ints(), 'index')).toEqual(['0', '1', '2', '3', '4', '5'])
  expect(reverse(iota([2]), scalar(0))).toEqual([1, 0])
  expect(reverse(iota([0, 2]), ints(0), 'index')).toEqual([])
})

test('Reverse refuses far axes and masks of another length', () => {
  expect(errorOf(() => reverse(iota([2, 3]), ints(2), 'index')).code).toBe('axis-out-of-range')
  expect(errorOf(() => reverse(iota([2, 3]), ints(-1), 'index')).code).toBe('axis-out-of-range')
  expect(errorOf(() => reverse(iota([2, 3]), ints(0, 1, 0), 'index')).code).toBe('dims-mismatch')
  expect(errorOf(() => reverse(iota([2, 3]), mask(1), 'mask')).code).toBe('dims-mismatch')
  expect(errorOf(() => reverse(iota([2]), iota([1]), 'index')).code).toBe('type-not-allowed')
})

test('Reverse keeps symbols and moves values that are partly known', () => {
  const [dims] = inferOp(['openvino', 'ShapeOf', 1], [fact('float32', ['n', 2])])
  expect(valuesOf(inferOp(['openvino', 'Reverse', 1], [dims, ints(0)])[0])).toEqual([2n, 'n'])
  expect(dimsOf(inferOp(['openvino', 'Reverse', 1], [fact('float32', ['n', 2]), fact('int64', ['k'])])[0])).toEqual([
    'n',
    2
  ])
})
