import { fail } from '../errors.ts'
import { stridesOf } from '../tensor/tensor.ts'
import {
  addDims,
  ceilDivDims,
  type Dim,
  maxDim,
  maxDims,
  minDims,
  normalizeAxes,
  subDims,
  toDim,
  toInt
} from './dim.ts'
import { type DataDependentList, knownList, partOf, sameLengths } from './lists.ts'
import { bounded } from './sym.ts'

/** What a slice takes from one axis: `count` positions from `first` on, `step` apart. */
export interface SliceRange {
  readonly first: number
  readonly count: number
}

/** Ends, axes and steps of a slice of several axes, as far as they are known. */
export interface SliceParams {
  readonly starts: DataDependentList
  readonly ends: DataDependentList
  /** The first axes when left out. */
  readonly axes: DataDependentList | undefined
  /** 1 each when left out. */
  readonly steps: DataDependentList | undefined
}

/**
 * Dims of a slice of data of these dims.
 * @throws NodewiseError `dims-mismatch` when the lists differ in length, `value-out-of-range` for a step of 0 or an
 *   axis named twice,
 *   `axis-out-of-range`
 */
export function sliceShape(dims: readonly Dim[], { starts, ends, axes, steps }: SliceParams): Dim[] {
  sameLengths({ starts, ends, axes, steps })
  const length = [starts, ends, axes, steps].find(list => list !== undefined && list !== 'unknown')?.length
  const given = axes === undefined && length !== undefined ? Array.from({ length }, (_, i) => i) : knownList(axes)
  if (given === undefined) return dims.map(partOf)
  const result = [...dims]
  normalizeAxes(given, dims.length).forEach((axis, i) => {
    const step = steps === undefined ? 1 : steps === 'unknown' ? undefined : steps[i]
    if (step === 0) fail('value-out-of-range', `the step of axis ${axis} is 0`)
    const isOpen = starts === 'unknown' || ends === 'unknown' || step === undefined
    result[axis] = isOpen ? partOf(dims[axis]) : sliceDim(dims[axis], starts[i], ends[i], step)
  })
  return result
}

/** Where a slice lies in row-major data: offset of its first element, and the step of each axis, in elements. */
export interface SliceBounds {
  readonly offset: number
  readonly steps: readonly number[]
}

/** The place of a slice whose lists are known. */
export function sliceBounds(
  dims: readonly number[],
  starts: readonly number[],
  ends: readonly number[],
  axes: readonly number[] = starts.map((_, i) => i),
  steps?: readonly number[]
): SliceBounds {
  const result = stridesOf(dims)
  const normalized = normalizeAxes(axes, dims.length)
  let offset = 0
  for (let i = 0; i < normalized.length; i++) {
    const axis = normalized[i]
    const step = steps?.[i] ?? 1
    offset += sliceRange(dims[axis], starts[i], ends[i], step).first * result[axis]
    result[axis] *= step
  }
  return { offset, steps: result }
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high)

/**
 * `start:end:step` of an axis of `size`: negative ends count from the end of the axis, then start is clamped to
 * `[0, size]` and end to `[0, size]`, for a negative step to `[0, size-1]` and `[-1, size-1]` (ONNX Slice-13, OpenVINO
 * StridedSlice-1; Python differs in one case: a start before the first element with a negative step takes nothing
 * there).
 */
export function sliceRange(size: number, start: number, end: number, step: number): SliceRange {
  const from = start < 0 ? start + size : start
  const to = end < 0 ? end + size : end
  const highest = step > 0 ? size : size - 1
  const first = clamp(from, 0, highest)
  const last = clamp(to, step > 0 ? 0 : -1, highest)
  return { first, count: Math.max(0, Math.ceil((last - first) / step)) }
}

/** Ends as far as this mean "to the end" on an axis of unknown size (both dialects recommend INT_MAX and INT_MIN). */
const FAR = 2 ** 31 - 1

/** Number of positions that a slice takes, for sizes and ends that may be symbols; `step` is not 0. */
export function sliceDim(size: Dim, start: Dim, end: Dim, step: Dim): Dim {
  if (typeof size === 'number' && typeof start === 'number' && typeof end === 'number' && typeof step === 'number') {
    return sliceRange(size, start, end, step).count
  }
  if (typeof step !== 'number') return partOf(size)
  const length = step > 0 ? forward(size, start, end) : backward(size, start, end)
  const count = toInt(maxDims(0, ceilDivDims(length, Math.abs(step))))
  return toDim(bounded(count, 0, Math.ceil(maxDim(size) / Math.abs(step))) ?? 0n)
}

/**
 * Distance from start to end; below zero where nothing is taken, so that start need not be clamped above nor end below.
 */
function forward(size: Dim, start: Dim, end: Dim): Dim {
  const [before, endBefore] = [isNegative(start), isNegative(end)]
  const stop =
    endBefore === undefined ? partOf(size) : endBefore ? addDims(size, end) : isFar(end) ? size : minDims(end, size)
  if (before === undefined) return subDims(stop, partOf(size))
  if (!before) return subDims(stop, start)
  return isFar(start) ? stop : minDims(stop, subDims(stop, addDims(size, start)))
}

/** The same for a negative step, from the first position taken down to the end. */
function backward(size: Dim, start: Dim, end: Dim): Dim {
  const before = isNegative(end)
  if (before === undefined) return addDims(lastTaken(size, start), subDims(1, partOf(size)))
  return subDims(lastTaken(size, start), !before ? end : isFar(end) ? -1 : maxDims(-1, addDims(size, end)))
}

function lastTaken(size: Dim, start: Dim): Dim {
  const before = isNegative(start)
  const highest = subDims(size, 1)
  if (before === undefined) return subDims(partOf(size), 1)
  if (start === -1 || (!before && isFar(start))) return highest
  return minDims(before ? maxDims(0, addDims(size, start)) : start, highest)
}

const isFar = (end: Dim): boolean => typeof end === 'number' && Math.abs(end) >= FAR

/** Undefined when both are possible. */
function isNegative(end: Dim): boolean | undefined {
  if (typeof end === 'number') return end < 0
  return end.min >= 0 ? false : end.max < 0 ? true : undefined
}
