import { sliceRange } from '../../shapes/slice.ts'
import { doubles } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'

/** Bags of rows of a table, each a slice of a list of rows. */
export interface BagSlices {
  /** Rows of the table; -1: a row of zeros. */
  readonly rows: Positions
  /** Of each bag the position of its first row, and of the one after its last. */
  readonly bounds: Int32Array
  /** Empty bags that have zeros where the highest elements are wanted. */
  readonly zeros: readonly number[]
  /** A factor for each of `rows`; only of sums. */
  readonly weights: Float32Array | undefined
  readonly reduction: 'sum' | 'mean' | 'max'
}

/**
 * The bounds of slices `starts[i]:ends[i]` of a list.
 * @param size of the list
 */
export function bagBounds(starts: Positions, ends: Positions, size: number): Int32Array {
  const bounds = new Int32Array(2 * ends.length)
  for (let i = 0; i < ends.length; i++) {
    const { first, count } = sliceRange(size, starts[i], ends[i], 1)
    bounds[2 * i] = first
    bounds[2 * i + 1] = first + count
  }
  return bounds
}

/**
 * `out[bag] = Σ weight · table[row]` over the rows of a bag, their mean, or their highest elements. Elements are added
 * in double precision, as `reduce` adds them; products are rounded to float32 before. An empty bag has zeros, or
 * -Infinity where the highest elements are wanted.
 * @param table rows of `width` elements
 */
export function* reduceBagSlices(
  table: Float32Array,
  width: number,
  { rows, bounds, zeros, weights, reduction }: BagSlices,
  out: Float32Array
): Generator<void> {
  const pace = new Pace()
  const cost = COST.allocation + COST.multiplyAdd * width
  const results = doubles(width)
  const add = reduction === 'max' ? raiseToRow : addRow
  for (let bag = 0; 2 * bag < bounds.length; bag++) {
    const [first, end] = [bounds[2 * bag], bounds[2 * bag + 1]]
    results.fill(reduction === 'max' ? -Infinity : 0)
    for (let i = first; i < end; i++) {
      if (weights) addWeightedRow(table, rows[i] * width, weights[i], results)
      else add(table, rows[i] * width, results)
      if (pace.isDue(cost)) yield
    }
    if (reduction === 'mean' && end > first) for (let i = 0; i < width; i++) results[i] /= end - first
    out.set(results, bag * width)
    if (pace.isDue(cost)) yield
  }
  clearBags(zeros, width, out)
}

/** Gives bags zeros. */
export function clearBags(bags: readonly number[], width: number, out: Float32Array): void {
  for (const bag of bags) out.fill(0, bag * width, (bag + 1) * width)
}

/** A row of zeros, which lies before the table, changes nothing. */
function addRow(table: Float32Array, at: number, sums: Float64Array): void {
  if (at >= 0) for (let i = 0; i < sums.length; i++) sums[i] += table[at + i]
}

function addWeightedRow(table: Float32Array, at: number, weight: number, sums: Float64Array): void {
  if (at >= 0) for (let i = 0; i < sums.length; i++) sums[i] += Math.fround(weight * table[at + i])
  // An infinite weight makes NaN of zeros.
  else for (let i = 0; i < sums.length; i++) sums[i] += 0 * weight
}

function raiseToRow(table: Float32Array, at: number, highest: Float64Array): void {
  for (let i = 0; i < highest.length; i++) highest[i] = Math.max(highest[i], at < 0 ? 0 : table[at + i])
}
