import { fail } from '../../errors.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product, stridesOf } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'
import { entriesOf, firstEntry, type PointSums, type PointTable, type SumPoints } from '../core/point-sums.ts'
import { type Positions, positionsArray } from '../core/positions.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import type { Filter } from './resize-taps.ts'

export type Padding = 'zeros' | 'border' | 'reflection'

/** How the points of a grid are mapped to coordinates in the data. */
export interface GridPlan {
  /** Spatial dims of the data. */
  readonly dims: readonly number[]
  readonly batch: number
  /** Points of each batch; each has as many numbers as there are spatial dims, the innermost dim first. */
  readonly points: number
  /** Whether -1 and 1 are the centres of the outermost elements, or their outer edges. */
  readonly alignCorners: boolean
  readonly padding: Padding
  /**
   * Whether `border` and `reflection` move a point that lies outside the data before its neighbours are found.
   * Otherwise they move each neighbour that lies outside.
   */
  readonly movesPoints: boolean
  /** Rounds every intermediate result: `Math.fround` unless the grid is float64. */
  readonly round: (x: number) => number
}

/** Elements beyond the data from which on all neighbours of a point, of any filter, lie outside. */
const REACH = 2

/**
 * Coordinates of some points along `axis`, in elements; moved inside where `movesPoints` asks for it. Neighbours that
 * `border` moves are the same from {@link REACH} on, where numbers too large for a filter end.
 */
function coordinatesOf(
  grid: Numbers,
  first: number,
  count: number,
  axis: number,
  { dims, alignCorners, padding, movesPoints, round }: GridPlan,
  snap: (x: number) => number
): Float64Array {
  const size = dims[axis]
  const [low, high] = edges(size, alignCorners)
  const isMoved = padding === 'border' || (movesPoints && padding !== 'zeros')
  const beyond = movesPoints ? 0 : REACH
  const coordinates = new Float64Array(count)
  for (let i = 0, k = (first + 1) * dims.length - 1 - axis; i < count; i++, k += dims.length) {
    const given = grid[k]
    const at = snap(
      alignCorners
        ? round(round(round(given + 1) / 2) * (size - 1))
        : round(round(round(round(given + 1) * size) - 1) / 2)
    )
    if (!isMoved || (at >= low && at <= high)) coordinates[i] = at
    else
      coordinates[i] =
        padding === 'border' ? Math.min(size - 1 + beyond, Math.max(-beyond, at)) : reflect(at, low, high)
  }
  return coordinates
}

const edges = (size: number, alignCorners: boolean): [number, number] =>
  alignCorners ? [0, size - 1] : [-0.5, size - 0.5]

/** Reflects a coordinate at the edges until it lies between them. */
function reflect(at: number, low: number, high: number): number {
  const span = high - low
  if (span <= 0) return low
  const rest = Math.abs(at - low) % (2 * span)
  return low + (rest <= span ? rest : 2 * span - rest)
}

/** The index of the element that is read at an integer coordinate; -1 for zero padding. */
function elementAt(index: number, size: number, { padding, alignCorners }: GridPlan): number {
  if (index >= 0 && index < size) return index
  if (padding === 'zeros') return -1
  if (padding === 'border') return index < 0 ? 0 : size - 1
  const [low, high] = edges(size, alignCorners)
  return Math.min(size - 1, Math.max(0, Math.trunc(reflect(index, low, high))))
}

/** The element nearest to each point (ties to the even index), as an offset into a plane; -1 for zero padding. */
export function nearestOffsets(grid: Numbers, plan: GridPlan): Positions {
  const { dims, batch, points } = plan
  const strides = stridesOf(dims)
  const elements = product(dims)
  const offsets = positionsArray(batch * points, elements)
  for (let axis = 0; axis < dims.length; axis++) {
    const coordinates = coordinatesOf(grid, 0, offsets.length, axis, plan, roundHalfToEven)
    for (let point = 0; point < offsets.length; point++) {
      if (offsets[point] < 0) continue
      const index = elementAt(Math.trunc(coordinates[point]), dims[axis], plan)
      offsets[point] = index >= 0 ? offsets[point] + index * strides[axis] : -1
    }
  }
  return offsets
}

/** Limit on the neighbours of a point that a filter weighs; their number is exponential in the number of dims. */
const MAX_NEIGHBOURS = 1 << 16

/**
 * Computes `out[n, c, p]` as the sum of the elements around point p of batch n, weighted by a filter along every axis.
 * @param slots numbers of an element: 1, or 2 where it is complex
 * @param sum computes the sums of points whose neighbours and weights are known
 * @throws NodewiseError `limit-exceeded`
 */
