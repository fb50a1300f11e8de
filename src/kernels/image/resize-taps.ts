import { COST, inChunks, Pace } from '../core/pace.ts'
import { type AxisIndices, type AxisTaps, emptyTaps, type MarkedAxis } from './resample.ts'

/** How an index along a resized axis is mapped to a coordinate in the data (ONNX Resize, OpenVINO Interpolate). */
export type CoordinateMode =
  | 'half_pixel'
  | 'half_pixel_symmetric'
  | 'pytorch_half_pixel'
  | 'align_corners'
  | 'asymmetric'
  | 'tf_half_pixel_for_nn'
  | 'tf_crop_and_resize'

/**
 * How a coordinate becomes the index of the nearest element. `simple` (a name of OpenVINO; Upsample and Resize-10 of
 * ONNX do the same): `ceil` where the axis shrinks, otherwise the fraction is dropped.
 */
export type NearestMode = 'round_prefer_floor' | 'round_prefer_ceil' | 'floor' | 'ceil' | 'simple'

/** One axis and its new size. */
export interface ResizedAxis {
  readonly axis: number
  /** Elements in the data, including OpenVINO's pads. */
  readonly size: number
  /** Elements in the result. */
  readonly count: number
  readonly scale: number
  /** Length of the result, possibly with a fraction: `size * scale` in ONNX, `count` in OpenVINO. */
  readonly length: number
  /** The cropped range for `tf_crop_and_resize`, normalized to 0 … 1. */
  readonly start: number
  readonly end: number
}

/**
 * The order in which axes are resampled. The axis that shrinks most comes first: the least work, and no intermediate
 * tensor is larger than data and result. Of axes that grow alike the innermost comes first: the others then sum whole
 * rows, which is faster.
 */
export function inOrder(axes: readonly ResizedAxis[]): ResizedAxis[] {
  const growth = ({ count, size }: ResizedAxis): number => count / size
  return axes.toSorted((a, b) => growth(a) - growth(b) || (growth(a) > 1 ? b.axis - a.axis : 0))
}

/**
 * Maps each index of the result to a coordinate in the data.
 * @param round rounds every intermediate result: with `Math.fround` ties fall as in the runtimes, which use float32
 */
export function coordinatesOf(
  mode: CoordinateMode,
  { size, count, scale: given, length, start, end }: ResizedAxis,
  round: (x: number) => number
): (i: number) => number {
  const scale = round(given)
  const halfPixel = (i: number): number => round(round(round(i + 0.5) / scale) - 0.5)
  switch (mode) {
    case 'half_pixel':
      return halfPixel
    case 'half_pixel_symmetric': {
      const share = round(count / round(scale * size))
      const offset = round((size / 2) * round(1 - share))
      return i => round(offset + halfPixel(i))
    }
    case 'pytorch_half_pixel':
      return count > 1 ? halfPixel : () => 0
    case 'align_corners':
      return length === 1 ? () => 0 : i => round(round(i * (size - 1)) / round(length - 1))
    case 'asymmetric':
      return i => round(i / scale)
    case 'tf_half_pixel_for_nn':
      return i => round(round(i + 0.5) / scale)
    case 'tf_crop_and_resize':
      return count > 1
        ? i => start * (size - 1) + (i * (end - start) * (size - 1)) / (count - 1)
        : () => 0.5 * (start + end) * (size - 1)
  }
}

const NEAREST: Readonly<Record<NearestMode, (at: number, shrinks: boolean) => number>> = {
  round_prefer_floor: at => Math.ceil(at - 0.5),
  round_prefer_ceil: at => Math.floor(at + 0.5),
  floor: at => Math.floor(at),
  ceil: at => Math.ceil(at),
  simple: (at, shrinks) => (shrinks ? Math.ceil(at) : Math.trunc(at))
}

/** A coordinate that is off the middle of two elements by at most `tolerance` lies in the middle. */
function snapped(coordinate: number, tolerance: number): number {
  const middle = Math.floor(coordinate) + 0.5
  return Math.abs(coordinate - middle) <= tolerance ? middle : coordinate
}

