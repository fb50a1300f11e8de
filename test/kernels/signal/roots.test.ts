import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { rootsOf } from '../../../src/kernels/signal/roots.ts'

test('roots of unity go round clockwise, and short lists of them are made once', () => {
  const { re, im } = drain(rootsOf(8, 3))
  const half = Math.SQRT1_2
  ;[1, half, 0].forEach((value, k) => expect(re[k]).toBeCloseTo(value, 15))
  ;[0, -half, -1].forEach((value, k) => expect(im[k]).toBeCloseTo(value, 15))
  expect(drain(rootsOf(8, 3)).re).toBe(re)
  expect(drain(rootsOf(8)).re).toHaveLength(8)
})

test('only the latest short lists are kept', () => {
  const first = drain(rootsOf(5))
  for (let n = 100; n < 120; n++) drain(rootsOf(n))
  expect(drain(rootsOf(5)).re).not.toBe(first.re)
  expect(drain(rootsOf(3000)).re).not.toBe(drain(rootsOf(3000)).re)
})
