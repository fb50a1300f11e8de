import { expect, test } from 'vitest'
import { compareNumbers, compareTexts, orderKeys } from '../../../src/kernels/core/order.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'

const ranks = (tensor: Tensor): number[] => {
  const steps = orderKeys(tensor)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return [...step.value]
}

test('keys of wide integers keep every difference', () => {
  expect(ranks(new Tensor('uint64', [2n ** 64n - 1n, 2n ** 63n, 2n ** 64n - 2n, 2n ** 63n]))).toEqual([2, 0, 1, 0])
  expect(ranks(new Tensor('int64', [5n, -(2n ** 53n) + 1n]))).toEqual([5, -(2 ** 53) + 1])
})

test('text is ordered by code points, not by UTF-16', () => {
  expect(['\u{1F600}', '\uFFFD', 'aa', 'a', ''].sort(compareTexts)).toEqual(['', 'a', 'aa', '\uFFFD', '\u{1F600}'])
  expect(compareTexts('\u{1F600}', '\u{1F601}')).toBeLessThan(0)
})

test('NaN is after every number and equal to itself', () => {
  expect([NaN, 1, -Infinity, NaN, Infinity].sort(compareNumbers)).toEqual([-Infinity, 1, Infinity, NaN, NaN])
  expect(compareNumbers(NaN, NaN)).toBe(0)
  expect(compareNumbers(-0, 0)).toBe(0)
})
