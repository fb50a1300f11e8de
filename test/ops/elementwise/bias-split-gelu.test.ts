import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const kind: Kind = ['onnx', 'BiasSplitGelu', 1, 'com.microsoft']
const x = new Tensor('float32', [1, -2, 0.5, 3, 0, 1, -1, 2], [1, 2, 4])
const bias = new Tensor('float32', [0.5, 1, -0.5, -4], [4])

// The numbers are those of PyTorch in float64.
test('BiasSplitGelu multiplies the first half of the sums by Gelu of the second', () => {
  const y = runTensor(kind, [x, bias])
  expect(y.dims).toEqual([1, 2, 2])
  expectNear(y, [0, 0.15865525393, -0.05010540095, -0.09100052779])
  expect(runTensor(kind, [iota([0, 2, 4]), bias]).dims).toEqual([0, 2, 2])
  expect(runTensor(kind, [iota([1, 2, 0]), iota([0])]).dims).toEqual([1, 2, 0])
})

test('16-bit floats are rounded once', () => {
  const narrow = [x, bias].map(tensor => convert(tensor, 'float16'))
  expect([...runTensor(kind, narrow).data]).toEqual([...convert(runTensor(kind, [x, bias]), 'float16').data])
})

test('there are two halves, for each element of which there is a bias', () => {
  expect(dimsOf(inferOp(kind, [fact('float32', ['n', 's', '?']), fact('float32', [8])])[0])).toEqual(['n', 's', 4])
  const run = (...inputs: Tensor[]): unknown => errorOf(() => runTensor(kind, inputs)).code
  expect(run(iota([1, 2, 3]), iota([3]))).toBe('dims-mismatch')
  expect(run(x, iota([2]))).toBe('dims-mismatch')
  expect(run(x, iota([1, 4]))).toBe('rank-mismatch')
  expect(run(iota([2, 4]), bias)).toBe('rank-mismatch')
})
