import { fail } from '../../errors.ts'
import { type Dim, maxDim, printDim } from '../../shapes/dim.ts'
import { is64BitInteger, MAX_INT32 } from '../../tensor/dtype.ts'
import { halvesOf, isFew, toIndices } from '../../tensor/elements.ts'
import { positionOf, type Tensor } from '../../tensor/tensor.ts'
import { chunkSize, COST, drain, inChunks, Pace } from '../core/pace.ts'
import { type Positions, positionsArray } from '../core/positions.ts'

/** What a negative or an out-of-range index means. Each version of a gather operator binds its own policy. */
export interface IndexPolicy {
  /** `wrap`: counted from the end. `error`: out of range. */
  readonly negative: 'wrap' | 'error'
  /** `zero`: the element read is zero (empty string, false). */
  readonly outOfRange: 'error' | 'zero'
}

/** Nanoseconds that one index takes: compared, and its position written. Measured: 8 to 11. */
const COST_OF_INDEX = 15

/**
 * The positions, from 0, that indices along one axis of `size` mean. Each index is compared exactly, whatever its type.
 * @param indices any integer type, any dims
 * @param axis only for the message
 * @param limit above every number that the caller will store in the result, where positions become offsets in place
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export const resolveIndices = (
  indices: Tensor,
  size: number,
  axis: number,
  policy: IndexPolicy,
  limit = size
): Positions => drain(resolveIndicesPaced(indices, size, axis, policy, limit))

/** {@link resolveIndices}, paced. */
export function* resolveIndicesPaced(
  indices: Tensor,
  size: number,
  axis: number,
  policy: IndexPolicy,
  limit = size
): Generator<void, Positions> {
  const count = indices.data.length
  const positions = positionsArray(count, limit)
  const bad = yield* resolveAll(indices, 0, 1, count, size, policy, positions)
  if (bad >= 0) failIndex(indices, bad, axis, size)
  return positions
}

/**
 * The offsets that index tuples mean: of each tuple (the last dim of `indices` holds `sizes.length` components) its
 * position in the row-major order of `[batches, ...sizes]`. Each batch has the same number of tuples.
 * @param firstAxis axis of the first component, only for the message
 * @throws NodewiseError `index-out-of-range`, naming the first offending component in row-major order
 */
export const resolveTuples = (
  indices: Tensor,
  batches: number,
  sizes: readonly number[],
  firstAxis: number,
  policy: IndexPolicy
): Positions => drain(resolveTuplesPaced(indices, batches, sizes, firstAxis, policy))

/** {@link resolveTuples}, paced. */
export function* resolveTuplesPaced(
  indices: Tensor,
  batches: number,
  sizes: readonly number[],
  firstAxis: number,
  policy: IndexPolicy
): Generator<void, Positions> {
  const width = sizes.length
  const count = indices.data.length / width
  const offsets = positionsArray(
    count,
    sizes.reduce((a, b) => a * b, batches)
  )
  const positions = positionsArray(count, Math.max(...sizes))
  const perBatch = count / batches
  for (let b = 1; b < batches; b++) offsets.fill(b, b * perBatch, (b + 1) * perBatch)
  let bad = -1
  for (let j = 0; j < width; j++) {
    const found = yield* resolveAll(indices, j, width, count, sizes[j], policy, positions)
    if (found >= 0 && (bad < 0 || found < bad)) bad = found
    if (bad < 0) yield* inChunks(count, (from, to) => append(offsets, positions, sizes[j], from, to), COST.copy)
  }
  if (bad >= 0) failIndex(indices, bad, firstAxis + (bad % width), sizes[bad % width])
  return offsets
}

/** Adds an axis to offsets: `offset * size + position`; -1 stays. */
function append(offsets: Positions, positions: Positions, size: number, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const position = positions[i]
    offsets[i] = position < 0 || offsets[i] < 0 ? -1 : offsets[i] * size + position
  }
}

/** {@link resolveInto} for all of `count` indices, paced. */
function* resolveAll(
  indices: Tensor,
  start: number,
  step: number,
  count: number,
  size: number,
  policy: IndexPolicy,
  positions: Positions
): Generator<void, number> {
  const chunk = chunkSize(COST_OF_INDEX)
  for (let from = 0; from < count; from += chunk) {
    if (from > 0) yield
    const bad = resolveInto(indices, start, step, from, Math.min(count, from + chunk), size, policy, positions)
    if (bad >= 0) return bad
  }
  return -1
}

/**
 * Writes the position that the index at `start + i * step` means to `positions[i]`, for `from <= i < to`.
 * @returns where in `indices` the first index out of range is, if the policy forbids that; else -1
 */
function resolveInto(
  indices: Tensor,
  start: number,
  step: number,
  from: number,
  to: number,
  size: number,
  policy: IndexPolicy,
  positions: Positions
): number {
  const lowest = policy.negative === 'wrap' ? -size : 0
  const zero = policy.outOfRange === 'zero'
  const { data } = indices
  if (!isFew(indices) && (data instanceof BigInt64Array || data instanceof BigUint64Array)) {
    const signed = data instanceof BigInt64Array
    const halves = halvesOf(indices)
    const quick = Math.min(size, MAX_INT32)
    for (let i = from, at = 2 * (start + from * step); i < to; i++, at += 2 * step) {
      const low = halves[at]
      const high = halves[at + 1]
      // Nearly every index is a small positive number, for which this one comparison decides.
      if (high === 0 && low >= 0 && low < quick) {
        positions[i] = low
        continue
      }
      let index = wideInteger(low, high, signed)
      if (index < lowest || index >= size) {
        if (!zero) return at / 2
        index = -1
      } else if (index < 0) index += size
      positions[i] = index
    }
    return -1
  }
  const numbers = is64BitInteger(indices.type) ? toIndices(indices) : (data as Int32Array)
  for (let i = from, at = start + from * step; i < to; i++, at += step) {
    let index = numbers[at]
    if (index < lowest || index >= size) {
      if (!zero) return at
      index = -1
    } else if (index < 0) index += size
    positions[i] = index
  }
  return -1
}

