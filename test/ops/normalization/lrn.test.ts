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

test.each([
  [3, 0.75],
  [4, 0.75],
  [5, 0.6],
  [40, 0.75]
])('a window of %i channels, power %d: the same however many elements lie beyond the channels', (size, beta) => {
  const attributes = { size, alpha: 2, beta, bias: 1 }
  const channels = Array.from({ length: 7 }, (_, i) => Math.sin(i))
  const one = runTensor(['onnx', 'LRN', 13], [new Tensor('float32', channels, [1, 7, 1, 1])], { attributes })
  const planes = channels.flatMap(value => new Array<number>(40).fill(value))
  const all = runTensor(['onnx', 'LRN', 13], [new Tensor('float32', [...planes, ...planes], [2, 7, 5, 8])], {
    attributes
  })
  expect([...all.data]).toEqual(
    [0, 1].flatMap(() => Array.from(one.data as Float32Array, value => new Array<number>(40).fill(value)).flat())
  )
  const first = runTensor(['onnx', 'LRN', 13], [new Tensor('float32', [1, ...channels.slice(1)], [1, 7])], {
    attributes
  })
  const sum = channels.slice(0, size - Math.floor((size - 1) / 2)).reduce((a, b) => a + b * b, 1)
  expect(Number(first.data[0])).toBeCloseTo((1 + (2 / size) * sum) ** -beta, 6)
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

test('in IR the region of an even size has one element less, as many on both sides, as in OpenVINO', () => {
  const of = (size: number): Tensor =>
    runTensor(['openvino', 'LRN', 1], [x, ints(1)], { attributes: { size, alpha: size, beta: 1, bias: 1 } })
  expectNear(of(2), [1 / 2, 2 / 5, 3 / 10, 4 / 17])
  expectNear(of(4), [1 / 6, 2 / 15, 3 / 30, 4 / 26])
  expectNear(of(3), [1 / 6, 2 / 15, 3 / 30, 4 / 26])
})

test('a size below 1 is refused', () => {
  expect(errorOf(() => runTensor(['onnx', 'LRN', 13], [x], { attributes: { size: 0 } })).code).toBe(
    'unknown-attribute-value'
  )
})