/**
 * The index of the element nearest to each coordinate, clamped to the axis.
 * @param tolerance how far a coordinate may be off the middle of two elements and still count as the middle
 */
export function* nearestIndices(
  axis: ResizedAxis,
  coordinates: CoordinateMode,
  nearest: NearestMode,
  tolerance = 0
): Generator<void, AxisIndices> {
  const exact = coordinatesOf(coordinates, axis, Math.fround)
  const at = nearest.startsWith('round') ? (i: number): number => snapped(exact(i), tolerance) : exact
  const indices = new Int32Array(axis.count)
  yield* inChunks(
    axis.count,
    (from, to) => {
      for (let i = from; i < to; i++) indices[i] = clamp(NEAREST[nearest](at(i), axis.scale < 1), axis.size)
    },
    4 * COST.element
  )
  return { axis: axis.axis, indices }
}

const clamp = (index: number, size: number): number => Math.min(size - 1, Math.max(0, index))

/** Weights by distance; 0 from distance `support` on. */
export interface Filter {
  readonly support: number
  weight(distance: number): number
}

export const LINEAR: Filter = { support: 1, weight: distance => Math.max(0, 1 - Math.abs(distance)) }

/** R. G. Keys, Cubic convolution interpolation for digital image processing, equation (4). */
export const cubic = (a: number): Filter => ({
  support: 2,
  weight(distance) {
    const d = Math.abs(distance)
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1
    return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0
  }
})

export interface FilterOptions {
  /** Factor on distances: below 1 it widens the filter over more elements (antialiasing). */
  readonly density: number
  /** Outside the data: repeat the element at the edge, or leave taps out and scale up the other weights. */
  readonly beyond: 'edge' | 'nothing'
}

/** Nanoseconds for one tap. */
const TAP_COST = 8 * COST.element

/**
 * The taps and weights of a filter at each index of the result. Weights add up to 1, or are all 0 where every tap is
 * left out.
 */
export function* filterTaps(
  axis: ResizedAxis,
  coordinates: CoordinateMode,
  filter: Filter,
  { density, beyond }: FilterOptions
): Generator<void, AxisTaps> {
  const first = Math.floor(-filter.support / density) + 1
  const taps = 2 - 2 * first
  const result = emptyTaps(axis.axis, axis.count, taps)
  const at = coordinatesOf(coordinates, axis, x => x)
  const pace = new Pace()
  for (let i = 0; i < axis.count; i++) {
    const center = at(i)
    const start = Math.floor(center) + first
    let sum = 0
    for (let t = 0; t < taps; t++) {
      const index = start + t
      const isInside = index >= 0 && index < axis.size
      const weight = isInside || beyond === 'edge' ? filter.weight((index - center) * density) : 0
      result.indices[i * taps + t] = clamp(index, axis.size)
      result.weights[i * taps + t] = weight
      sum += weight
      if (pace.isDue(TAP_COST)) yield
    }
    if (sum !== 0) for (let t = i * taps; t < (i + 1) * taps; t++) result.weights[t] /= sum
  }
  return result
}

/** The axes of which something lies outside the data, which is so in mode `tf_crop_and_resize` alone. */
export function outsideAmong(coordinates: CoordinateMode, axes: readonly ResizedAxis[]): MarkedAxis[] {
  if (coordinates !== 'tf_crop_and_resize') return []
  return axes.flatMap(axis => {
    const { size, count } = axis
    const at = coordinatesOf(coordinates, axis, x => x)
    const marked = (i: number): boolean => at(i) < 0 || at(i) > size - 1
    // Coordinates go straight from the first to the last, so between two that lie inside all do.
    return count > 0 && (marked(0) || marked(count - 1)) ? [{ axis: axis.axis, marked }] : []
  })
}

/** Takes the weights of what lies outside the data, which makes it 0. */
export function leaveOut(tables: readonly AxisTaps[], outside: readonly MarkedAxis[]): void {
  for (const { axis, count, taps, weights } of tables) {
    const marked = outside.find(item => item.axis === axis)?.marked
    if (marked) for (let i = 0; i < count; i++) if (marked(i)) weights.fill(0, i * taps, (i + 1) * taps)
  }
}
