import { fail } from '../errors.ts'
import { MAX_INT32 } from '../tensor/dtype.ts'
import { product } from '../tensor/tensor.ts'
import {
  addDims,
  asDim,
  ceilDivDims,
  type Dim,
  floorDivDims,
  maxDim,
  maxDims,
  minDim,
  minDims,
  mulDims,
  printDim,
  subDims,
  toDim,
  toInt
} from './dim.ts'
import { bounded } from './sym.ts'

/**
 * `explicit`: pads as given. `same_*`: as many windows as strides fit, the odd cell at the end (upper) or the beginning
 * (lower).
 */
export type AutoPad = 'explicit' | 'same_upper' | 'same_lower' | 'valid'

/**
 * How many windows there are where the strides do not come out even; with `ceil-inside` none starts in the padding at
 * the end. Of `same_*` windows only `ceil` may add one, wholly beyond the data, as in OpenVINO.
 */
export type Rounding = 'floor' | 'ceil' | 'ceil-inside'

/**
 * Windows that slide along spatial axes, as nodes describe them: a list that is absent or empty holds 1 (pads: 0) for
 * every axis.
 */
export interface WindowParams {
  readonly strides: readonly number[] | undefined
  readonly dilations: readonly number[] | undefined
  readonly begin: readonly number[] | undefined
  readonly end: readonly number[] | undefined
  readonly autoPad: AutoPad
}

/** The part of {@link WindowParams} that is about one axis; no pads unless they are explicit. */
export interface Sliding {
  readonly stride: number
  readonly dilation: number
  readonly begin: number
  readonly end: number
  readonly autoPad: AutoPad
}

/** Windows along one axis, all numbers: window `w` reads position `w * stride + k * dilation - begin` at tap `k`. */
export interface WindowAxis {
  /** Elements along the axis that windows read; positions outside are padding. */
  readonly size: number
  /** Number of windows. */
  readonly count: number
  /** Number of taps. */
  readonly kernel: number
  readonly stride: number
  readonly dilation: number
  /** Cells of padding before the first element; negative: elements that no window reads. */
  readonly begin: number
  readonly end: number
}

/** An axis of size 1, for data that has fewer axes than a kernel. */
export const ALONE: WindowAxis = { size: 1, count: 1, kernel: 1, stride: 1, dilation: 1, begin: 0, end: 0 }

/** No kernel, stride or pad of a real model comes near it, and sums of them stay exact. */
const MAX_EXTENT = 2 ** 48

/**
 * Windows of each of `rank` spatial axes.
 * @throws NodewiseError `dims-mismatch` for a list of another length, `value-out-of-range` for strides or dilations
 *   below 1 and
 *   negative pads
 */
export function slidings(rank: number, { strides, dilations, begin, end, autoPad }: WindowParams): Sliding[] {
  const explicit = autoPad === 'explicit'
  const lists = {
    stride: axisValues(strides, rank, 'strides', 1),
    dilation: axisValues(dilations, rank, 'dilations', 1),
    begin: axisValues(explicit ? begin : undefined, rank, 'pads at the beginning', 0),
    end: axisValues(explicit ? end : undefined, rank, 'pads at the end', 0)
  }
  return Array.from({ length: rank }, (_, i) => ({
    stride: lists.stride[i],
    dilation: lists.dilation[i],
    begin: lists.begin[i],
    end: lists.end[i],
    autoPad
  }))
}

/**
 * A list with one number for each spatial axis; `least` for all when it is absent or empty.
 * @throws NodewiseError `dims-mismatch`, `value-out-of-range`
 */
export function axisValues(
  list: readonly number[] | undefined,
  rank: number,
  what: string,
  least: number
): readonly number[] {
  if (list === undefined || list.length === 0) return new Array<number>(rank).fill(least)
  if (list.length !== rank) fail('dims-mismatch', `${what} has ${list.length} elements; there are ${rank} spatial axes`)
  const wrong = list.find(value => value < least || value > MAX_INT32)
  if (wrong !== undefined) fail('value-out-of-range', `${what} holds ${wrong}; expected ${least}..${MAX_INT32}`)
  return list
}

/** Cells from the first to the last tap. */
export const extentOf = (kernel: Dim, dilation: number): Dim => addDims(mulDims(subDims(kernel, 1), dilation), 1)

