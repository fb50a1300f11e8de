import type { Numbers } from '../../tensor/elements.ts'

/**
 * The sum of the products of `count` numbers of `a` and `b`, from positions `i` and `j` on. Two sums at a time, as an
 * addition waits for the one before.
 */
export function dot(a: Numbers, i: number, b: Float64Array, j: number, count: number): number {
  let even = 0
  let odd = 0
  const end = i + count
  for (; i + 1 < end; i += 2, j += 2) {
    even += a[i] * b[j]
    odd += a[i + 1] * b[j + 1]
  }
  return i < end ? even + odd + a[i] * b[j] : even + odd
}
