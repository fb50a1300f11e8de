import { expect, test } from 'vitest'
import { denseKeys, findPlaces } from '../../../src/kernels/ml/dense-keys.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'

test('a number that is no key has no place, however near to a key it is', () => {
  const keys = denseKeys([-5, 0, 1])!
  const near = new Tensor('float64', [0, -0, 1e-20, -1e-20, 1, 1 + 2 ** -52, -5, -5.5, NaN, Infinity, 2 ** 32])
  expect([...findPlaces(near, 0, near.data.length, keys)]).toEqual([2, 2, 0, 0, 3, 0, 1, 0, 0, 0, 0])
  expect([...findPlaces(new Tensor('float32', [1e-20, 1, 0]), 0, 3, keys)]).toEqual([0, 3, 2])
})
