import { expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const kind: Kind = ['onnx', 'MaxpoolWithMask', 1, 'com.microsoft']
const lowest = Math.fround(-3.4028234663852886e38)
const mask = (values: number[], dims: number[]): Tensor => new Tensor('int32', values, dims)
const list = (tensor: Tensor): unknown[] => [...tensor.data]

test('a window of MaxpoolWithMask ends where the mask does', () => {
  const attributes = { kernel_shape: [2] }
  expect(list(runTensor(kind, [iota([1, 1, 4]), mask([1, 1, 0, 1], [1, 1, 4])], { attributes }))).toEqual([
    1,
    1,
    lowest
  ])
})

test('the first element of a plane of two axes counts whatever its mask', () => {
  const result = runTensor(kind, [iota([1, 1, 2, 4]), mask([0, 0, 1, 1, 1, 0, 0, 1], [1, 1, 2, 4])], {
    attributes: { kernel_shape: [2, 2], strides: [2, 2] }
  })
  expect(list(result)).toEqual([4, 3])
})

test('a mask of one plane serves all; padding has no elements; NaN is passed over', () => {
  const x = new Tensor('float32', [NaN, 1, 2, 3, 4, 5], [1, 2, 3])
  const attributes = { kernel_shape: [2], pads: [1, 1] }
  expect(list(runTensor(kind, [x, mask([1, 1, 0], [1, 1, 3])], { attributes }))).toEqual([
    lowest,
    1,
    1,
    lowest,
    3,
    4,
    4,
    lowest
  ])
})

test('three axes', () => {
  const ones = mask(new Array<number>(27).fill(1), [1, 1, 3, 3, 3])
  const result = runTensor(kind, [iota([1, 1, 3, 3, 3]), ones], { attributes: { kernel_shape: [2, 2, 2] } })
  expect(list(result)).toEqual([13, 14, 16, 17, 22, 23, 25, 26])
})

test('MaxpoolWithMask infers what MaxPool infers; the mask has the spatial dims of the data', () => {
  const attributes = { kernel_shape: [3] }
  const x = fact('float32', ['n', 2, 'w'])
  expect(dimsOf(inferOp(kind, [x, fact('int32', [1, 1, 'w'])], { attributes })[0])).toEqual(['n', 2, 'w-2'])
  const failing = (m: ReturnType<typeof fact>): string =>
    errorOf(() => inferOp(kind, [fact('float32', ['n', 2, 8]), m], { attributes })).code
  expect(failing(fact('int32', [1, 8]))).toBe('rank-mismatch')
  expect(failing(fact('int32', [1, 1, 7]))).toBe('dims-mismatch')
  expect(failing(fact('int32', [1, 0, 8]))).toBe('dims-mismatch')
  expect(runTensor(kind, [allocate('float32', [0, 2, 8]), mask([], [0, 1, 8])], { attributes }).dims).toEqual([0, 2, 6])
})