export function* sampleFiltered(
  x: Numbers,
  grid: Numbers,
  out: Numbers,
  channels: number,
  slots: number,
  filter: Filter,
  plan: GridPlan,
  sum: SumPoints
): Generator<void> {
  const { dims, batch, points } = plan
  const taps = (2 * filter.support) ** dims.length
  if (taps > MAX_NEIGHBOURS)
    fail(
      'limit-exceeded',
      `a point in ${dims.length} dims has ${taps} neighbours; at most ${MAX_NEIGHBOURS} are weighed`
    )
  const plane = product(dims)
  const most = Math.max(1, Math.min(points, Math.floor(TABLE / taps)))
  const entries = entriesOf(most, taps)
  const table = {
    taps,
    indices: positionsArray(entries, plane),
    weights: new Float64Array(entries)
  }
  const order = tapsInOrder(2 * filter.support, dims.length)
  for (let n = 0; n < batch; n++) {
    for (let p = 0; p < points; p += most) {
      const count = Math.min(most, points - p)
      fillTable(grid, n * points + p, count, filter, plan, order, table)
      const planes = {
        base: n * channels * plane,
        plane,
        planes: channels,
        to: n * channels * points + p,
        step: points
      }
      if (slots === 1) yield* sum({ table, points: count, x, out, ...planes })
      else yield* sumParts({ table, points: count, x, out, ...planes }, slots)
    }
  }
}

/** Neighbours of points whose weights are worked out at once, before the channels are summed. */
const TABLE = 1 << 12

/** For each neighbour of a point its tap along each axis, the innermost axis counting fastest. */
function tapsInOrder(taps: number, rank: number): Int32Array {
  const order = new Int32Array(taps ** rank * rank)
  for (let k = 0; k < order.length; k += rank)
    for (let axis = rank - 1, rest = k / rank; axis >= 0; axis--, rest = Math.floor(rest / taps))
      order[k + axis] = rest % taps
  return order
}

/** As {@link SumPoints}, of elements of several numbers. */
function* sumParts(
  { table: { taps, indices, weights }, points, x, base, plane, planes, out, to, step }: PointSums,
  slots: number
): Generator<void> {
  const pace = new Pace()
  for (let p = 0; p < planes; p++) {
    for (let i = 0; i < points; i++) {
      const first = firstEntry(i, taps)
      for (let part = 0; part < slots; part++) {
        let sum = 0
        for (let k = first, end = first + 4 * taps; k < end; k += 4)
          if (weights[k] !== 0) sum += weights[k] * x[(base + p * plane + indices[k]) * slots + part]
        out[(to + p * step + i) * slots + part] = sum
      }
    }
    if (pace.isDue(slots * points * taps * COST.element)) yield
  }
}

/** Finds the neighbours of some points and their weights; padding has weight 0. */
function fillTable(
  grid: Numbers,
  first: number,
  count: number,
  filter: Filter,
  plan: GridPlan,
  order: Int32Array,
  { taps, indices, weights }: PointTable
): void {
  const { dims } = plan
  const axes = dims.map((size, axis) => tapsAlong(grid, first, count, axis, size, filter, plan))
  const each = 2 * filter.support
  if (dims.length === 2) return fillPlane(axes[0], axes[1], dims[1], count, each, { taps, indices, weights })
  for (let i = 0; i < count; i++) {
    const entry = firstEntry(i, taps)
    for (let k = 0, at = 0; k < taps; k++) {
      let index = 0
      let weight = 1
      for (let axis = 0; axis < dims.length; axis++) {
        const tap = i * each + order[at++]
        index = index * dims[axis] + axes[axis].indices[tap]
        weight *= axes[axis].weights[tap]
      }
      indices[entry + 4 * k] = index
      weights[entry + 4 * k] = weight
    }
  }
}

/** {@link fillTable} for two axes, which most data have. */
function fillPlane(
  lines: AxisEntries,
  columns: AxisEntries,
  width: number,
  count: number,
  each: number,
  { taps, indices, weights }: PointTable
): void {
  for (let i = 0; i < count; i++) {
    let entry = firstEntry(i, taps)
    const first = i * each
    const end = first + each
    for (let y = first; y < end; y++) {
      const start = lines.indices[y] * width
      const weight = lines.weights[y]
      for (let x = first; x < end; x++, entry += 4) {
        indices[entry] = start + columns.indices[x]
        weights[entry] = weight * columns.weights[x]
      }
    }
  }
}

/** What points read along an axis, one after the other. */
interface AxisEntries {
  readonly indices: Positions
  readonly weights: Float64Array
}

/** The elements that a filter reads around some points along an axis, and their weights; padding has weight 0. */
function tapsAlong(
  grid: Numbers,
  first: number,
  count: number,
  axis: number,
  size: number,
  filter: Filter,
  plan: GridPlan
): AxisEntries {
  const taps = 2 * filter.support
  const coordinates = coordinatesOf(grid, first, count, axis, plan, asItIs)
  const indices = positionsArray(count * taps, size)
  const weights = new Float64Array(count * taps)
  for (let i = 0, k = 0; i < count; i++) {
    const at = coordinates[i]
    const start = Math.floor(at) - filter.support + 1
    for (let t = 0; t < taps; t++, k++) {
      const index = elementAt(start + t, size, plan)
      if (index < 0) continue
      indices[k] = index
      weights[k] = filter.weight(start + t - at)
    }
  }
  return { indices, weights }
}

const asItIs = (x: number): number => x
