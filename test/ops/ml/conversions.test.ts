import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
import type { Kind } from '../harness.ts'
import { randomFloats as floats } from '../random.ts'
import { ints } from '../values.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'ai.onnx.ml']
const matrix = floats(1, [5, 3])
const whole = new Tensor('int64', [3n, -1n, 0n, 7n, 2n, -1n], [2, 3])
const doubles = new Tensor('float64', [0.1, -2, 3, 0, 0, 0], [2, 3])

describe('models of ai.onnx.ml in IR', () => {
  test.each([
    ['Scaler', { offset: [0.5, -1, 2], scale: [2, 3, -1] }],
    ['Scaler', { offset: [0.5], scale: [2] }],
    ['Binarizer', { threshold: 0.25 }],
    ['Normalizer', { norm: 'L1' }],
    ['Normalizer', { norm: 'L2' }],
    ['Normalizer', { norm: 'MAX' }],
    ['LinearRegressor', { coefficients: [1, -2, 0.5], intercepts: [0.25] }],
    ['LinearRegressor', { coefficients: [1, -2, 0.5, 3, 0, 1], targets: 2 }],
    ['LinearRegressor', { coefficients: [1, -2, 0.5, 3, 0, 1], targets: 2, post_transform: 'SOFTMAX' }],
    ['LinearRegressor', { coefficients: [1, -2, 0.5], post_transform: 'LOGISTIC' }]
  ])('%s with %j', async (type, attributes) => {
    for (const x of [matrix, whole, doubles, new Tensor('float32', [1, 0, -3], [3])])
      for (const isDynamic of [false, true])
        expect(await differenceInOther(kind(type), [x], { attributes, isDynamic })).toBeLessThan(1e-5)
  })

  test.each([
    [{ coefficients: [1, -2, 0.5], intercepts: [0.25], classlabels_ints: [3, 5] }],
    [{ coefficients: [1, -2, 0.5], intercepts: [0.25], classlabels_ints: [3, 5], post_transform: 'LOGISTIC' }],
    [{ coefficients: [1, -2, 0.5], classlabels_ints: [3, 5], post_transform: 'SOFTMAX' }],
    [{ coefficients: [1, -2, 0.5], classlabels_ints: [7], intercepts: [0.25] }],
    [{ coefficients: [1, -2, 0.5, 1, 1, -1], classlabels_ints: [3, 5], post_transform: 'SOFTMAX' }],
    [{ coefficients: [1, -2, 0.5, 1, 1, -1, 0, 0, 0], intercepts: [0, 1, 0], classlabels_ints: [3, -5, 9] }]
  ])('LinearClassifier with %j', async attributes => {
    for (const x of [matrix, whole, new Tensor('float32', [1, 0, -3], [3])])
      expect(await differenceInOther(kind('LinearClassifier'), [x], { attributes, outputs: 2 })).toBeLessThan(1e-5)
  })

  test('LinearClassifier whose labels are strings, or whose scores IR cannot transform, is refused', () => {
    const refused = (attributes: Record<string, unknown>) => () =>
      inOther(modelOfNode(kind('LinearClassifier'), [matrix], { attributes: attributes as never, outputs: 2 }))
    const coefficients = [1, -2, 0.5]
    expect(refused({ coefficients, classlabels_strings: ['a', 'b'] })).toThrow('strings')
    expect(refused({ coefficients, classlabels_ints: [1, 2], post_transform: 'PROBIT' })).toThrow('PROBIT')
  })

  test.each([
    [new Tensor('float32', [NaN, 1, 2, NaN], [2, 2]), { imputed_value_floats: [5, 6], replaced_value_float: NaN }],
    [new Tensor('float64', [0, 1, 2, NaN], [2, 2]), { imputed_value_floats: [5], replaced_value_float: 1 }],
    [new Tensor('int64', [0n, 1n, 2n, 1n], [2, 2]), { imputed_value_int64s: [5, 6], replaced_value_int64: 1 }],
    [new Tensor('int32', [0, 1, 2, 1], [2, 2]), { imputed_value_int64s: [5], replaced_value_int64: 1 }]
  ])('Imputer of %o', async (x, attributes) => {
    expect(await differenceInOther(kind('Imputer'), [x], { attributes })).toBe(0)
  })

  test('ArrayFeatureExtractor gathers along the last axis; a vector is one row', async () => {
    for (const x of [matrix, whole, floats(2, [3]), floats(3, [2, 2, 3])])
      for (const indices of [ints(2, 0, 0), new Tensor('int64', [1n, 2n], [1, 2])])
        for (const options of [{ constants: [1] }, { isDynamic: true }])
          expect(await differenceInOther(kind('ArrayFeatureExtractor'), [x, indices], options)).toBe(0)
  })
})
