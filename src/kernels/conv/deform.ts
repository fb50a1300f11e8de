import { fail } from '../../errors.ts'
import { planeSizes } from '../../shapes/window.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import { allocate, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { convertPaced } from '../core/convert-paced.ts'
import { targetOf } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix } from '../matrix/gemm.ts'
import { type ConvPlan, fillWithBias, type WindowRange, windowRanges } from './conv-plan.ts'

/**
 * What is read near the edge of a plane. `zeros`: elements outside are zero and interpolated like others, so that
 * values fade out within one cell. `shift`: a location before the first element, or a whole cell or more after the
 * last, reads zero; one less than a cell after the last reads the last element.
 */
export type DeformBorder = 'zeros' | 'shift'

export interface DeformPlan extends ConvPlan {
  readonly offsetGroups: number
  readonly border: DeformBorder
}

export interface DeformOperands {
  readonly x: Tensor
  readonly w: Tensor
  /** `[batch, offsetGroups * taps * axes, …windows]` */
  readonly offsets: Tensor
  /** `[batch, offsetGroups * taps, …windows]` */
  readonly mask: Tensor | undefined
  readonly bias: Tensor | undefined
}

/** Elements of an im2col matrix, so that it stays in the cache, and the least number of its columns. */
const MAX_MATRIX_ELEMENTS = 1 << 18
const MIN_COLUMNS = 16
/** Interpolation reads 2^axes elements, so the number of axes is limited. */
const MAX_AXES = 8
/** Nanoseconds for finding one location and for reading it in one channel. */
const LOCATION_COST = 4 * COST.element

/**
 * Deformable convolution (arXiv 1703.06211, 1811.11168): each tap reads at a location moved by an offset, interpolated
 * linearly and multiplied by a mask. Computed in double precision; integers are truncated at the end.
 * @throws NodewiseError `limit-exceeded` for more than 8 spatial axes
 */
export function* deformConvolve(operands: DeformOperands, out: Tensor, plan: DeformPlan): Generator<void> {
  if (out.data.length === 0) return
  if (plan.axes.length > MAX_AXES) fail('limit-exceeded', `${plan.axes.length} spatial axes are more than ${MAX_AXES}`)
  const sums = isFloat(out.type) ? undefined : allocate('float64', out.dims)
  const target = targetOf(sums ?? out)
  yield* deformNumbers(operands, target.numbers, plan)
  yield* target.finish()
  if (sums) yield* convertPaced(sums, out)
}

function* deformNumbers(
  { x, w, offsets, mask, bias }: DeformOperands,
  out: Numbers,
  plan: DeformPlan
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const weights = toDoubles(w)
  const sample = samplerOf(toDoubles(x), toDoubles(offsets), mask && toDoubles(mask), plan)
  if (bias) fillWithBias(out, toDoubles(bias), batch)
  const maxCount = Math.max(MIN_COLUMNS, Math.floor(MAX_MATRIX_ELEMENTS / Math.max(1, groups * height)))
  const columns = new Float64Array(groups * height * Math.min(maxCount, windows))
  const pace = new Pace()
  for (let n = 0; n < batch; n++) {
    for (const range of windowRanges(axes, maxCount)) {
      yield* sample(n, range, columns)
      for (let g = 0; g < groups; g++) {
        const left = matrix(weights, g * windowChannels * height, height)
        const right = matrix(columns, g * height * range.count, range.count)
        const start = (n * groups + g) * windowChannels * windows + range.start
        const sums: Matrix = { data: out, offset: start, rowStride: windows, columnStride: 1 }
        yield* gemm(windowChannels, range.count, height, left, right, sums, pace)
      }
    }
  }
}

/** Fills an im2col matrix `[channels * taps, windows of the range]` with what the taps read of batch `n`. */
type Sampler = (n: number, range: WindowRange, columns: Float64Array) => Generator<void>

function samplerOf(x: Numbers, offsets: Numbers, mask: Numbers | undefined, plan: DeformPlan): Sampler {
  const { groups, elementChannels, offsetGroups, axes, border } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const allChannels = groups * elementChannels
  const channels = allChannels / offsetGroups
  const windowStrides = stridesOf(axes.map(axis => axis.count))
  const tapStrides = stridesOf(axes.map(axis => axis.kernel))
  const strides = stridesOf(axes.map(axis => axis.size))
  const corners: Corners = {
    at: new Float64Array(2 ** axes.length),
    weights: new Float64Array(2 ** axes.length),
    count: 0
  }

  /** Finds the elements around the location that a tap reads, and their weights. */
  const locate = (tap: number, window: number, offset: number): void => {
    corners.count = 1
    corners.at[0] = 0
    corners.weights[0] = 1
    for (let a = 0; a < axes.length; a++) {
      const { count, kernel, stride, dilation, begin, size } = axes[a]
      const first = (Math.floor(window / windowStrides[a]) % count) * stride - begin
      const location = first + (Math.floor(tap / tapStrides[a]) % kernel) * dilation
      splitCorners(corners, location + offsets[offset + a * windows], size, strides[a], border)
    }
  }

  const pace = new Pace()
  return function* (n, { start, count }, columns) {
    for (let row = 0; row < offsetGroups * taps; row++) {
      const tap = row % taps
      const group = Math.floor(row / taps)
      const plane = n * offsetGroups * taps + row
      for (let i = 0; i < count; i++) {
        locate(tap, start + i, plane * axes.length * windows + start + i)
        const scale = mask ? mask[plane * windows + start + i] : 1
        for (let c = group * channels; c < (group + 1) * channels; c++) {
          columns[(c * taps + tap) * count + i] = scale * interpolated(x, (n * allChannels + c) * elements, corners)
        }
        if (pace.isDue((channels + 1) * LOCATION_COST)) yield
      }
    }
  }
}

/** Elements around a location and their weights; elements of weight 0 are left out. */
interface Corners {
  readonly at: Float64Array
  readonly weights: Float64Array
  count: number
}

/**
 * Splits every corner along one axis into the elements before and after the location; no corner is left where the
 * location reads zero.
 */
function splitCorners(corners: Corners, location: number, size: number, stride: number, border: DeformBorder): void {
  const isReached = border === 'zeros' ? location > -1 : location >= 0
  if (!isReached || !(location < size)) {
    corners.count = 0
    return
  }
  const low = Math.floor(location)
  const second = low + 1 < size ? location - low : 0
  const first = border === 'shift' && low === size - 1 ? 1 : low < 0 ? 0 : 1 - (location - low)
  const { at, weights, count } = corners
  if (first !== 0 && second !== 0) {
    for (let i = 0; i < count; i++) {
      at[count + i] = at[i] + (low + 1) * stride
      weights[count + i] = weights[i] * second
    }
    corners.count = 2 * count
  }
  const [kept, scale] = first !== 0 ? [low, first] : [low + 1, second]
  for (let i = 0; i < count; i++) {
    at[i] += kept * stride
    weights[i] *= scale
  }
}

function interpolated(x: Numbers, from: number, { at, weights, count }: Corners): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += weights[i] * x[from + at[i]]
  return sum
}
