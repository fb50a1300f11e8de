import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const UNFOLD: Kind = ['onnx', 'UnfoldTensor', 1, 'com.microsoft']

test('UnfoldTensor puts the elements of each window last', () => {
  const windows = runTensor(UNFOLD, [iota([2, 5])], { attributes: { size: 3, step: 2 } })
  expect([...windows.dims, ...windows.data]).toEqual([2, 2, 3, 0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9])
  const first = runTensor(UNFOLD, [iota([4, 2], 'int64')], { attributes: { dim: 0, size: 2 } })
  expect([...first.dims, ...first.data].map(Number)).toEqual([3, 2, 2, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7])
  const text = runTensor(UNFOLD, [new Tensor('string', ['a', 'b', 'c'])], { attributes: { dim: -1, size: 2 } })
  expect([...text.data]).toEqual(['a', 'b', 'b', 'c'])
})

test('UnfoldTensor refuses windows that do not fit, and keeps symbols', () => {
  const code = (attributes: Record<string, number>): string =>
    errorOf(() => runTensor(UNFOLD, [iota([4])], { attributes })).code
  expect(code({ size: 5 })).toBe('dims-mismatch')
  expect(code({ size: 0 })).toBe('unknown-attribute-value')
  expect(code({ size: 1, step: 0 })).toBe('unknown-attribute-value')
  expect(code({ size: 1, dim: 1 })).toBe('axis-out-of-range')
  expect(code({})).toBe('missing-attribute')
  const [y] = inferOp(UNFOLD, [fact('float32', ['n', 7])], { attributes: { size: 3, step: 2 } })
  expect(dimsOf(y)).toEqual(['n', 3, 3])
})
