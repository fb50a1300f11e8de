import { expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const kind: Kind = ['onnx', 'NhwcMaxPool', 1, 'com.microsoft']

test('NhwcMaxPool takes the highest of each window, channel by channel', () => {
  const x = new Tensor('int8', [1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6], [1, 2, 3, 2])
  const result = runTensor(kind, [x], { attributes: { kernel_shape: [2, 2] } })
  expect(result.dims).toEqual([1, 1, 2, 2])
  expect([...result.data]).toEqual([5, -1, 6, -2])
})

test('padding is below every element, also below the lowest', () => {
  const x = new Tensor('int8', [-128, -100], [1, 2, 1])
  expect([...runTensor(kind, [x], { attributes: { kernel_shape: [2], pads: [1, 0] } }).data]).toEqual([-128, -100])
})

test('strides, dilations and ceil_mode are those of MaxPool', () => {
  const x = new Tensor('uint8', [1, 9, 2, 8, 3, 7], [1, 6, 1])
  const run = (attributes: Record<string, number | number[]>): unknown[] => [
    ...runTensor(kind, [x], { attributes: { kernel_shape: [2], ...attributes } }).data
  ]
  expect(run({ dilations: [2] })).toEqual([2, 9, 3, 8])
  expect(run({ strides: [4], ceil_mode: 1 })).toEqual([9, 7])
  expect(run({ strides: [5], ceil_mode: 1 })).toEqual([9, 7])
})

test('NhwcMaxPool infers the dims with the channels last', () => {
  const attributes = { kernel_shape: [2, 3] }
  expect(dimsOf(inferOp(kind, [fact('uint8', ['n', 'h', 8, 'c'])], { attributes })[0])).toEqual(['n', 'h-1', 6, 'c'])
  expect(errorOf(() => inferOp(kind, [fact('uint8', [1, 8, 3])], { attributes })).code).toBe('rank-mismatch')
  expect(runTensor(kind, [allocate('uint8', [0, 4, 4, 2])], { attributes }).dims).toEqual([0, 3, 2, 2])
})
