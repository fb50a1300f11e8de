import type { Tensor } from 'nodewise'

export type Numbers =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array

/** The elements as numbers; undefined for strings and complex numbers. 64-bit integers are rounded beyond 2^53. */
export function numbersOf(tensor: Tensor): Numbers | undefined {
  const { type, data } = tensor as { type: string; data: unknown }
  if (Array.isArray(data) || type.startsWith('complex')) return undefined
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return Float64Array.from(data, Number)
  // 16-bit and smaller floats are bit patterns.
  if (/^(b?float(16|8|4)|nf4)/.test(type)) return tensor.toFloat32()
  return data as Numbers
}

/** Bins of a histogram. */
export const BINS = 48

/** What is in a tensor. Absent fields: there is no finite number in it. */
export interface Statistics {
  readonly elements: number
  readonly min?: number
  readonly max?: number
  readonly mean?: number
  readonly deviation?: number
  readonly zeros: number
  readonly nans: number
  readonly infinities: number
}

/** Whether NaN or infinities are in a value. */
export const isNotFinite = ({ statistics }: { readonly statistics?: Statistics }): boolean =>
  statistics !== undefined && statistics.nans + statistics.infinities > 0

/**
 * Statistics in one pass; NaN and infinities are counted and left out of the rest. Sums are those of the distances from
 * the first number: the squares of large numbers that differ little would lose the difference.
 */
export function statisticsOf(numbers: Numbers): Statistics {
  let [min, max, sum, squares, zeros, nans, infinities] = [Infinity, -Infinity, 0, 0, 0, 0, 0]
  let [first, isFirst] = [0, true]
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number - number !== 0) {
      if (number !== number) nans++
      else infinities++
      continue
    }
    if (number < min) min = number
    if (number > max) max = number
    if (number === 0) zeros++
    if (isFirst) [first, isFirst] = [number, false]
    const distance = number - first
    sum += distance
    squares += distance * distance
  }
  const counted = numbers.length - nans - infinities
  const offset = sum / counted
  const deviation = Math.sqrt(Math.max(0, squares / counted - offset * offset))
  return {
    elements: numbers.length,
    ...(counted > 0 && { min, max, mean: first + offset, deviation }),
    zeros,
    nans,
    infinities
  }
}

/** How many elements fall into each of {@link BINS} equal parts of the range. */
export function histogramOf(numbers: Numbers, { min, max }: Statistics): number[] {
  const bins = new Array<number>(BINS).fill(0)
  if (min === undefined || max === undefined) return bins
  const scale = max > min ? BINS / (max - min) : 0
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number - number === 0) bins[Math.min(BINS - 1, Math.floor((number - min) * scale))]++
  }
  return bins
}

/** A plane of a tensor for a picture: its last two axes at an index of the others, thinned out where it is large. */
export interface Plane {
  readonly width: number
  readonly height: number
  readonly values: Float32Array
  /** How many planes there are. */
  readonly planes: number
}

const MAX_PIXELS = 512

/** @param index which plane, counted in row-major order of the leading axes */
export function planeOf(numbers: Numbers, dims: readonly number[], index: number): Plane {
  const columns = dims.at(-1) ?? 1
  const rows = dims.at(-2) ?? 1
  const planes = Math.max(1, columns * rows === 0 ? 1 : Math.round(numbers.length / (columns * rows)))
  const [stepX, stepY] = [Math.ceil(columns / MAX_PIXELS), Math.ceil(rows / MAX_PIXELS)]
  const [width, height] = [Math.ceil(columns / stepX), Math.ceil(rows / stepY)]
  const values = new Float32Array(width * height)
  const start = Math.min(index, planes - 1) * rows * columns
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) values[y * width + x] = numbers[start + y * stepY * columns + x * stepX]
  return { width, height, values, planes }
}
