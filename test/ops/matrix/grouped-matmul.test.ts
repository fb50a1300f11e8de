import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const kind = ['openvino', 'GroupedMatMul', 17] as const
const ends = (...values: number[]): Tensor => new Tensor('int32', values)

test('each group of rows is multiplied by its own transposed weights; rows beyond the last group are zero', () => {
  const weights = new Tensor('float32', [1, 0, 0, 1, 2, 0, 0, 2, 1, 1, 1, -1], [3, 2, 2])
  expect([...runTensor(kind, [iota([5, 2]), weights, ends(1, 1, 4)]).data]).toEqual([0, 1, 5, -1, 9, -1, 13, -1, 0, 0])
})

test('without offsets groups are the first dim', () => {
  const weights = new Tensor('float32', [1, 1, 2, -2], [2, 1, 2])
  const product = runTensor(kind, [iota([2, 2, 2]), weights])
  expect(product.dims).toEqual([2, 2, 1])
  expect([...product.data]).toEqual([1, 5, -2, -2])
})

test('integers and half precision are multiplied, too', () => {
  expect([...runTensor(kind, [iota([2, 2], 'int64'), iota([1, 1, 2], 'int64'), ends(2)]).data]).toEqual([1n, 3n])
  const half = (dims: number[], ...bits: number[]): Tensor => new Tensor('float16', bits, dims)
  expect([...runTensor(kind, [half([1, 1], 0x3e00), half([1, 1, 1], 0x4000), ends(1)]).data]).toEqual([0x4200])
})

test('shapes keep symbols, and what does not fit is refused', () => {
  const b = fact('float32', ['g', 'n', 'k'])
  expect(dimsOf(inferOp(kind, [fact('float32', ['t', 'k']), b, fact('int32', ['g'])])[0])).toEqual(['t', 'n'])
  expect(dimsOf(inferOp(kind, [fact('float32', ['g', 'm', 'k']), b])[0])).toEqual(['g', 'm', 'n'])
  expect(errorOf(() => inferOp(kind, [fact('float32', ['t', 'k']), b])).code).toBe('rank-mismatch')
  expect(errorOf(() => runTensor(kind, [iota([2, 2]), iota([1, 1, 3]), ends(2)])).code).toBe('shape-mismatch')
  expect(errorOf(() => runTensor(kind, [iota([2, 2]), iota([2, 1, 2]), ends(2)])).code).toBe('dims-mismatch')
  for (const wrong of [ends(1, 3), ends(2, 1), ends(-1, 2)]) {
    expect(errorOf(() => runTensor(kind, [iota([2, 2]), iota([2, 1, 2]), wrong])).code).toBe('value-out-of-range')
    expect(errorOf(() => inferOp(kind, [iota([2, 2]), iota([2, 1, 2]), wrong])).code).toBe('value-out-of-range')
  }
})
