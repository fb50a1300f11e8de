import type { Movable } from '../../shapes/fact.ts'
import { doubles } from './numbers.ts'
import { COST, inChunks, Pace } from './pace.ts'
import { copyUnits, unitsOf } from './units.ts'

/** Offsets of each position along one axis in the source and in the target, in elements. Offsets of axes add up. */
export interface AxisTable {
  readonly from: ArrayLike<number>
  readonly to: ArrayLike<number>
}

/**
 * One side of an {@link AxisTable}: `at(i)` for `i < count`.
 * @throws NodewiseError `limit-exceeded`
 */
export function* tableOf(count: number, at: (i: number) => number): Generator<void, Float64Array> {
  const table = doubles(count)
  yield* inChunks(count, (from, to) => {
    for (let i = from; i < to; i++) table[i] = at(i)
  })
  return table
}

/** Inner axes are merged into one table of at most this many positions, which gives longer runs. */
const MAX_TABLE = 4096

/**
 * Copies elements of any type where positions along an axis have no single stride (padding by reflection, rolling,
 * blocks with crops):
 * `target[Σ to_k[i_k]] = source[Σ from_k[i_k]]` over all positions of all axes.
 */
export function* copyByTables(source: Movable, target: Movable, axes: readonly AxisTable[]): Generator<void> {
  if (axes.some(axis => axis.from.length === 0)) return
  const { array: from, per } = unitsOf(source)
  const to = unitsOf(target).array
  const outer = [...axes]
  const runs = yield* runsOf(mergeInner(outer))
  const counters = new Array<number>(outer.length).fill(0)
  const pace = new Pace()
  for (;;) {
    let f = 0
    let t = 0
    for (let k = 0; k < outer.length; k++) {
      f += outer[k].from[counters[k]]
      t += outer[k].to[counters[k]]
    }
    for (let r = 0; r < runs.length; r += 3) {
      copyUnits(from, (f + runs[r]) * per, to, (t + runs[r + 1]) * per, runs[r + 2] * per)
      if (pace.isDue(COST.element + runs[r + 2] * per * COST.copy)) yield
    }
    let k = outer.length - 1
    while (k >= 0 && ++counters[k] === outer[k].from.length) counters[k--] = 0
    if (k < 0) return
  }
}

/** Removes the last axes, as many as fit, and gives their offsets as one table. */
function mergeInner(axes: AxisTable[]): AxisTable {
  let inner = axes.pop() ?? { from: [0], to: [0] }
  for (let next = axes.at(-1); next && next.from.length * inner.from.length <= MAX_TABLE; next = axes.at(-1)) {
    inner = { from: sums(next.from, inner.from), to: sums(next.to, inner.to) }
    axes.pop()
  }
  return inner
}

/** All sums of an outer and an inner offset, in row-major order. */
function sums(outer: ArrayLike<number>, inner: ArrayLike<number>): Float64Array {
  const result = new Float64Array(outer.length * inner.length)
  for (let i = 0, at = 0; i < outer.length; i++) {
    for (let j = 0; j < inner.length; j++) result[at++] = outer[i] + inner[j]
  }
  return result
}

/**
 * Runs of positions that are contiguous in source and target, as triples: offset in the source, in the target, length.
 */
function* runsOf({ from, to }: AxisTable): Generator<void, number[]> {
  const runs: number[] = []
  const pace = new Pace()
  for (let i = 0; i < from.length;) {
    let end = i + 1
    while (end < from.length && from[end] - from[i] === end - i && to[end] - to[i] === end - i) end++
    runs.push(from[i], to[i], end - i)
    if (pace.isDue((end - i) * COST.element)) yield
    i = end
  }
  return runs
}
