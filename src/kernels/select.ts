import type { Numbers } from '../tensor/elements.ts'
import { WORK_PER_YIELD } from './elementwise.ts'
import type { Positions } from './indices.ts'
import { product } from '../tensor/tensor.ts'

/** A tensor seen along one axis: `[outer, size, inner]`. */
export interface Slices {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

export const slicesAlong = (dims: readonly number[], axis: number): Slices =>
  ({ outer: product(dims.slice(0, axis)), size: dims[axis], inner: product(dims.slice(axis + 1)) })

export interface Selection {
  readonly largest: boolean
  /** NaN comes after every number, or counts as smaller than every number. */
  readonly nan: 'last' | 'smallest'
  /** Order of what was selected: best first, or as it lies in the data. */
  readonly order: 'value' | 'index'
}

/**
 * Positions along the axis of the `k` largest or smallest keys of each slice, laid out `[outer, k, inner]`. Of equal keys the
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
  let work = 0
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      for (let n = 0, at = o * size * inner + i; n < size; n++, at += inner) row[n] = sign * keys[at]
      selectRow(row, heap, nanFirst)
      if (selection.order === 'index') heap.sort()
      for (let j = 0, at = o * k * inner + i; j < k; j++, at += inner) positions[at] = heap[j]
      work += size
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
  return positions
}

/** Fills `heap` with the positions of the first elements of `row` in descending order, by a heap whose root is the last of them. */
function selectRow(row: Float64Array, heap: Positions, nanFirst: boolean): void {
  const k = heap.length
  for (let i = 0; i < k; i++) heap[i] = i
  for (let i = (k >> 1) - 1; i >= 0; i--) sink(row, heap, i, k, nanFirst)
  for (let i = k; i < row.length; i++) {
    if (!precedes(row, i, heap[0], nanFirst)) continue
    heap[0] = i
    sink(row, heap, 0, k, nanFirst)
  }
  for (let end = k - 1; end > 0; end--) {
    const last = heap[0]
    heap[0] = heap[end]
    heap[end] = last
    sink(row, heap, 0, end, nanFirst)
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
 * Position along the axis of the largest (smallest) key of each slice, laid out `[outer, inner]`; NaN beats every number.
 * @param last of equal keys the one with the highest position, else the lowest
 */
export function* selectBest(keys: Numbers, { outer, size, inner }: Slices, largest: boolean, last: boolean): Generator<void, Float64Array> {
  const positions = new Float64Array(outer * inner)
  const sign = largest ? 1 : -1
  let work = 0
  for (let o = 0, t = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++, t++) {
      positions[t] = bestOf(keys, o * size * inner + i, size, inner, sign, last)
      work += size
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
  return positions
}

function bestOf(keys: Numbers, start: number, size: number, stride: number, sign: number, last: boolean): number {
  let best = sign * keys[start]
  let position = 0
  for (let n = 1, at = start + stride; n < size; n++, at += stride) {
    const key = sign * keys[at]
    const same = key === best || key !== key && best !== best
    if (!(same ? last : key > best || key !== key)) continue
    best = key
    position = n
  }
  return position
}
