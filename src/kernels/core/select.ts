import type { Numbers } from '../../tensor/elements.ts'
import type { AxisLayout } from './axis-layout.ts'
import { chunkSize, COST, Pace } from './pace.ts'
import { type Positions, positionsArray } from './positions.ts'
import { hasNarrowKeys, isShort, MAX_PACKED, type Selection, selectPacked } from './select-packed.ts'
import { selectShort } from './select-short.ts'
import { sortNumbers } from './sort.ts'

/** Elements of a line that are compared between two chances to yield. */
const CHUNK = chunkSize(COST.element)

/**
 * Positions along the axis of the `k` largest or smallest keys of each line, as a tensor `[outer, k, inner]`. Of equal
 * keys the one with the lower position comes first.
 * @param per numbers of an element, of which the first is the key
 */
export function* selectTop(
  keys: Numbers,
  { outer, size, inner }: AxisLayout,
  k: number,
  selection: Selection,
  per = 1
): Generator<void, Positions> {
  if (keys instanceof Float32Array && per === 1 && isShort(k, size))
    return yield* selectShort(keys, { outer, size, inner }, k, selection)
  if (hasNarrowKeys(keys) && size <= MAX_PACKED)
    return yield* selectPacked(keys, { outer, size, inner }, k, selection, per)
  const positions = positionsArray(outer * k * inner, size)
  if (positions.length === 0) return positions
  const line = new Float64Array(size)
  const heap = positionsArray(k, size)
  const sign = selection.largest ? 1 : -1
  const nanFirst = selection.nan === 'smallest' && !selection.largest
  const pace = new Pace()
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const first = (o * size * inner + i) * per
      for (let from = 0; from < size; from += CHUNK) {
        readLine(keys, first, inner * per, sign, line, from, Math.min(size, from + CHUNK))
        if (pace.isDue(Math.min(CHUNK, size - from) * COST.element)) yield
      }
      yield* selectFromLine(line, heap, nanFirst, pace)
      if (selection.order === 'index') yield* sortNumbers(heap)
      const start = o * k * inner + i
      for (let j = 0; j < k; j++) positions[start + j * inner] = heap[j]
      if (pace.isDue(k * COST.element)) yield
    }
  }
  return positions
}

/** Copies elements `[from, to)` of a line, with their sign changed where the smallest come first. */
function readLine(
  keys: Numbers,
  first: number,
  step: number,
  sign: number,
  line: Float64Array,
  from: number,
  to: number
): void {
  if (step === 1 && sign === 1) line.set(keys.subarray(first + from, first + to), from)
  else for (let n = from, at = first + from * step; n < to; n++, at += step) line[n] = sign * keys[at]
}

/**
 * Fills `heap` with the positions of the first elements of `line` in descending order: partial heapsort with a binary
 * heap whose root is the last of them.
 */
function* selectFromLine(line: Float64Array, heap: Positions, nanFirst: boolean, pace: Pace): Generator<void> {
  const k = heap.length
  // Measured: 1.7 µs for a heap of 2^20, where each comparison misses the cache.
  const sinkCost = Math.ceil(Math.log2(k + 1)) * COST.element
  for (let i = 0; i < k; i++) heap[i] = i
  for (let end = k >> 1; end > 0; end -= SINKS) {
    for (let i = end - 1; i >= Math.max(0, end - SINKS); i--) sink(line, heap, i, k, nanFirst)
    if (pace.isDue(4 * SINKS * COST.element)) yield
  }
  for (let from = k; from < line.length; from += CHUNK) {
    const to = Math.min(line.length, from + CHUNK)
    const taken = takeBetter(line, heap, from, to, nanFirst)
    if (pace.isDue((to - from) * COST.element + taken * sinkCost)) yield
  }
  for (let end = k - 1; end > 0; end -= SINKS) {
    for (let i = end; i > Math.max(0, end - SINKS); i--) {
      const last = heap[0]
      heap[0] = heap[i]
      heap[i] = last
      sink(line, heap, 0, i, nanFirst)
    }
    if (pace.isDue(SINKS * sinkCost)) yield
  }
}

/** Items that sink between two looks at the clock. */
const SINKS = 256

/**
 * Takes the elements `[from, to)` into the heap that come before the last one in it.
 * @returns how many these were
 */
function takeBetter(line: Float64Array, heap: Positions, from: number, to: number, nanFirst: boolean): number {
  let taken = 0
  let last = line[heap[0]]
  for (let i = from; i < to; i++) {
    // Equal elements come after those of lower positions; what does not compare is NaN, or meets one.
    if (line[i] <= last || !precedes(line, i, heap[0], nanFirst)) continue
    heap[0] = i
    sink(line, heap, 0, heap.length, nanFirst)
    last = line[heap[0]]
    taken++
  }
  return taken
}

/** Restores the heap `[start, end)` after its item at `start` was replaced. */
function sink(line: Float64Array, heap: Positions, start: number, end: number, nanFirst: boolean): void {
  const item = heap[start]
  let at = start
  for (let child = 2 * at + 1; child < end; child = 2 * at + 1) {
    if (child + 1 < end && precedes(line, heap[child], heap[child + 1], nanFirst)) child++
    if (!precedes(line, item, heap[child], nanFirst)) break
    heap[at] = heap[child]
    at = child
  }
  heap[at] = item
}

/** Whether position `i` comes before position `j` in descending order of elements. */
function precedes(line: Float64Array, i: number, j: number, nanFirst: boolean): boolean {
  const a = line[i]
  const b = line[j]
  if (a > b) return true
  if (a < b) return false
  const isNan = a !== a
  return isNan === (b !== b) ? i < j : isNan === nanFirst
}

/**
 * Position along the axis of the largest (smallest) key of each line, as a tensor `[outer, inner]`; NaN wins against
 * every number.
 * @param last of equal keys selects the one with the highest position, else the lowest
 */
export function* selectBest(
  keys: Numbers,
  { outer, size, inner }: AxisLayout,
  largest: boolean,
  last: boolean
): Generator<void, Float64Array> {
  const positions = new Float64Array(outer * inner)
  const sign = largest ? 1 : -1
  const pace = new Pace()
  for (let o = 0, t = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++, t++) {
      const start = o * size * inner + i
      for (let from = 1; from < size; from += CHUNK) {
        const to = Math.min(size, from + CHUNK)
        positions[t] = bestOf(keys, start, positions[t], from, to, inner, sign, last)
        if (pace.isDue((to - from + 1) * COST.element)) yield
      }
    }
  }
  return positions
}

/** The best of position `sofar` and the positions `from <= n < to`. */
function bestOf(
  keys: Numbers,
  start: number,
  sofar: number,
  from: number,
  to: number,
  stride: number,
  sign: number,
  last: boolean
): number {
  let best = sign * keys[start + sofar * stride]
  let position = sofar
  for (let n = from, at = start + from * stride; n < to; n++, at += stride) {
    const key = sign * keys[at]
    const same = key === best || (key !== key && best !== best)
    if (!(same ? last : key > best || key !== key)) continue
    best = key
    position = n
  }
  return position
}
