import { fail } from '../../errors.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product, stridesOf } from '../../tensor/tensor.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { WORK_PER_YIELD } from '../core/steps.ts'
import type { Positions } from '../gather/indices.ts'
import type { Filter } from './resize-taps.ts'

export type Padding = 'zeros' | 'border' | 'reflection'

/** How points of a grid become places in the data. */
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
   * Whether a point beyond the edges is moved inside before its neighbours are looked up (ONNX), or its neighbours are,
   * each by itself.
   */
  readonly movesPoints: boolean
  /** What steps are rounded by: `Math.fround` unless the grid has double precision. */
  readonly round: (x: number) => number
}

/** Coordinate `axis` of a point, in elements; moved inside where the plan says so. */
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
  const [low, high] = edges(size, alignCorners)
  if (!movesPoints || padding === 'zeros' || (at >= low && at <= high)) return at
  return padding === 'border' ? Math.min(size - 1, Math.max(0, at)) : reflect(at, low, high)
}

const edges = (size: number, alignCorners: boolean): [number, number] =>
  alignCorners ? [0, size - 1] : [-0.5, size - 0.5]

/** Mirrored at the edges until it lies between them. */
function reflect(at: number, low: number, high: number): number {
  const span = high - low
  if (span <= 0) return low
  const rest = Math.abs(at - low) % (2 * span)
  return low + (rest <= span ? rest : 2 * span - rest)
}

/** The element that a whole place means; -1 for a zero. */
function elementAt(place: number, size: number, { padding, alignCorners }: GridPlan): number {
  if (place >= 0 && place < size) return place
  if (padding === 'zeros') return -1
  if (padding === 'border') return place < 0 ? 0 : size - 1
  const [low, high] = edges(size, alignCorners)
  return Math.min(size - 1, Math.max(0, Math.trunc(reflect(place, low, high))))
}

/** The element nearest to each point (ties to the even place), as an offset into a plane; -1 for a zero. */
export function nearestOffsets(grid: Numbers, plan: GridPlan): Positions {
  const { dims, batch, points } = plan
  const strides = stridesOf(dims)
  const elements = product(dims)
  const offsets = elements > 0x7fffffff ? new Float64Array(batch * points) : new Int32Array(batch * points)
  for (let point = 0; point < offsets.length; point++) {
    let offset = 0
    for (let axis = 0; axis < dims.length && offset >= 0; axis++) {
      const place = elementAt(Math.trunc(coordinateAt(grid, point, axis, plan, roundHalfToEven)), dims[axis], plan)
      offset = place >= 0 ? offset + place * strides[axis] : -1
    }
    offsets[point] = offset
  }
  return offsets
}

/** Neighbours of a point that a filter may weigh; a filter in many dims has more. */
const MAX_NEIGHBOURS = 1 << 16

/**
 * `out[n, c, p]` is the sum of the elements around point p of batch n, weighted by a filter along every axis. An
 * element has `slots` numbers.
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
  const offsets = new Float64Array(neighbours)
  const weights = new Float64Array(neighbours)
  const plane = product(dims)
  let work = 0
  for (let n = 0; n < batch; n++) {
    for (let p = 0; p < points; p++) {
      const count = neighboursOf(grid, n * points + p, filter, plan, offsets, weights)
      for (let c = 0; c < channels; c++) {
        const base = (n * channels + c) * plane
        const target = ((n * channels + c) * points + p) * slots
        for (let part = 0; part < slots; part++) {
          let sum = 0
          for (let k = 0; k < count; k++) sum += weights[k] * x[(base + offsets[k]) * slots + part]
          out[target + part] = sum
        }
      }
      work += neighbours * channels
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
}

/** Offsets and weights of the neighbours that have both, axis by axis; their number. */
function neighboursOf(
  grid: Numbers,
  point: number,
  filter: Filter,
  plan: GridPlan,
  offsets: Float64Array,
  weights: Float64Array
): number {
  const taps = 2 * filter.support
  let count = 1
  offsets[0] = 0
  weights[0] = 1
  for (let axis = 0; axis < plan.dims.length; axis++) {
    const size = plan.dims[axis]
    const at = coordinateAt(grid, point, axis, plan, x => x)
    const first = Math.floor(at) - filter.support + 1
    // From the last entry on, so that none is overwritten before it is read.
    for (let k = count - 1; k >= 0; k--) {
      const offset = offsets[k]
      const weight = weights[k]
      for (let t = 0; t < taps; t++) {
        const place = elementAt(first + t, size, plan)
        offsets[k * taps + t] = place < 0 || offset < 0 ? -1 : offset * size + place
        weights[k * taps + t] = weight * filter.weight(first + t - at)
      }
    }
    count *= taps
  }
  let kept = 0
  for (let k = 0; k < count; k++) {
    if (offsets[k] < 0 || weights[k] === 0) continue
    offsets[kept] = offsets[k]
    weights[kept++] = weights[k]
  }
  return kept
}
