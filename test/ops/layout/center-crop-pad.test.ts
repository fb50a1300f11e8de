import { expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const fit = (data: Tensor, shape: number[], axes?: number[]): Tensor =>
  runTensor(['onnx', 'CenterCropPad', 18], [data, ints(...shape)], axes ? { attributes: { axes } } : {})

test('CenterCropPad keeps the middle', () => {
  expect([...fit(iota([7]), [4]).data]).toEqual([1, 2, 3, 4])
  expect([...fit(iota([4]), [7]).data]).toEqual([0, 0, 1, 2, 3, 0, 0])
  expect([...fit(iota([2, 4]), [3, 2]).data]).toEqual([1, 2, 5, 6, 0, 0])
  expect([...fit(iota([2, 4], 'string'), [3], [-1]).data]).toEqual(['0', '1', '2', '4', '5', '6'])
  expect(fit(iota([2]), [0]).dims).toEqual([0])
})

test('CenterCropPad refuses negative sizes, other lengths and far axes', () => {
  expect(errorOf(() => fit(iota([2]), [-1])).code).toBe('value-out-of-range')
  expect(errorOf(() => fit(iota([2, 2]), [1])).code).toBe('dims-mismatch')
  expect(errorOf(() => fit(iota([2, 2]), [1], [2])).code).toBe('axis-out-of-range')
})

test('CenterCropPad gives the shape that is asked for', () => {
  const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['k'])])
  const of = (
    data: readonly (number | string)[] | undefined,
    shape: Parameters<typeof inferOp>[1][number],
    axes?: number[]
  ): unknown =>
    dimsOf(
      inferOp(['onnx', 'CenterCropPad', 18], [fact('float32', data), shape], axes ? { attributes: { axes } } : {})[0]
    )
  expect(of(['n', 4], dims, [1])).toEqual(['n', 'k'])
  expect(of(['n', 4], fact('int64', ['q']), [1])).toEqual(['n', '?'])
  expect(of(undefined, ints(2, 3))).toEqual(['?', '?'])
  expect(of(undefined, ints(2), [0])).toBeUndefined()
})
