import { expect, test } from 'vitest'
import { roundHalfAwayFromZero, roundHalfToEven } from '../../../src/kernels/core/rounding.ts'

test('ties go to the even number', () => {
  expect([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994].map(roundHalfToEven)).toEqual([0, 2, 2, -0, -2, -2, 0])
})

test('ties go away from zero', () => {
  expect([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994].map(roundHalfAwayFromZero)).toEqual([
    1, 2, 3, -1, -2, -3, 0
  ])
})

test('whole numbers, infinities and NaN stay, and so does the sign of zero', () => {
  for (const round of [roundHalfToEven, roundHalfAwayFromZero]) {
    for (const x of [0, -0, 3, 2 ** 52 + 1, -(2 ** 60), 2 ** 53 - 1, Infinity, -Infinity, NaN]) expect(round(x)).toBe(x)
  }
})
