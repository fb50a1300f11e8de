import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['onnx', 'CropAndResize', 1, 'com.microsoft']
const image = iota([1, 1, 2, 3])
const boxes = (...values: number[]): Tensor => new Tensor('float32', values, [values.length / 4, 4])
const ints = (...values: number[]): Tensor => new Tensor('int32', values)

// The numbers are those of ONNX Runtime 1.32.
test('CropAndResize interpolates within each box, and fills what lies outside', () => {
  const inputs = [image, boxes(0, 0, 1, 1, 0, 0.5, 0.5, 1.5), ints(0, 0), ints(2, 2)]
  const y = runTensor(KIND, inputs, { attributes: { extrapolation_value: -1 } })
  expect(y.dims).toEqual([2, 1, 2, 2])
  expectNear(y, [0, 2, 3, 5, 1, -1, 2.5, -1])
  const half = [convert(image, 'float16'), convert(inputs[1], 'float16'), ...inputs.slice(2)]
  expectNear(runTensor(KIND, half, { attributes: { extrapolation_value: -1 } }), [0, 2, 3, 5, 1, -1, 2.5, -1])
})

test('CropAndResize takes the nearest element, and the middle of the box for a crop of one row', () => {
  const inputs = [image, boxes(0, 0, 1, 1, 0.2, 0.3, 0.9, 0.6), ints(0, 0), ints(1, 3)]
  expectNear(runTensor(KIND, inputs, { attributes: { mode: 'nearest' } }), [3, 4, 5, 4, 4, 4])
})

test('CropAndResize reads the image that each box names', () => {
  const inputs = [iota([2, 2, 1, 1]), boxes(0, 0, 1, 1, 0, 0, 1, 1), ints(1, 0), ints(1, 1)]
  expectNear(runTensor(KIND, inputs), [2, 3, 0, 1])
})

test('CropAndResize refuses what does not fit, and keeps symbols', () => {
  const size = ints(2, 2)
  const code = (...inputs: Tensor[]): string => errorOf(() => runTensor(KIND, inputs)).code
  expect(code(image, boxes(0, 0, 1, 1), ints(1), size)).toBe('index-out-of-range')
  expect(code(image, boxes(0, 0, 1, 1), ints(0, 0), size)).toBe('dims-mismatch')
  expect(code(image, iota([1, 3]), ints(0), size)).toBe('dims-mismatch')
  expect(code(iota([1, 2, 3]), boxes(0, 0, 1, 1), ints(0), size)).toBe('rank-mismatch')
  expect(code(image, boxes(0, 0, 1, 1), ints(0), ints(2))).toBe('dims-mismatch')
  expect(code(image, boxes(0, 0, 1, 1), ints(0), ints(2, -1))).toBe('value-out-of-range')
  const facts = [fact('float32', ['n', 'c', 'h', 'w']), fact('float32', ['k', 4]), fact('int32', ['?'])]
  expect(dimsOf(inferOp(KIND, [...facts, size])[0])).toEqual(['k', 'c', 2, 2])
  expect(runTensor(KIND, [image, iota([0, 4]), ints(), size]).dims).toEqual([0, 1, 2, 2])
})
