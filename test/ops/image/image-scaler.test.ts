import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const KIND: Kind = ['onnx', 'ImageScaler', 9]
const image = iota([1, 2, 2, 2])

// The numbers are those of ONNX Runtime 1.32.
test('ImageScaler scales all and adds a bias to each channel', () => {
  const attributes = { bias: [1, -1], scale: 2 }
  expectNear(runTensor(KIND, [image], { attributes }), [1, 3, 5, 7, 7, 9, 11, 13])
  expectNear(runTensor(KIND, [image], { attributes: { bias: [1, -1] } }), [1, 2, 3, 4, 3, 4, 5, 6])
  expectNear(runTensor(KIND, [image]), [0, 1, 2, 3, 4, 5, 6, 7])
  expectNear(runTensor(KIND, [convert(image, 'float16')], { attributes }), [1, 3, 5, 7, 7, 9, 11, 13])
})

test('ImageScaler takes images and a bias for each channel', () => {
  const code = (bias: number[], dims: number[]): string =>
    errorOf(() => runTensor(KIND, [iota(dims)], { attributes: { bias } })).code
  expect(code([1], [1, 2, 2, 2])).toBe('dims-mismatch')
  expect(code([1, 2], [2, 2, 2])).toBe('rank-mismatch')
  const [y] = inferOp(KIND, [fact('float32', ['n', 'c', 'h', 'w'])], { attributes: { bias: [1, 2] } })
  expect(dimsOf(y)).toEqual(['n', 'c', 'h', 'w'])
  expect(runTensor(KIND, [iota([0, 2, 1, 1])], { attributes: { bias: [1, 2] } }).dims).toEqual([0, 2, 1, 1])
})
