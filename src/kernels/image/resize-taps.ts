import { inSteps, isDue } from '../core/steps.ts'
import { type AxisPositions, type AxisTaps, emptyTaps } from './resample.ts'

/** How a position along a resized axis becomes one in the data (ONNX Resize, OpenVINO Interpolate). */
export type CoordinateMode =
  | 'half_pixel'
  | 'half_pixel_symmetric'
  | 'pytorch_half_pixel'
  | 'align_corners'
  | 'asymmetric'
  | 'tf_half_pixel_for_nn'
  | 'tf_crop_and_resize'

/** `simple`: up where the axis shrinks, else the fraction is dropped. */
export type NearestMode = 'round_prefer_floor' | 'round_prefer_ceil' | 'floor' | 'ceil' | 'simple'

/** One axis and what it becomes. */
export interface ResizedAxis {
  readonly axis: number
  /** Elements in the data; with OpenVINO's pads counted in. */
  readonly size: number
  /** Elements in the result. */
  readonly count: number
  readonly scale: number
  /** What the length of the result is where its fraction counts: `size * scale` in ONNX, `count` in OpenVINO. */
  readonly length: number
  /** Part of the data for `tf_crop_and_resize`, as shares of its length. */
  readonly start: number
  readonly end: number
}

/**
 * The place in the data of each position of the result.
 * @param round what every step is rounded by: `Math.fround` computes as the runtimes do, which decides where a place
 *   falls half-way
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
      const offset = (size / 2) * (1 - count / length)
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

/** The element nearest to each position; those beyond the ends are the elements at the ends. */
export function* nearestPositions(
  axis: ResizedAxis,
  coordinates: CoordinateMode,
  nearest: NearestMode
): Generator<void, AxisPositions> {
  const at = coordinatesOf(coordinates, axis, Math.fround)
  const places = new Int32Array(axis.count)
  yield* inSteps(
    axis.count,
    (from, to) => {
      for (let i = from; i < to; i++) places[i] = clamp(NEAREST[nearest](at(i), axis.scale < 1), axis.size)
    },
    4
  )
  return { axis: axis.axis, places }
}

const clamp = (place: number, size: number): number => Math.min(size - 1, Math.max(0, place))

/** A weight by distance, 0 from `support` on. */
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
  /** Distances are multiplied by it: below 1 the filter is stretched over more elements. */
  readonly density: number
  /** What lies beyond the ends: the elements at the ends again, or nothing, the other weights taking its share. */
  readonly beyond: 'edge' | 'nothing'
}

/** What a tap costs, in elements. */
const TAP_COST = 8

/**
 * What each position of the result takes from the data through a filter. Weights add up to 1, or are all 0 where the
 * filter meets nothing.
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
  const pace = { work: 0 }
  for (let i = 0; i < axis.count; i++) {
    const center = at(i)
    const start = Math.floor(center) + first
    let sum = 0
    for (let t = 0; t < taps; t++) {
      const place = start + t
      const inside = place >= 0 && place < axis.size
      const weight = inside || beyond === 'edge' ? filter.weight((place - center) * density) : 0
      result.places[i * taps + t] = clamp(place, axis.size)
      result.weights[i * taps + t] = weight
      sum += weight
      if (isDue(pace, TAP_COST)) yield
    }
    if (sum !== 0) for (let t = i * taps; t < (i + 1) * taps; t++) result.weights[t] /= sum
  }
  return result
}
