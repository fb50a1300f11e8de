import { expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const matrix = (values: number[], dims: number[]): Tensor => new Tensor('float32', values, dims)

test('Det is the determinant of each matrix', () => {
  expect([...runTensor(['onnx', 'Det', 11], [matrix([1, 2, 3, 4, 0, 1, 1, 0], [2, 2, 2])]).data]).toEqual([-2, -1])
  expect(runTensor(['onnx', 'Det', 11], [matrix([1, 2, 3, 4], [2, 2])]).dims).toEqual([])
  expect([...runTensor(['onnx', 'Det', 11], [matrix([2, 0, 1, 1, 3, 2, 1, 1, 4], [3, 3])]).data]).toEqual([18])
  expect([...runTensor(['onnx', 'Det', 11], [matrix([1, 2, 2, 4], [2, 2])]).data]).toEqual([0])
})

test('the determinant of an empty matrix is 1', () => {
  expect([...runTensor(['onnx', 'Det', 11], [allocate('float32', [2, 0, 0])]).data]).toEqual([1, 1])
})

test('Inverse times the matrix is the identity; adjoint transposes it', () => {
  const x = matrix([0, 2, 4, 1], [1, 2, 2])
  expect([...runTensor(['openvino', 'Inverse', 14], [x]).data]).toEqual([-0.125, 0.25, 0.5, 0])
  expect([...runTensor(['openvino', 'Inverse', 14], [x], { attributes: { adjoint: true } }).data]).toEqual([
    -0.125, 0.5, 0.25, 0
  ])
})

test('a matrix without inverse is named', () => {
  const error = errorOf(() => runTensor(['openvino', 'Inverse', 14], [matrix([1, 0, 0, 1, 1, 1, 1, 1], [2, 2, 2])]))
  expect(error.code).toBe('value-out-of-range')
  expect(error.message).toContain('matrix 1')
})

test('matrices must be square', () => {
  expect(dimsOf(inferOp(['onnx', 'Det', 11], [fact('float32', ['n', 3, 3])])[0])).toEqual(['n'])
  expect(errorOf(() => inferOp(['onnx', 'Det', 11], [fact('float32', [3, 4])])).code).toBe('dims-mismatch')
  expect(errorOf(() => inferOp(['openvino', 'Inverse', 14], [fact('float32', [3])])).code).toBe('rank-mismatch')
})
