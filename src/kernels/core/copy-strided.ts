import type { Movable } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'
import { chunkSize, COST, DONE, Pace } from './pace.ts'
import { copyUnits, type MovedArray, SHORT, unitsOf, unitsOfBoth } from './units.ts'

/** One loop of a copy: its iterations, and its stride in the source and in the target, in elements. */
export interface Loop {
  readonly count: number
  readonly from: number
  readonly to: number
}

/** Units that are copied between two chances to yield. */
const CHUNK = chunkSize(COST.copy)
/** Units that are copied at once where they are repeated. */
const REPEATED = 1 << 13
/** Side of the square tiles in which a matrix is transposed, so that source and target stay in the cache. */
const TILE = 32

/**
 * Copies elements of any type along nested loops: `target[toStart + Σ i·to] = source[fromStart + Σ i·from]`. Strides
 * may be negative, or zero (one element many times).
 *
 * Loops that continue each other are merged, and the loop that reads neighbours is made the second innermost, so that
 * the two innermost loops copy contiguous runs or transpose tiles. A single short loop, as slices of dims are, is done
 * before this returns.
 */
export function copyStrided(
  source: Movable,
  target: Movable,
  loops: readonly Loop[],
  fromStart = 0,
  toStart = 0
): Generator<void> {
  if (loops.length !== 1 || loops[0].count > SHORT) return copyByLoops(source, target, loops, fromStart, toStart)
  const { from, to, per } = unitsOfBoth(source, target)
  const [{ count, from: fromStep, to: toStep }] = loops
  for (let unit = 0; unit < per; unit++)
    copyStepped(from, fromStart * per + unit, fromStep * per, to, toStart * per + unit, toStep * per, count)
  return DONE
}

function* copyByLoops(
  source: Movable,
  target: Movable,
  loops: readonly Loop[],
  fromStart: number,
  toStart: number
): Generator<void> {
  if (loops.some(loop => loop.count === 0)) return
  const { from, to, per } = unitsOfBoth(source, target)
  const outer = bringIn(merged(loops, per))
  const inner = outer.pop() ?? { count: 1, from: 1, to: 1 }
  const rows = outer.pop() ?? { count: 1, from: 0, to: 0 }
  const maxWidth = Math.min(inner.count, CHUNK)
  const maxHeight = Math.max(1, Math.floor(CHUNK / maxWidth))
  const at = { from: fromStart * per, to: toStart * per, counters: new Array<number>(outer.length).fill(0) }
  const pace = new Pace()
  do {
    for (let r = 0; r < rows.count; r += maxHeight) {
      const height = Math.min(maxHeight, rows.count - r)
      for (let i = 0; i < inner.count; i += maxWidth) {
        const width = Math.min(maxWidth, inner.count - i)
        const f = at.from + r * rows.from + i * inner.from
        const t = at.to + r * rows.to + i * inner.to
        copyBlock(from, f, to, t, rows, height, inner, width)
        if (pace.isDue((width * height + 1) * COST.copy)) yield
      }
    }
  } while (advance(outer, at))
}

/** Most elements of a result for which {@link joinFew} serves. */
const FEW = 64

/**
 * Concatenates tensors into a result of rank 1 (or 0) and at most {@link FEW} elements without the overhead of loops:
 * parts of models that compute shapes consist of little else.
 * @returns false, with nothing done, where the result is larger or of a higher rank
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

/**
 * Concatenates tensors along an axis, line by line, where that takes too little time for a chance to yield.
 * @returns false, with nothing done, where the result is large
 */
export function joinLines(inputs: readonly Movable[], out: Movable, axis: number): boolean {
  if (out.data.length > CHUNK) return false
  const inner = product(out.dims, axis + 1)
  const outer = product(out.dims, 0, axis)
  const { to, per } = unitsOfBoth(inputs[0], out)
  const step = out.dims[axis] * inner * per
  let offset = 0
  for (const input of inputs) {
    const line = input.dims[axis] * inner * per
    const from = to instanceof BigInt64Array ? (input.data as BigInt64Array) : unitsOf(input).array
    if (line === 1) spread(from, to, offset, step, outer)
    else
      for (let i = 0, at = 0, target = offset; i < outer; i++, at += line, target += step)
        copyUnits(from, at, to, target, line)
    offset += line
  }
  return true
}

/** Writes a column: the loop over 32-bit units meets one type of array. */
function spread(from: MovedArray, to: MovedArray, target: number, step: number, count: number): void {
  if (from instanceof Int32Array && to instanceof Int32Array) spreadWords(from, to, target, step, count)
  else copyStepped(from, 0, 1, to, target, step, count)
}

function spreadWords(from: Int32Array, to: Int32Array, target: number, step: number, count: number): void {
  for (let i = 0; i < count; i++, target += step) to[target] = from[i]
}

