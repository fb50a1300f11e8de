import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from './pace.ts'
import type { Positions } from './positions.ts'

/**
 * For each of some points the elements of a plane that are summed, and their weights: `taps` entries, of which those
 * with weight 0 do not count. Entries of four points lie side by side, since kernels sum four points at once.
 */
export interface PointTable {
  readonly taps: number
  readonly indices: Positions
  readonly weights: Float64Array
}

/** Entries of a {@link PointTable}. */
export const entriesOf = (points: number, taps: number): number => Math.ceil(points / 4) * 4 * taps

/** The first entry of a point; the next ones are four apart. */
export const firstEntry = (point: number, taps: number): number => (point >> 2) * 4 * taps + (point & 3)

/** Sums of the same points in several planes. */
export interface PointSums {
  readonly table: PointTable
  readonly points: number
  readonly x: Numbers
  /** Where the first plane begins in `x`, and the elements of a plane. */
  readonly base: number
  readonly plane: number
  readonly planes: number
  readonly out: Numbers
  /** Where the points of the first plane begin in `out`, and how far apart those of two planes are. */
  readonly to: number
  readonly step: number
}

/** Computes sums of points. */
export type SumPoints = (sums: PointSums) => Generator<void>

/** The sums in double precision. */
export function* sumPoints({ table, points, x, base, plane, planes, out, to, step }: PointSums): Generator<void> {
  const pace = new Pace()
  for (let p = 0; p < planes; p++) {
    sumPlane(x, base + p * plane, table, points, out, to + p * step)
    if (pace.isDue(points * table.taps * COST.element)) yield
  }
}

function sumPlane(
  x: Numbers,
  base: number,
  { taps, indices, weights }: PointTable,
  points: number,
  out: Numbers,
  to: number
): void {
  for (let i = 0; i < points; i++) {
    let sum = 0
    const first = firstEntry(i, taps)
    for (let k = first, end = first + 4 * taps; k < end; k += 4) {
      // An element of weight 0 is left out, since NaN and infinity times 0 would be NaN.
      if (weights[k] !== 0) sum += weights[k] * x[base + indices[k]]
    }
    out[to + i] = sum
  }
}
