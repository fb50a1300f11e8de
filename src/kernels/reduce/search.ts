import type { Comparable } from '../core/numbers.ts'

/** How many of the elements `[from, to)`, which ascend, are below `value`. */
export function countBelow(sorted: Comparable, from: number, to: number, value: number | bigint): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle] < value) low = middle + 1
    else high = middle
  }
  return low - from
}

/** How many of the elements `[from, to)`, which ascend, are not above `value`. */
export function countUpTo(sorted: Comparable, from: number, to: number, value: number | bigint): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (value < sorted[middle]) high = middle
    else low = middle + 1
  }
  return low - from
}