/** The loops in units, without those of one iteration, and with neighbours that continue each other merged. */
function merged(loops: readonly Loop[], per: number): Loop[] {
  const all = loops.map(({ count, from, to }) => ({ count, from: from * per, to: to * per }))
  if (per > 1) all.push({ count: per, from: 1, to: 1 })
  const result: Loop[] = []
  for (const loop of all) {
    const last = result.at(-1)
    if (loop.count === 1) continue
    const isContinued = last?.from === loop.from * loop.count && last.to === loop.to * loop.count
    if (isContinued) result[result.length - 1] = { ...loop, count: last.count * loop.count }
    else result.push(loop)
  }
  return result
}

/**
 * Makes the loop with the smallest stride in the source the second innermost, unless the innermost reads neighbours.
 */
function bringIn(loops: Loop[]): Loop[] {
  const inner = loops.at(-1)
  if (inner === undefined || Math.abs(inner.from) <= 1 || loops.length < 3) return loops
  const nearest = loops.reduce((a, b) => (distance(b) < distance(a) ? b : a))
  if (nearest === inner) return loops
  return [...loops.filter(loop => loop !== nearest && loop !== inner), nearest, inner]
}

const distance = ({ from }: Loop): number => (from === 0 ? Infinity : Math.abs(from))

/** Moves `at` to the next iteration of the loops; false after the last one. */
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

/**
 * Copies `height` iterations of the loop `rows` from `f` on to `t` on, in each `width` iterations of the loop `inner`.
 */
function copyBlock(
  from: MovedArray,
  f: number,
  to: MovedArray,
  t: number,
  rows: Loop,
  height: number,
  inner: Loop,
  width: number
): void {
  if (rows.from === 0 && rows.to === width && inner.from === 1 && inner.to === 1) {
    copyUnits(from, f, to, t, width)
    repeat(to, t, width, height)
  } else if (inner.from === 1 && inner.to === 1) {
    for (let r = 0; r < height; r++) copyUnits(from, f + r * rows.from, to, t + r * rows.to, width)
  } else if (inner.from === 0 && inner.to === 1) {
    for (let r = 0; r < height; r++) {
      const start = t + r * rows.to
      ;(to as Int32Array).fill(from[f + r * rows.from] as number, start, start + width)
    }
  } else copyTiles(from, f, to, t, rows, height, inner, width)
}

/** Writes the first `width` units `height` times side by side: each copy doubles what is there, up to a size. */
function repeat(to: MovedArray, t: number, width: number, height: number): void {
  const most = width * Math.max(1, Math.floor(REPEATED / width))
  const end = t + width * height
  for (let at = t + width; at < end;) {
    const count = Math.min(at - t, most, end - at)
    to.copyWithin(at, t, t + count)
    at += count
  }
}

/** {@link copyBlock} in square tiles where the inner loop has the longer stride in the source, else in one tile. */
function copyTiles(
  from: MovedArray,
  f: number,
  to: MovedArray,
  t: number,
  rows: Loop,
  height: number,
  inner: Loop,
  width: number
): void {
  const { from: fromRow, to: toRow } = rows
  const { from: fromStride, to: toStride } = inner
  const isTiled = Math.abs(fromStride) > Math.abs(fromRow)
  const side = isTiled ? TILE : Infinity
  // Tiles of fewer rows are longer.
  const length = isTiled ? Math.max(TILE, Math.floor(TILE ** 2 / height)) : Infinity
  const areBytes = from instanceof Uint8Array && to instanceof Uint8Array
  for (let r0 = 0; r0 < height; r0 += side) {
    const lastRow = Math.min(height, r0 + side)
    for (let i0 = 0; i0 < width; i0 += length) {
      const count = Math.min(length, width - i0)
      for (let r = r0; r < lastRow; r++) {
        const source = f + r * fromRow + i0 * fromStride
        const target = t + r * toRow + i0 * toStride
        if (areBytes) copySteppedBytes(from, source, fromStride, to, target, toStride, count)
        else copyStepped(from, source, fromStride, to, target, toStride, count)
      }
    }
  }
}

function copyStepped(
  from: MovedArray,
  source: number,
  fromStride: number,
  to: MovedArray,
  target: number,
  toStride: number,
  count: number
): void {
  for (let i = 0; i < count; i++, source += fromStride, target += toStride) to[target] = from[source]
}

/** {@link copyStepped} of bytes, as pictures have them: a loop that meets one type of array is faster. */
function copySteppedBytes(
  from: Uint8Array,
  source: number,
  fromStride: number,
  to: Uint8Array,
  target: number,
  toStride: number,
  count: number
): void {
  for (let i = 0; i < count; i++, source += fromStride, target += toStride) to[target] = from[source]
}
