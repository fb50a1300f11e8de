import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

test('ErfInv is an operator of opset17, on floats', () => {
  const out = runTensor(['openvino', 'ErfInv', 17], [new Tensor('float32', [0, 0.5, 1], [3, 1])])
  expect(out.dims).toEqual([3, 1])
  expect([...out.data]).toEqual([0, Math.fround(0.4769362762044699), Infinity])
  expect(dimsOf(inferOp(['openvino', 'ErfInv', 17], [fact('float16', ['n', 2])])[0])).toEqual(['n', 2])
  expect(errorOf(() => runTensor(['openvino', 'ErfInv', 17], [new Tensor('int32', [0])])).code).toBe('type-not-allowed')
  expect(errorOf(() => runTensor(['openvino', 'ErfInv', 16], [new Tensor('float32', [0])])).code).toBe('unsupported-op')
})

test('of older operators opset17 has those that its draft lists', () => {
  expect([
    ...runTensor(['openvino', 'Convert', 17], [new Tensor('float32', [1.5])], {
      attributes: { destination_type: 'i32' }
    }).data
  ]).toEqual([1])
  expect(errorOf(() => runTensor(['openvino', 'Relu', 17], [new Tensor('float32', [1.5])])).code).toBe('unsupported-op')
})
