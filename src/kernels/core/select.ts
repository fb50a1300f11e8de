import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import type { Positions } from '../gather/indices.ts'
import type { OldPace as Pace } from '../matrix/gemm.ts'
import { sortNumbers } from './sort.ts'
import { inSteps, isDue, WORK_PER_YIELD } from './steps.ts'

/** A tensor seen along one axis: `[outer, size, inner]`. */
export interface Slices {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

export const slicesAlong = (dims: readonly number[], axis: number): Slices => ({
  outer: product(dims.slice(0, axis)),
  size: dims[axis],
  inner: product(dims.slice(axis + 1))
})

export interface Selection {
  readonly largest: boolean
  /** NaN comes after every number, or counts as smaller than every number. */
  readonly nan: 'last' | 'smallest'
  /** Order of what was selected: best first, or as it lies in the data. */
  readonly order: 'value' | 'index'
}

/**
 * Positions along the axis of the `k` largest or smallest keys of each slice, laid out `[outer, k, inner]`. Of equal
 * keys the
 * one with the lower position comes first.
 */
export function* selectTop(keys: Numbers, slices: Slices, k: number, selection: Selection): Generator<void, Positions> {
  const { outer, size, inner } = slices
  const positions = size > 0x7fffffff ? new Float64Array(outer * k * inner) : new Int32Array(outer * k * inner)
  if (positions.length === 0) return positions
  const row = new Float64Array(size)
  const heap = size > 0x7fffffff ? new Float64Array(k) : new Int32Array(k)
  const sign = selection.largest ? 1 : -1
  const nanFirst = selection.nan === 'smallest' && !selection.largest
  const pace = { work: 0 }
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const first = o * size * inner + i
      yield* inSteps(size, (from, to) => {
        for (let n = from; n < to; n++) row[n] = sign * keys[first + n * inner]
      })
      yield* selectRow(row, heap, nanFirst, pace)
      if (selection.order === 'index') yield* sortNumbers(heap)
      const start = o * k * inner + i
      yield* inSteps(k, (from, to) => {
        for (let j = from; j < to; j++) positions[start + j * inner] = heap[j]
      })
      if (isDue(pace, size)) yield
    }
  }
  return positions
}

/**
 * Fills `heap` with the positions of the first elements of `row` in descending order, by a heap whose root is the last
 * of them.
 */
function* selectRow(row: Float64Array, heap: Positions, nanFirst: boolean, pace: Pace): Generator<void> {
  const k = heap.length
  const cost = Math.ceil(Math.log2(k + 1))
  for (let i = 0; i < k; i++) heap[i] = i
  for (let i = (k >> 1) - 1; i >= 0; i--) {
    sink(row, heap, i, k, nanFirst)
    if (isDue(pace, 4)) yield
  }
  for (let i = k; i < row.length; i++) {
    if (isDue(pace, 1)) yield
    if (!precedes(row, i, heap[0], nanFirst)) continue
    heap[0] = i
    sink(row, heap, 0, k, nanFirst)
    pace.work += cost
  }
  for (let end = k - 1; end > 0; end--) {
    const last = heap[0]
    heap[0] = heap[end]
    heap[end] = last
    sink(row, heap, 0, end, nanFirst)
    if (isDue(pace, cost)) yield
  }
}

function sink(row: Float64Array, heap: Positions, start: number, end: number, nanFirst: boolean): void {
  const item = heap[start]
  let at = start
  for (let child = 2 * at + 1; child < end; child = 2 * at + 1) {
    if (child + 1 < end && precedes(row, heap[child], heap[child + 1], nanFirst)) child++
    if (!precedes(row, item, heap[child], nanFirst)) break
    heap[at] = heap[child]
    at = child
  }
  heap[at] = item
}

/** Whether position `i` comes before position `j`. */
function precedes(row: Float64Array, i: number, j: number, nanFirst: boolean): boolean {
  const a = row[i]
  const b = row[j]
  if (a > b) return true
  if (a < b) return false
  const isNan = a !== a
  return isNan === (b !== b) ? i < j : isNan === nanFirst
}

/**
 * Position along the axis of the largest (smallest) key of each slice, laid out `[outer, inner]`; NaN beats every
 * number.
 * @param last of equal keys the one with the highest position, else the lowest
 */
export function* selectBest(
  keys: Numbers,
  { outer, size, inner }: Slices,
  largest: boolean,
  last: boolean
): Generator<void, Float64Array> {
  const positions = new Float64Array(outer * inner)
  const sign = largest ? 1 : -1
  let work = 0
  for (let o = 0, t = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++, t++) {
      const start = o * size * inner + i
      for (let from = 1; from < size; from += WORK_PER_YIELD) {
        const to = Math.min(size, from + WORK_PER_YIELD)
        positions[t] = bestOf(keys, start, positions[t], from, to, inner, sign, last)
        work += to - from
        if (work < WORK_PER_YIELD) continue
        work = 0
        yield
      }
    }
  }
  return positions
}

/** The best of the position that is the best so far and those from `from` on. */
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
