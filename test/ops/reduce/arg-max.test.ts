import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const data = new Tensor('float32', [3, 1, 3, 0, 5, 5], [2, 3])
const numbers = (name: string, tensor: Tensor, attributes: Record<string, number> = {}): number[] =>
  [...runTensor(['onnx', name, 13], [tensor], { attributes }).data].map(Number)

describe('ArgMax and ArgMin', () => {
  test('give the first best index, or the last', () => {
    expect(numbers('ArgMax', data, { axis: 1 })).toEqual([0, 1])
    expect(numbers('ArgMax', data, { axis: -1, select_last_index: 1 })).toEqual([2, 2])
    expect(numbers('ArgMin', data)).toEqual([1, 0, 0])
  })

  test('keep the axis unless told otherwise', () => {
    expect(runTensor(['onnx', 'ArgMax', 1], [data]).dims).toEqual([1, 3])
    expect(runTensor(['onnx', 'ArgMax', 1], [data], { attributes: { keepdims: 0 } }).dims).toEqual([3])
    expect(
      dimsOf(inferOp(['onnx', 'ArgMin', 13], [fact('float32', ['n', 4])], { attributes: { axis: 1, keepdims: 0 } })[0])
    ).toEqual(['n'])
  })

  test('NaN is the best', () => {
    const some = new Tensor('float64', [1, NaN, 3, NaN])
    for (const name of ['ArgMax', 'ArgMin']) {
      expect(numbers(name, some)).toEqual([1])
      expect(numbers(name, some, { select_last_index: 1 })).toEqual([3])
    }
  })

  test('compare 64-bit integers exactly', () => {
    expect(numbers('ArgMax', new Tensor('int64', [2n ** 60n, 2n ** 60n + 1n]))).toEqual([1])
    expect(numbers('ArgMin', new Tensor('int64', [-(2n ** 60n), -(2n ** 60n) - 1n]))).toEqual([1])
  })

  test('an empty axis has no best element, an empty output needs none', () => {
    expect(errorOf(() => runTensor(['onnx', 'ArgMax', 13], [allocate('float32', [0, 2])])).code).toBe(
      'value-out-of-range'
    )
    expect(runTensor(['onnx', 'ArgMax', 13], [allocate('float32', [0, 0])]).dims).toEqual([1, 0])
    expect(
      errorOf(() => runTensor(['onnx', 'ArgMax', 11], [data], { attributes: { select_last_index: 1 } })).code
    ).toBe('unknown-attribute-value')
  })
})
