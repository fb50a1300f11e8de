import { expect, test } from 'vitest'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const flat = (version: number, axis: number): readonly number[] =>
  runTensor(['onnx', 'Flatten', version], [iota([2, 3, 4])], { attributes: { axis } }).dims

test('Flatten makes a matrix', () => {
  expect(runTensor(['onnx', 'Flatten', 1], [iota([2, 3, 4])]).dims).toEqual([2, 12])
  expect(flat(9, 0)).toEqual([1, 24])
  expect(flat(9, 3)).toEqual([24, 1])
  expect(runTensor(['onnx', 'Flatten', 13], [iota([])], { attributes: { axis: 0 } }).dims).toEqual([1, 1])
})

test('a negative axis came with version 11, other types than float with 9', () => {
  expect(flat(11, -1)).toEqual([6, 4])
  expect(flat(21, -3)).toEqual([1, 24])
  expect(errorOf(() => flat(9, -1)).message).toBe('axis -1 is out of range for rank 3; expected 0..3')
  expect(errorOf(() => flat(11, 4)).code).toBe('axis-out-of-range')
  expect(errorOf(() => runTensor(['onnx', 'Flatten', 1], [iota([2], 'int32')])).code).toBe('type-not-allowed')
})

test('Flatten multiplies symbolic dims', () => {
  const of = (dims?: readonly (number | string)[]): unknown =>
    dimsOf(inferOp(['onnx', 'Flatten', 13], [fact('float32', dims)])[0])
  expect(of(['n', 3, 'h', 'h'])).toEqual(['n', '3*h*h'])
  expect(of()).toEqual(['?', '?'])
})
