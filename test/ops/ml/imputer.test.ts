import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota } from '../values.ts'

const KIND: Kind = ['onnx', 'Imputer', 1, 'ai.onnx.ml']

type Attributes = NonNullable<Parameters<typeof runTensor>[2]>['attributes']

const impute = (x: Tensor, attributes: Attributes): unknown[] => [...runTensor(KIND, [x], { attributes }).data]

test('Imputer replaces a value, by one for all or one for each feature', () => {
  const x = new Tensor('float32', [0, NaN, 2, -0, 5, NaN], [2, 3])
  expect(impute(x, { imputed_value_floats: [9] })).toEqual([9, NaN, 2, 9, 5, NaN])
  expect(impute(x, { imputed_value_floats: [7, 8, 9], replaced_value_float: NaN })).toEqual([0, 8, 2, -0, 5, 9])
  expect(impute(new Tensor('float64', [1, 2]), { imputed_value_floats: [0.5], replaced_value_float: 2 })).toEqual([
    1, 0.5
  ])
  expect(impute(iota([2, 1, 2]), { imputed_value_floats: [-1, -2], replaced_value_float: 3 })).toEqual([0, 1, 2, -2])
})

test('Imputer replaces integers exactly', () => {
  const replaced_value_int64 = 2n ** 60n + 1n
  expect(impute(ints(2n ** 60n, 2n ** 60n + 1n), { imputed_value_int64s: [-1], replaced_value_int64 })).toEqual([
    2n ** 60n,
    -1n
  ])
  expect(impute(new Tensor('int32', [0, 1]), { imputed_value_int64s: [5] })).toEqual([5, 1])
})

test('Imputer goes on with the right feature after a yield', () => {
  const count = 99_999
  const data = impute(new Tensor('int32', new Int32Array(3 * count), [count, 3]), { imputed_value_int64s: [1, 2, 3] })
  expect(data.slice(-4)).toEqual([3, 1, 2, 3])
})

test('Imputer wants values of the kind of the input, and as many as features', () => {
  const codeOf = (x: Tensor, attributes: Attributes): string => errorOf(() => impute(x, attributes)).code
  expect(codeOf(iota([2]), { imputed_value_int64s: [1] })).toBe('missing-attribute')
  expect(codeOf(ints(1), { imputed_value_floats: [1] })).toBe('missing-attribute')
  expect(codeOf(iota([2]), { imputed_value_floats: [] })).toBe('missing-attribute')
  expect(codeOf(iota([2, 3]), { imputed_value_floats: [1, 2] })).toBe('dims-mismatch')
  expect(codeOf(iota([]), { imputed_value_floats: [1, 2] })).toBe('rank-mismatch')
  expect(codeOf(new Tensor('int32', [1]), { imputed_value_int64s: [2 ** 40] })).toBe('unknown-attribute-value')
})

test('Imputer keeps type and dims', () => {
  const of = (dims?: (number | string)[]): unknown =>
    inferOp(KIND, [fact('int64', dims)], { attributes: { imputed_value_int64s: [1, 2] } })[0]
  expect(of()).toMatchObject({ type: 'int64' })
  expect(dimsOf(of(['n', 'f']) as never)).toEqual(['n', 'f'])
  expect(errorOf(() => of(['n', 3])).code).toBe('dims-mismatch')
})
