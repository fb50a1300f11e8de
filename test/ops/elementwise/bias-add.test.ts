import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const kind: Kind = ['onnx', 'BiasAdd', 1, 'com.microsoft']
const x = iota([2, 1, 3])
const bias = new Tensor('float32', [10, 20, 30], [3])
const skip = new Tensor('float32', [100, 200, 300, 400, 500, 600], [2, 1, 3])

test('BiasAdd adds a number for each channel and a tensor of the same dims', () => {
  const y = runTensor(kind, [x, bias, skip])
  expect(y.dims).toEqual([2, 1, 3])
  expect([...y.data]).toEqual([110, 221, 332, 413, 524, 635])
  for (const dims of [
    [0, 1, 3],
    [2, 0, 3]
  ])
    expect(runTensor(kind, [iota(dims), bias, iota(dims)]).dims).toEqual(dims)
  expect(runTensor(kind, [iota([2, 1, 0]), iota([0]), iota([2, 1, 0])]).dims).toEqual([2, 1, 0])
})

test('16-bit floats are rounded once', () => {
  const [a, b, c] = [1, 2 ** -11, 2 ** -12].map(value => new Tensor('float32', [value], [1, 1, 1]))
  const inputs = [a, new Tensor('float32', b.data, [1]), c].map(tensor => convert(tensor, 'float16'))
  expect(convert(runTensor(kind, inputs), 'float32').data[0]).toBe(1 + 2 ** -10)
})

test('the dims are those of all operands together', () => {
  const facts = [fact('float32', ['n', '?', '?']), fact('float32', [8]), fact('float32', ['?', 5, '?'])]
  expect(dimsOf(inferOp(kind, facts)[0])).toEqual(['n', 5, 8])
  const run = (...inputs: Tensor[]): unknown => errorOf(() => runTensor(kind, inputs)).code
  expect(run(x, iota([2]), skip)).toBe('dims-mismatch')
  expect(run(x, iota([1]), skip)).toBe('dims-mismatch')
  expect(run(x, bias, iota([1, 1, 3]))).toBe('dims-mismatch')
  expect(run(x, bias, iota([3]))).toBe('rank-mismatch')
  expect(run(x, iota([1, 3]), skip)).toBe('rank-mismatch')
  expect(run(iota([2, 3]), bias, iota([2, 3]))).toBe('rank-mismatch')
})
