import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'Normalizer', 1, 'ai.onnx.ml']

const normalize = (x: Tensor, norm: string): Tensor => runTensor(KIND, [x], { attributes: { norm } })
const rows = new Tensor('float32', [3, -4, 0, 0, -8, 2], [3, 2])

test('Normalizer divides each row by its norm, and leaves rows of norm 0', () => {
  expect(normalize(rows, 'L1').data).toEqual(new Float32Array([3 / 7, -4 / 7, 0, 0, -0.8, 0.2]))
  expect(normalize(rows, 'L2').data).toEqual(new Float32Array([0.6, -0.8, 0, 0, -8 / Math.sqrt(68), 2 / Math.sqrt(68)]))
})

test('Normalizer divides by the largest element by default, not by the largest magnitude', () => {
  const expected = { type: 'float32', dims: [3, 2], data: new Float32Array([1, -4 / 3, 0, 0, -4, 1]) }
  expect(runTensor(KIND, [rows])).toMatchObject(expected)
  expect(normalize(rows, 'MAX')).toMatchObject(expected)
  expect([...normalize(new Tensor('float32', [-1, -2]), 'MAX').data]).toEqual([1, 2])
  expect([...normalize(new Tensor('float32', [-1, 0]), 'MAX').data]).toEqual([-1, 0])
})

test('Normalizer passes over NaN in MAX, and spreads it in the others', () => {
  const x = new Tensor('float32', [NaN, 2, 1])
  expect([...normalize(x, 'MAX').data]).toEqual([NaN, 1, 0.5])
  expect([...normalize(x, 'L1').data]).toEqual([NaN, NaN, NaN])
  expect([...normalize(x, 'L2').data]).toEqual([NaN, NaN, NaN])
})

test('Normalizer gives float32 for every type, and takes a vector as one row', () => {
  const expected = { type: 'float32', dims: [2], data: new Float32Array([0.6, -0.8]) }
  for (const x of [ints(3, -4), new Tensor('int32', [3, -4]), new Tensor('float64', [3, -4])])
    expect(normalize(x, 'L2'), x.type).toMatchObject(expected)
})

test('Normalizer goes on with a long row after a yield', () => {
  const count = 100_000
  const { data } = normalize(iota([2, count], 'int32'), 'MAX')
  expect([data[1], data[count - 1], data[count], data[2 * count - 1]]).toEqual([
    Math.fround(1 / (count - 1)),
    1,
    Math.fround(count / (2 * count - 1)),
    1
  ])
})

test('Normalizer takes empty tensors', () => {
  for (const dims of [[0], [0, 2], [2, 0]]) expect(normalize(iota(dims), 'L1').dims).toEqual(dims)
})

test('Normalizer wants a vector or rows, and a norm that it knows', () => {
  expect(errorOf(() => normalize(iota([]), 'L1')).code).toBe('rank-mismatch')
  expect(errorOf(() => normalize(iota([1, 2, 3]), 'L1')).code).toBe('rank-mismatch')
  expect(errorOf(() => normalize(rows, 'L3')).code).toBe('unknown-attribute-value')
})

test('Normalizer keeps symbolic dims', () => {
  expect(inferOp(KIND, [fact('int64')])[0]).toMatchObject({ type: 'float32' })
  expect(dimsOf(inferOp(KIND, [fact('int64', ['n', 'c'])])[0])).toEqual(['n', 'c'])
})