/**
 * Number of windows along an axis of `size` elements.
 * @throws NodewiseError `shape-mismatch` when not even one fits, `value-out-of-range` for a kernel of no size,
 *   `limit-exceeded` for one too large
 */
export function windowCount(
  size: Dim,
  kernel: Dim,
  { stride, dilation, begin, end, autoPad }: Sliding,
  rounding: Rounding = 'floor'
): Dim {
  if (maxDim(kernel) < 1) fail('value-out-of-range', `the kernel has size ${printDim(kernel)}; expected at least 1`)
  const extent = extentOf(kernel, dilation)
  if (minDim(extent) > MAX_EXTENT)
    fail('limit-exceeded', `a kernel of ${printDim(kernel)} taps with dilation ${dilation} is too large`)
  if (autoPad === 'same_upper' || autoPad === 'same_lower') {
    const same = ceilDivDims(size, stride)
    if (rounding !== 'ceil') return asDim(same)
    // Where strides skip cells there may be no pads, and a last window may start beyond the data.
    const unpadded = addDims(ceilDivDims(subDims(size, extent), stride), 1)
    return asDim(maxDims(same, minDims(size, unpadded)))
  }
  const rest = subDims(addDims(size, begin + end), extent)
  const fitting = addDims((rounding === 'floor' ? floorDivDims : ceilDivDims)(rest, stride), 1)
  const mayStartBeyond = rounding === 'ceil-inside' && end + stride > minDim(extent)
  const count = mayStartBeyond ? minDims(fitting, ceilDivDims(addDims(size, begin), stride)) : fitting
  if (maxDim(count) < 1) {
    const padding = begin + end > 0 ? ` with ${begin} and ${end} cells of padding` : ''
    fail(
      'shape-mismatch',
      `a window of ${printDim(extent)} cells does not fit into ${printDim(size)} elements${padding}`
    )
  }
  return atLeastOne(count)
}

/** As {@link windowCount}; without padding, 0 along an axis too short for a window. */
export function windowCountOrNone(size: Dim, kernel: Dim, sliding: Sliding): Dim {
  const extent = extentOf(kernel, sliding.dilation)
  const fits = minDim(size) >= maxDim(extent)
  if (sliding.autoPad !== 'valid' || fits || minDim(extent) > MAX_EXTENT) return windowCount(size, kernel, sliding)
  return asDim(maxDims(0, addDims(floorDivDims(subDims(size, extent), sliding.stride), 1)))
}

/** The dim where it is known that an axis without elements is an error. */
export const atLeastOne = (dim: Dim): Dim => toDim(bounded(toInt(dim), 1, Infinity) ?? 1n)

/** What {@link windowCount} says, with the pads that it implies. */
export function windowAxis(
  size: number,
  kernel: number,
  count: number,
  { stride, dilation, begin, end, autoPad }: Sliding
): WindowAxis {
  if (autoPad === 'explicit' || autoPad === 'valid') return { size, count, kernel, stride, dilation, begin, end }
  const padded = Math.min(count, Math.ceil(size / stride))
  const total = Math.max(0, (padded - 1) * stride + (kernel - 1) * dilation + 1 - size)
  const first = Math.floor((total + (autoPad === 'same_lower' ? 1 : 0)) / 2)
  return { size, count, kernel, stride, dilation, begin: first, end: total - first }
}

/** Windows of all spatial axes of data; `dims` and `counts` are those of the spatial axes. */
export const windowAxes = (
  dims: readonly number[],
  kernel: readonly number[],
  counts: readonly number[],
  params: WindowParams
): WindowAxis[] => slidings(dims.length, params).map((sliding, i) => windowAxis(dims[i], kernel[i], counts[i], sliding))

/** Windows from which blocks of this size are cut that make up an image, which has the last dims. */
export function blockAxes(dims: readonly number[], block: readonly number[], params: WindowParams): WindowAxis[] {
  const image = dims.slice(-block.length)
  const counts = slidings(image.length, params).map((sliding, i) => windowCount(image[i], block[i], sliding) as number)
  return windowAxes(image, block, counts, params)
}

/** Numbers of elements, windows and taps of a plane. */
export interface PlaneSizes {
  readonly elements: number
  readonly windows: number
  readonly taps: number
}

export const planeSizes = (axes: readonly WindowAxis[]): PlaneSizes => ({
  elements: product(axes.map(axis => axis.size)),
  windows: product(axes.map(axis => axis.count)),
  taps: product(axes.map(axis => axis.kernel))
})
