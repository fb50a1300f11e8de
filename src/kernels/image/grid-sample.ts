import { fail } from '../../errors.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product, stridesOf } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import type { Positions } from '../gather/indices.ts'
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
   * Whether `border` and `reflection` move a point that lies outside the data before its neighbours are found (ONNX).
   * Otherwise they move each neighbour that lies outside (OpenVINO).
   */
  readonly movesPoints: boolean
  /** Rounds every intermediate result: `Math.fround` unless the grid is float64. */
  readonly round: (x: number) => number
}

/** Coordinate of a point along `axis`, in elements; moved inside where `movesPoints` asks for it. */
function coordinateAt(
  grid: Numbers,
  point: number,
  axis: number,
  { dims, alignCorners, padding, movesPoints, round }: GridPlan,
  snap: (x: number) => number
): number {
  const size = dims[axis]
  const given = grid[(point + 1) * dims.length - 1 - axis]
  const at = snap(
    alignCorners
      ? round(round(round(given + 1) / 2) * (size - 1))
      : round(round(round(round(given + 1) * size) - 1) / 2)
  )
  if (!movesPoints || padding === 'zeros') return at
  const [low, high] = edges(size, alignCorners)
  if (at >= low && at <= high) return at
  return padding === 'border' ? Math.min(size - 1, Math.max(0, at)) : reflect(at, low, high)
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
  const offsets = elements > 0x7fffffff ? new Float64Array(batch * points) : new Int32Array(batch * points)
  for (let point = 0; point < offsets.length; point++) {
    let offset = 0
    for (let axis = 0; axis < dims.length && offset >= 0; axis++) {
      const index = elementAt(Math.trunc(coordinateAt(grid, point, axis, plan, roundHalfToEven)), dims[axis], plan)
      offset = index >= 0 ? offset + index * strides[axis] : -1
    }
    offsets[point] = offset
  }
  return offsets
}

/** Limit on the neighbours of a point that a filter weighs; their number is exponential in the number of dims. */
const MAX_NEIGHBOURS = 1 << 16

/**
 * Computes `out[n, c, p]` as the sum of the elements around point p of batch n, weighted by a filter along every axis.
 * @param slots numbers of an element: 1, or 2 where it is complex
 * @throws NodewiseError `limit-exceeded`
 */
export function* sampleFiltered(
  x: Numbers,
  grid: Numbers,
  out: Numbers,
  channels: number,
  slots: number,
  filter: Filter,
  plan: GridPlan
): Generator<void> {
  const { dims, batch, points } = plan
  const neighbours = (2 * filter.support) ** dims.length
  if (neighbours > MAX_NEIGHBOURS)
    fail(
      'limit-exceeded',
      `a point in ${dims.length} dims has ${neighbours} neighbours; at most ${MAX_NEIGHBOURS} are weighed`
    )
  const plane = product(dims)
  const batchOf = Math.max(1, Math.min(points, Math.floor(TABLE / neighbours)))
  const entries = batchOf * neighbours
  const table: Neighbours = {
    offsets: plane > 0x7fffffff ? new Float64Array(entries) : new Int32Array(entries),
    weights: new Float64Array(entries),
    counts: new Int32Array(batchOf)
  }
  const pace = new Pace()
  for (let n = 0; n < batch; n++) {
    for (let p = 0; p < points; p += batchOf) {
      const count = Math.min(batchOf, points - p)
      for (let i = 0; i < count; i++)
        table.counts[i] = neighboursOf(grid, n * points + p + i, filter, plan, table, i * neighbours)
      for (let c = 0; c < channels; c++) {
        const base = (n * channels + c) * plane
        const target = (n * channels + c) * points + p
        if (slots === 1) sumPoints(x, base, table, neighbours, count, out, target)
        else sumParts(x, base, table, neighbours, count, out, target, slots)
        if (pace.isDue(count * neighbours * COST.element)) yield
      }
    }
  }
}

/** Neighbours of points whose weights are worked out at once, before the channels are summed. */
const TABLE = 1 << 10

/** The neighbours of some points: as many entries for each of them, of which the first `counts` of a point count. */
interface Neighbours {
  readonly offsets: Positions
  readonly weights: Float64Array
  readonly counts: Int32Array
}

/** Sums the neighbours of some points in one plane. */
function sumPoints(
  x: Numbers,
  base: number,
  { offsets, weights, counts }: Neighbours,
  stride: number,
  count: number,
  out: Numbers,
  target: number
): void {
  for (let i = 0, k = 0; i < count; i++, k += stride) {
    let sum = 0
    for (let j = k, end = k + counts[i]; j < end; j++) sum += weights[j] * x[base + offsets[j]]
    out[target + i] = sum
  }
}

/** {@link sumPoints} of elements of several numbers. */
function sumParts(
  x: Numbers,
  base: number,
  { offsets, weights, counts }: Neighbours,
  stride: number,
  count: number,
  out: Numbers,
  target: number,
  slots: number
): void {
  for (let i = 0, k = 0; i < count; i++, k += stride) {
    for (let part = 0; part < slots; part++) {
      let sum = 0
      for (let j = k, end = k + counts[i]; j < end; j++) sum += weights[j] * x[(base + offsets[j]) * slots + part]
      out[(target + i) * slots + part] = sum
    }
  }
}

/**
 * Finds the offsets and weights of the neighbours of a point, axis by axis; leaves out padding and weights of 0.
 * @param start its first entry
 * @returns the number of neighbours
 */
function neighboursOf(
  grid: Numbers,
  point: number,
  filter: Filter,
  plan: GridPlan,
  { offsets, weights }: Neighbours,
  start: number
): number {
  const taps = 2 * filter.support
  let count = 1
  offsets[start] = 0
  weights[start] = 1
  for (let axis = 0; axis < plan.dims.length; axis++) {
    const size = plan.dims[axis]
    const at = coordinateAt(grid, point, axis, plan, asItIs)
    const first = Math.floor(at) - filter.support + 1
    // Backward, so that no entry is overwritten before it is read.
    for (let k = count - 1; k >= 0; k--) {
      const offset = offsets[start + k]
      const weight = weights[start + k]
      for (let t = 0; t < taps; t++) {
        const index = elementAt(first + t, size, plan)
        offsets[start + k * taps + t] = index < 0 || offset < 0 ? -1 : offset * size + index
        weights[start + k * taps + t] = weight * filter.weight(first + t - at)
      }
    }
    count *= taps
  }
  let kept = start
  for (let k = start; k < start + count; k++) {
    if (offsets[k] < 0 || weights[k] === 0) continue
    offsets[kept] = offsets[k]
    weights[kept++] = weights[k]
  }
  return kept - start
}

const asItIs = (x: number): number => x
