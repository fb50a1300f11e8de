import type { Numbers } from '../../tensor/elements.ts'

/** The sum of the products of `count` numbers of `a` and `b`, from positions `i` and `j` on. */
export function dot(a: Numbers, i: number, b: Float64Array, j: number, count: number): number {
  let sum = 0
  for (const end = i + count; i < end; i++, j++) sum += a[i] * b[j]
  return sum
}

/**
 * The sum of the squares of the differences of `count` numbers of `a` and `b`, those of `b` from position `j` on. Two
 * sums at a time, as an addition waits for the one before.
 */
export function squaredDistance(a: Float64Array, b: Float64Array, j: number, count: number): number {
  let even = 0
  let odd = 0
  let i = 0
  for (; i + 1 < count; i += 2, j += 2) {
    const first = a[i] - b[j]
    const second = a[i + 1] - b[j + 1]
    even += first * first
    odd += second * second
  }
  return i < count ? even + odd + (a[i] - b[j]) * (a[i] - b[j]) : even + odd
}
