import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['onnx', 'DynamicTimeWarping', 1, 'com.microsoft']
const path = (values: number[], dims: number[]): number[] => {
  const { data, dims: found } = runTensor(KIND, [new Tensor('float32', values, dims)])
  expect(found).toEqual([2, data.length / 2])
  return [...data] as number[]
}

// The paths are those of ONNX Runtime 1.32.
test('DynamicTimeWarping finds the path of least cost', () => {
  expect(path([1, 9, 9, 1, 9, 1, 9, 1, 1], [3, 3])).toEqual([0, 1, 2, 2, 0, 0, 1, 2])
  expect(path([1, 2, 3], [1, 3])).toEqual([0, 0, 0, 0, 1, 2])
  expect(path([1, 2, 3], [3, 1])).toEqual([0, 1, 2, 0, 0, 0])
})

test('of steps of the same cost DynamicTimeWarping takes that to the next column', () => {
  expect(path([1, 1, 1, 1, 1, 1], [1, 2, 3])).toEqual([0, 1, 1, 0, 1, 2])
})

test('DynamicTimeWarping takes a matrix, and knows the bounds of the length', () => {
  expect(errorOf(() => runTensor(KIND, [iota([4])])).code).toBe('rank-mismatch')
  expect(errorOf(() => runTensor(KIND, [iota([2, 2, 2])])).code).toBe('dims-mismatch')
  const [y] = inferOp(KIND, [fact('float32', [1, 3, 5])])
  expect(y).toMatchObject({ type: 'int32', shape: [2, { min: 5, max: 7 }] })
  expect(runTensor(KIND, [iota([0, 0])]).dims).toEqual([2, 0])
})

test('a path of DynamicTimeWarping stays in the matrix where all paths cost as much, or nobody knows how much', () => {
  expect(path(new Array<number>(6).fill(Infinity), [2, 3])).toEqual([0, 1, 1, 1, 0, 0, 1, 2])
  expect(path(new Array<number>(6).fill(NaN), [2, 3]).slice(-4)).toEqual([0, 0, 1, 2])
})
