import { expect, test } from 'vitest'
import { drain, Pace } from '../../../src/kernels/core/pace.ts'
import { determinantOf, invert } from '../../../src/kernels/matrix/matrices.ts'

test('a matrix whose determinant is too small for a double has an inverse', () => {
  const small = Float64Array.of(0, 1e-200, 2e-200, 0)
  const out = new Float64Array(4)
  expect(drain(determinantOf(small, 0, 2, new Pace()))).toBe(-0)
  expect(drain(invert(small, 0, 2, false, out, new Pace()))).toBe(true)
  expect([...out]).toEqual([0, 5e199, 1e200, 0])
})

test('a matrix without inverse leaves the output as it is', () => {
  const out = new Float64Array(4).fill(7)
  expect(drain(invert(Float64Array.of(1, 2, 2, 4), 0, 2, false, out, new Pace()))).toBe(false)
  expect([...out]).toEqual([7, 7, 7, 7])
})
