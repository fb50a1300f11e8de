import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const [a, b] = [iota([2, 3]), iota([3, 2])]
const product = [10, 13, 28, 40]

describe('Gemm', () => {
  test('scales the product and what is added', () => {
    const c = new Tensor('float32', [1, 2])
    expect(list(runTensor(['onnx', 'Gemm', 13], [a, b, c]))).toEqual([11, 15, 29, 42])
    const attributes = { alpha: 0.5, beta: 2 }
    expect(list(runTensor(['onnx', 'Gemm', 13], [a, b, c], { attributes }))).toEqual([7, 10.5, 16, 24])
    expect(list(runTensor(['onnx', 'Gemm', 11], [a, b], { attributes }))).toEqual(product.map(x => x / 2))
  })

  test('transposes either factor', () => {
    const attributes = { transA: 1, transB: 1 }
    expect(list(runTensor(['onnx', 'Gemm', 13], [iota([3, 2]), iota([2, 3])], { attributes }))).toEqual([
      10, 28, 13, 40
    ])
  })

  test('C is broadcast one way from version 7 on, before only with broadcast', () => {
    const column = new Tensor('float32', [1, 2], [2, 1])
    expect(list(runTensor(['onnx', 'Gemm', 9], [a, b, column]))).toEqual([11, 14, 30, 42])
    expect(list(runTensor(['onnx', 'Gemm', 6], [a, b, column], { attributes: { broadcast: 1 } }))).toEqual([
      11, 14, 30, 42
    ])
    expect(errorOf(() => runTensor(['onnx', 'Gemm', 6], [a, b, column])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(['onnx', 'Gemm', 13], [a, b, iota([3, 2, 2])])).code).toBe('shape-mismatch')
    expect(errorOf(() => runTensor(['onnx', 'Gemm', 9], [a, b])).code).toBe('wrong-input-count')
  })

  test('a beta of 0 ignores C, infinities too', () => {
    expect(
      list(runTensor(['onnx', 'Gemm', 13], [a, b, new Tensor('float32', [Infinity])], { attributes: { beta: 0 } }))
    ).toEqual(product)
  })

  test('integers are exact with scales of 1', () => {
    const big = new Tensor('int64', [2n ** 53n + 1n], [1, 1])
    const one = new Tensor('int64', [1n], [1, 1])
    expect(list(runTensor(['onnx', 'Gemm', 13], [big, one, one]))).toEqual([2n ** 53n + 2n])
    expect(list(runTensor(['onnx', 'Gemm', 13], [one, one, one], { attributes: { alpha: 2.5, beta: 2 } }))).toEqual([
      4n
    ])
  })

  test('factors must be matrices that fit', () => {
    expect(errorOf(() => runTensor(['onnx', 'Gemm', 13], [iota([3]), b])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(['onnx', 'Gemm', 13], [a, a])).code).toBe('shape-mismatch')
  })

  test('shapes stay symbolic', () => {
    const inputs = [fact('float32', ['k', 'm']), fact('float32', ['k', 'n']), fact('float32', ['n'])]
    expect(dimsOf(inferOp(['onnx', 'Gemm', 13], inputs, { attributes: { transA: 1 } })[0])).toEqual(['m', 'n'])
    const unknown = fact('float32', ['?', '?'])
    expect(dimsOf(inferOp(['onnx', 'Gemm', 13], [unknown, unknown, fact('float32', [1, 8])])[0])).toEqual(['?', 8])
  })
})
