import type { Movable } from '../../shapes/fact.ts'
import { copyUnits, type MovedArray, unitsOfBoth } from './units.ts'

/** One loop of a copy: how often it goes round, and how far a round moves on either side, in elements. */
export interface Loop {
  readonly count: number
  readonly from: number
  readonly to: number
}

/** Units copied between two yields: a few milliseconds. */
export const UNITS_A_TURN = 2 ** 21
/** Side of the squares in which a transposition goes, so that both sides stay in the cache. */
const TILE = 32

/**
 * Copies elements of any type along nested loops: `target[toStart + Σ i·to] = source[fromStart + Σ i·from]`. Steps may
 * be zero
 * (one element many times) and negative. Loops that continue each other are run as one, and the loop that reads
 * neighbours
 * is brought in.
 */
export function* copyStrided(
  source: Movable,
  target: Movable,
  loops: readonly Loop[],
  fromStart = 0,
  toStart = 0
): Generator<void> {
  if (loops.some(loop => loop.count === 0)) return
  const { from, to, per } = unitsOfBoth(source, target)
  const plan = bringIn(collapse(loops, per))
  const row = plan.pop() ?? { count: 1, from: 1, to: 1 }
  const rows = plan.pop() ?? { count: 1, from: 0, to: 0 }
  const width = Math.min(row.count, UNITS_A_TURN)
  const height = Math.max(1, Math.floor(UNITS_A_TURN / width))
  const at = { from: fromStart * per, to: toStart * per, counters: new Array<number>(plan.length).fill(0) }
  let done = 0
  do {
    for (let r = 0; r < rows.count; r += height) {
      const high = Math.min(height, rows.count - r)
      for (let i = 0; i < row.count; i += width) {
        const wide = Math.min(width, row.count - i)
        copyBlock(
          from,
          at.from + r * rows.from + i * row.from,
          to,
          at.to + r * rows.to + i * row.to,
          high,
          rows,
          wide,
          row
        )
        done += high * wide
        if (done >= UNITS_A_TURN) {
          done = 0
          yield
        }
      }
    }
  } while (advance(plan, at))
}

/** Elements below which {@link joinFew} serves. */
const FEW = 64

/**
 * Few tensors of few elements put one after the other: what computes shapes does little else.
 * @returns false, with nothing done, where that is not what they are
 */
export function joinFew(inputs: readonly Movable[], out: Movable): boolean {
  if (out.data.length > FEW || out.dims.length > 1) return false
  let at = 0
  for (const input of inputs) {
    const { from, to } = unitsOfBoth(input, out)
    for (let i = 0; i < from.length; i++) to[at++] = from[i]
  }
  return true
}

/** The loops in units, without those that go round once, neighbours made one where they continue each other. */
function collapse(loops: readonly Loop[], per: number): Loop[] {
  const all = loops.map(({ count, from, to }) => ({ count, from: from * per, to: to * per }))
  if (per > 1) all.push({ count: per, from: 1, to: 1 })
  const result: Loop[] = []
  for (const loop of all) {
    const last = result.at(-1)
    if (loop.count === 1) continue
    const goesOn = last?.from === loop.from * loop.count && last.to === loop.to * loop.count
    if (goesOn) result[result.length - 1] = { ...loop, count: last.count * loop.count }
    else result.push(loop)
  }
  return result
}

/**
 * Moves the loop with the smallest step in the source next to the innermost one, unless that one reads neighbours
 * itself.
 */
function bringIn(loops: Loop[]): Loop[] {
  const inner = loops.at(-1)
  if (inner === undefined || Math.abs(inner.from) <= 1 || loops.length < 3) return loops
  const nearest = loops.reduce((a, b) => (stepSize(b) < stepSize(a) ? b : a))
  if (nearest === inner) return loops
  return [...loops.filter(loop => loop !== nearest && loop !== inner), nearest, inner]
}

const stepSize = ({ from }: Loop): number => (from === 0 ? Infinity : Math.abs(from))

/** Goes to the next position of the loops; false when all have been. */
function advance(loops: readonly Loop[], at: { from: number; to: number; readonly counters: number[] }): boolean {
  for (let i = loops.length - 1; i >= 0; i--) {
    const loop = loops[i]
    at.from += loop.from
    at.to += loop.to
    if (++at.counters[i] < loop.count) return true
    at.counters[i] = 0
    at.from -= loop.from * loop.count
    at.to -= loop.to * loop.count
  }
  return false
}

/** `high` rounds of `rows`, in each `wide` rounds of `row`. */
function copyBlock(
  from: MovedArray,
  f: number,
  to: MovedArray,
  t: number,
  high: number,
  rows: Loop,
  wide: number,
  row: Loop
): void {
  if (row.from === 1 && row.to === 1) {
    for (let r = 0; r < high; r++) copyUnits(from, f + r * rows.from, to, t + r * rows.to, wide)
  } else if (row.from === 0 && row.to === 1) {
    for (let r = 0; r < high; r++) {
      const start = t + r * rows.to
      ;(to as Int32Array).fill(from[f + r * rows.from] as number, start, start + wide)
    }
  } else copyTiles(from, f, to, t, high, rows, wide, row)
}

function copyTiles(
  from: MovedArray,
  f: number,
  to: MovedArray,
  t: number,
  high: number,
  rows: Loop,
  wide: number,
  row: Loop
): void {
  const side = Math.abs(row.from) > Math.abs(rows.from) ? TILE : Infinity
  for (let r0 = 0; r0 < high; r0 += side) {
    const lastRow = Math.min(high, r0 + side)
    for (let i0 = 0; i0 < wide; i0 += side) {
      const last = Math.min(wide, i0 + side)
      for (let r = r0; r < lastRow; r++) {
        let source = f + r * rows.from + i0 * row.from
        let target = t + r * rows.to + i0 * row.to
        for (let i = i0; i < last; i++, source += row.from, target += row.to) to[target] = from[source]
      }
    }
  }
}
