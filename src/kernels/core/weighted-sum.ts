import type { Numbers } from '../../tensor/elements.ts'

/** The sum of `count` elements with their weights, at offsets from `base`. */
export function weightedSum(
  x: Numbers,
  base: number,
  offsets: Int32Array | Float64Array,
  weights: Float64Array,
  count: number
): number {
  let sum = 0
  for (let k = 0; k < count; k++) sum += weights[k] * x[base + offsets[k]]
  return sum
}
