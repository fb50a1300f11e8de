import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const KIND: Kind = ['openvino', 'BinaryConvolution', 1]
const attributes = {
  strides: [1, 1],
  pads_begin: [0, 0],
  pads_end: [0, 0],
  dilations: [1, 1],
  mode: 'xnor-popcount',
  pad_value: 0
}
const bits = (values: number[], dims: number[]): Tensor => new Tensor('uint1', values, dims)
const x = new Tensor('float32', [0, 1, 1], [1, 1, 1, 3])
const w = bits([1, 1, 0, 1], [2, 1, 1, 2])

test('counts equal bits as 1 and others as -1', () => {
  const out = runTensor(KIND, [x, w], { attributes })
  expect(out.dims).toEqual([1, 2, 1, 2])
  expect([...out.data]).toEqual([0, 2, 2, 0])
})

test('takes -1 for a bit that is not set', () => {
  expect([...runTensor(KIND, [new Tensor('int8', [-1, 1, 1], [1, 1, 1, 3]), w], { attributes }).data]).toEqual([
    0, 2, 2, 0
  ])
})

test('padding is a number: -1, 1 or anything between them', () => {
  const padded = (value: number): number[] =>
    [
      ...runTensor(KIND, [x, w], { attributes: { ...attributes, pads_begin: [0, 1], pad_value: value } }).data
    ] as number[]
  expect(padded(0)).toEqual([-1, 0, 2, -1, 2, 0])
  expect(padded(1)).toEqual([0, 0, 2, -2, 2, 0])
  expect(padded(-1)).toEqual([-2, 0, 2, 0, 2, 0])
})

test('refuses weights that are no bits, another mode and another rank', () => {
  expect(errorOf(() => runTensor(KIND, [x, new Tensor('uint8', [1, 1], [1, 1, 1, 2])], { attributes })).code).toBe(
    'type-not-allowed'
  )
  expect(errorOf(() => runTensor(KIND, [x, w], { attributes: { ...attributes, mode: 'and' } })).code).toBe(
    'unknown-attribute-value'
  )
  expect(
    errorOf(() => runTensor(KIND, [new Tensor('float32', [0], [1, 1, 1]), bits([1], [1, 1, 1])], { attributes })).code
  ).toBe('rank-mismatch')
})

test('keeps names in its shape', () => {
  const pads = { pads_begin: [1, 1], pads_end: [1, 1] }
  expect(
    dimsOf(
      inferOp(KIND, [fact('float32', ['n', 8, 'h', 'w']), fact('uint1', [4, 8, 3, 3])], {
        attributes: { ...attributes, ...pads }
      })[0]
    )
  ).toEqual(['n', 4, 'h', 'w'])
})
