import { expect, test } from 'vitest'
import { countBelow, countUpTo } from '../../../src/kernels/reduce/search.ts'

test('elements below and up to a value are counted within a range', () => {
  const sorted = [9, 1, 2, 2, 3, 0]
  expect([0, 1, 2, 3, 4].map(value => countBelow(sorted, 1, 5, value))).toEqual([0, 0, 1, 3, 4])
  expect([0, 1, 2, 3, 4].map(value => countUpTo(sorted, 1, 5, value))).toEqual([0, 1, 3, 4, 4])
  expect(countBelow(sorted, 2, 2, 5)).toBe(0)
})

test('64-bit integers and numbers compare exactly', () => {
  const sorted = new BigInt64Array([2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n])
  expect(countBelow(sorted, 0, 3, 2n ** 53n + 1n)).toBe(1)
  expect(countUpTo(sorted, 0, 3, 2 ** 53)).toBe(1)
})
