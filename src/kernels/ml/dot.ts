import type { Numbers } from '../../tensor/elements.ts'

/** The sum of the products of `count` numbers of `a` and `b`, from positions `i` and `j` on. */
export function dot(a: Numbers, i: number, b: Float64Array, j: number, count: number): number {
  let sum = 0
  for (const end = i + count; i < end; i++, j++) sum += a[i] * b[j]
  return sum
}
