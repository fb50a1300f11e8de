import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runTensor } from '../harness.ts'
import { ints } from '../values.ts'

test('Binarizer gives 1 above the threshold', () => {
  const of = (x: Tensor, threshold = 0): unknown[] => [
    ...runTensor(['onnx', 'Binarizer', 1, 'ai.onnx.ml'], [x], { attributes: { threshold } }).data
  ]
  expect(of(new Tensor('float32', [-1, 0, 0.5, NaN]))).toEqual([0, 0, 1, 0])
  expect(of(new Tensor('float64', [1.5, 1.6]), 1.5)).toEqual([0, 1])
  expect(of(new Tensor('int32', [1, 2]), 1.5)).toEqual([0, 1])
  expect(of(ints(2n ** 53n, 2n ** 53n + 1n), 2 ** 53)).toEqual([0n, 1n])
})
