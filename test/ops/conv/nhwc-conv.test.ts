import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const kind: Kind = ['onnx', 'NhwcConv', 1, 'com.microsoft']
const x = iota([1, 3, 4, 2])
const w = new Tensor(
  'float32',
  [1, -1, 0, 2, 2, 0, -1, 1, 0, 1, 1, 0, -2, 1, 3, -1, 1, 1, 1, 1, 1, 1, 1, 1],
  [3, 2, 2, 2]
)
const bias = new Tensor('float32', [10, 20, 30], [3])

// The numbers are those of PyTorch.
test('NhwcConv is Conv of data and weights whose channels come last', () => {
  const y = runTensor(kind, [x, w, bias])
  expect(y.dims).toEqual([1, 2, 3, 3])
  expect([...y.data]).toEqual([32, 35, 74, 40, 41, 90, 48, 47, 106, 64, 59, 138, 72, 65, 154, 80, 71, 170])
  const half = runTensor(
    kind,
    [x, w, bias].map(tensor => convert(tensor, 'float16'))
  )
  expect([...convert(half, 'float32').data]).toEqual([...y.data])
})

test('NhwcConv of groups, strides and padding', () => {
  const weights = new Tensor('float32', [1, 0, 2, -1, 0, 1, -2, 3], [2, 2, 2, 1])
  const y = runTensor(kind, [x, weights], { attributes: { group: 2, strides: [2, 2], pads: [1, 1, 1, 1] } })
  expect(y.dims).toEqual([1, 2, 3, 2])
  expect([...y.data]).toEqual([0, 3, 0, 9, 12, -14, -16, 60, 26, 38, 58, -46])
})

test('NhwcConv of one axis, and of empty data', () => {
  const line = runTensor(kind, [iota([1, 3, 2]), new Tensor('float32', [1, 10, 100, 1000], [1, 2, 2])])
  expect(line.dims).toEqual([1, 2, 1])
  expect([...line.data]).toEqual([3210, 5432])
  expect(runTensor(kind, [iota([0, 3, 4, 2]), w, bias]).dims).toEqual([0, 2, 3, 3])
  const none = runTensor(kind, [iota([1, 3, 4, 0]), iota([3, 2, 2, 0]), bias])
  expect([...none.data].slice(0, 4)).toEqual([10, 20, 30, 10])
})

test('NhwcConv infers the dims with the channels last, and says what does not fit', () => {
  const facts = [fact('float32', ['n', 'h', 8, '?']), fact('float32', [5, 3, 3, 4]), fact('float32', [5])]
  expect(dimsOf(inferOp(kind, facts)[0])).toEqual(['n', 'h-2', 6, 5])
  const attributes = { auto_pad: 'SAME_UPPER', strides: [2, 2] }
  expect(dimsOf(inferOp(kind, [fact('float32', [1, 7, 8, 4]), facts[1]], { attributes })[0])).toEqual([1, 4, 4, 5])
  const run = (...inputs: Tensor[]): unknown => errorOf(() => runTensor(kind, inputs)).code
  expect(run(x, iota([3, 2, 2, 1]))).toBe('dims-mismatch')
  expect(run(x, w, iota([2]))).toBe('dims-mismatch')
  expect(run(x, iota([3, 2, 2]))).toBe('rank-mismatch')
  expect(run(iota([3, 2]), iota([3, 2]))).toBe('rank-mismatch')
  expect(run(x, iota([3, 4, 2, 2]))).toBe('shape-mismatch')
  expect(errorOf(() => runTensor(kind, [x, w], { attributes: { kernel_shape: [2, 3] } })).code).toBe('dims-mismatch')
  expect(errorOf(() => runTensor(kind, [x, w], { attributes: { group: 2 } })).code).toBe('dims-mismatch')
})
