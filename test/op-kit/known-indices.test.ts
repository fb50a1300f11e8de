import { describe, expect, test } from 'vitest'
import { checkKnownIndices } from '../../src/op-kit/known-indices.ts'
import { FROM_BOTH_ENDS, FROM_START } from '../../src/op-kit/updates.ts'
import { factOf, type TensorFact, tensorFact } from '../../src/shapes/fact.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

const data = tensorFact('float32', [5, 3])
const indices = (...values: number[]) =>
  factOf(new Tensor('int32', Int32Array.from(values), [values.length])) as TensorFact

describe('indices that inference knows', () => {
  test('must lie within the axis, which may count from the end', () => {
    expect(() => checkKnownIndices(indices(0, 4), data, 0, FROM_START)).not.toThrow()
    expect(() => checkKnownIndices(indices(0, 4), data, -1, FROM_START)).toThrow(
      expect.objectContaining({ code: 'index-out-of-range' })
    )
  })

  test('may be negative where the policy counts from both ends', () => {
    expect(() => checkKnownIndices(indices(-5), data, 0, FROM_BOTH_ENDS)).not.toThrow()
    expect(() => checkKnownIndices(indices(-5), data, 0, FROM_START)).toThrow()
  })
})

test('indices, operands and shapes that are not known are left to the run', () => {
  expect(() => checkKnownIndices(tensorFact('int32', [2]), data, 0, FROM_START)).not.toThrow()
  expect(() => checkKnownIndices(undefined, data, 0, FROM_START)).not.toThrow()
  expect(() => checkKnownIndices(indices(9), tensorFact('float32', undefined), 0, FROM_START)).not.toThrow()
})
