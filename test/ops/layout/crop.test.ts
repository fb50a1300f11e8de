import { expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { iota } from '../values.ts'

const CROP: Kind = ['onnx', 'Crop', 9]
const image = iota([1, 2, 3, 4])
const cropped = (attributes: Record<string, number[]>): Tensor => runTensor(CROP, [image], { attributes })

// The numbers are those of ONNX Runtime 1.32.
test('Crop cuts off left, top, right and bottom', () => {
  const y = cropped({ border: [1, 0, 2, 1] })
  expect([...y.dims, ...y.data]).toEqual([1, 2, 2, 1, 1, 5, 13, 17])
  expect(cropped({ border: [2, 0, 2, 0] }).dims).toEqual([1, 2, 3, 0])
})

test('Crop takes a height and a width from the left and the top on, whatever the other borders are', () => {
  const y = cropped({ border: [1, 1, 0, 0], scale: [2, 2] })
  expect([...y.dims, ...y.data]).toEqual([1, 2, 2, 2, 5, 6, 9, 10, 17, 18, 21, 22])
  expect([...cropped({ border: [1, 2, 1, 2], scale: [1, 1] }).data]).toEqual([9, 21])
  expect(cropped({ border: [0, 0, 0, 0], scale: [0, 2] }).dims).toEqual([1, 2, 0, 2])
})

test('Crop refuses what does not fit, and keeps symbols', () => {
  const code = (attributes: Record<string, number[]>): string => errorOf(() => cropped(attributes)).code
  expect(code({ border: [3, 0, 2, 0] })).toBe('dims-mismatch')
  expect(code({ border: [1, 0, 2, 1], scale: [1, 9] })).toBe('dims-mismatch')
  for (const border of [
    [1, 0],
    [1, 0, 2, 1, 7],
    [-1, 0, 0, 0]
  ])
    expect(code({ border })).toBe('unknown-attribute-value')
  expect(code({})).toBe('unknown-attribute-value')
  expect(code({ border: [0, 0, 0, 0], scale: [3] })).toBe('unknown-attribute-value')
  expect(errorOf(() => runTensor(CROP, [iota([2, 3, 4])], { attributes: { border: [0, 0, 0, 0] } })).code).toBe(
    'rank-mismatch'
  )
  const [y] = inferOp(CROP, [fact('float32', ['n', 'c', 'h', 8])], { attributes: { border: [1, 2, 3, 4] } })
  expect(dimsOf(y)).toEqual(['n', 'c', 'h-6', 4])
})