/** A 64-bit integer from its halves. Beyond 2^53 it is rounded, but no axis is that large. */
const wideInteger = (low: number, high: number, signed: boolean): number =>
  high === low >> 31 && (signed || high === 0) ? low : (signed ? high : high >>> 0) * 4294967296 + (low >>> 0)

/**
 * Ravels positions along `axis`, one for each element of `dims`: replaces each by the offset, in data of `dataDims`, of
 * the element whose other coordinates are those of its own place. Off the axis `dims` may be smaller than `dataDims`.
 */
export function* ravelPositions(
  positions: Positions,
  dims: readonly number[],
  dataDims: readonly number[],
  axis: number
): Generator<void> {
  const { loops, stride } = loopsOf(dims, dataDims, axis)
  const [row] = loops.slice(-1)
  const outer = loops.slice(0, -1)
  if (outer.length === 1) return yield* ravelShortRows(positions, row, outer[0].step, stride)
  const at = new Array<number>(outer.length).fill(0)
  const chunk = chunkSize(COST.copy)
  const pace = new Pace()
  let base = 0
  for (let start = 0; start < positions.length; start += row.size) {
    for (let from = 0; from < row.size; from += chunk) {
      const to = Math.min(row.size, from + chunk)
      ravelRow(positions, start, from, to, base, row.step, stride)
      if (pace.isDue((to - from) * COST.copy)) yield
    }
    for (let d = outer.length - 1; d >= 0; d--) {
      base += outer[d].step
      if (++at[d] < outer[d].size) break
      base -= outer[d].size * outer[d].step
      at[d] = 0
    }
  }
}

/** {@link ravelPositions} where rows are one loop: several between two looks at the clock, since they may be short. */
function* ravelShortRows(positions: Positions, row: Loop, outerStep: number, stride: number): Generator<void> {
  const most = chunkSize(COST.copy)
  const width = Math.min(row.size, most)
  const height = Math.max(1, Math.floor(most / width))
  const pace = new Pace()
  for (let start = 0, base = 0; start < positions.length; start += height * row.size, base += height * outerStep) {
    const rows = Math.min(height, (positions.length - start) / row.size)
    for (let from = 0; from < row.size; from += width) {
      const to = Math.min(row.size, from + width)
      for (let r = 0; r < rows; r++)
        ravelRow(positions, start + r * row.size, from, to, base + r * outerStep, row.step, stride)
      if (pace.isDue(rows * (to - from) * COST.copy)) yield
    }
  }
}

function ravelRow(
  positions: Positions,
  start: number,
  from: number,
  to: number,
  base: number,
  step: number,
  stride: number
): void {
  for (let i = from; i < to; i++) {
    const position = positions[start + i]
    if (position >= 0) positions[start + i] = base + i * step + position * stride
  }
}

interface Loop {
  size: number
  /** Elements of the data from one iteration to the next. */
  readonly step: number
}

/** The fewest loops over `dims`. The loop over the axis has step 0: a position moves by `stride` elements instead. */
function loopsOf(
  dims: readonly number[],
  dataDims: readonly number[],
  axis: number
): { loops: Loop[]; stride: number } {
  const loops: Loop[] = []
  let stride = 1
  let step = 1
  for (let d = dims.length - 1; d >= 0; d--) {
    const loop = { size: dims[d], step: d === axis ? 0 : step }
    if (d === axis) stride = step
    step *= dataDims[d]
    const [inner] = loops
    if (loop.size === 1) continue
    if (inner && loop.step === inner.size * inner.step) inner.size *= loop.size
    else loops.unshift(loop)
  }
  return { loops: loops.length > 0 ? loops : [{ size: 1, step: 0 }], stride }
}

/**
 * Checks known indices against an axis of which only bounds of the size may be known.
 * @throws NodewiseError `index-out-of-range` when no size within the bounds admits an index
 */
export function checkIndices(indices: Tensor, size: Dim, axis: number, policy: IndexPolicy): void {
  checkTuples(indices, [size], axis, policy)
}

/** {@link checkIndices} for tuples: component j of the last dim belongs to axis `firstAxis + j`. */
export function checkTuples(indices: Tensor, sizes: readonly Dim[], firstAxis: number, policy: IndexPolicy): void {
  if (policy.outOfRange === 'zero') return
  const width = sizes.length
  const count = indices.data.length / width
  const positions = positionsArray(count, 0)
  const bad = sizes
    .map((size, j) => resolveInto(indices, j, width, 0, count, maxDim(size), policy, positions))
    .filter(at => at >= 0)
  const first = Math.min(...bad)
  if (bad.length > 0) failIndex(indices, first, firstAxis + (first % width), sizes[first % width])
}

/** Fails for element `at` of `indices`, which is out of range; every gather fails with this message. */
export function failIndex(indices: Tensor, at: number, axis: number, size: Dim): never {
  reportIndex(String(indices.data[at]), positionOf(at, indices.dims), axis, size)
}

/** {@link failIndex} for an index that was computed, or that is no element of a tensor. */
export function reportIndex(index: string, position: readonly number[], axis: number, size: Dim): never {
  fail(
    'index-out-of-range',
    `index ${index} at [${position.join(', ')}] is out of range for axis ${axis} of size ${printDim(size)}`,
    { index, position, axis, ...(typeof size === 'number' && { size }) }
  )
}
