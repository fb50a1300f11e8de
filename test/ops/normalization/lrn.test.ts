import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints, iota } from '../values.ts'

const x = new Tensor('float32', [1, 2, 3, 4], [1, 4, 1, 1])

test('the sum goes over the channels around each, more after than before for even sizes', () => {
  const attributes = { size: 3, alpha: 3, beta: 1, bias: 1 }
  expectNear(runTensor(['onnx', 'LRN', 13], [x], { attributes }), [1 / 6, 2 / 15, 3 / 30, 4 / 26])
  expectNear(runTensor(['onnx', 'LRN', 1], [x], { attributes: { ...attributes, size: 2, alpha: 2 } }), [
    1 / 6,
    2 / 14,
    3 / 26,
    4 / 17
  ])
})

test('in IR the region spans the given axes', () => {
  const attributes = { size: 3, alpha: 9, beta: 1, bias: 0 }
  const out = runTensor(['openvino', 'LRN', 1], [iota([1, 1, 2, 2]), ints(2, 3)], { attributes })
  expectNear(out, [0, 1 / 14, 2 / 14, 3 / 14])
  expectNear(
    runTensor(['openvino', 'LRN', 1], [iota([1, 2]), ints(-1)], { attributes: { ...attributes, alpha: 3, bias: 1 } }),
    [0, 0.5]
  )
})

test('a size below 1 is refused', () => {
  expect(errorOf(() => runTensor(['onnx', 'LRN', 13], [x], { attributes: { size: 0 } })).code).toBe(
    'unknown-attribute-value'
  )
})
