import { fail } from '../../errors.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import { allocate, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { convertPaced } from '../core/convert-paced.ts'
import { targetOf } from '../core/numbers.ts'
import { gemm, type Matrix } from '../matrix/gemm.ts'
import { matrix } from '../matrix/matmul.ts'
import { type ConvPlan, fillWithBias, type Part, partsOf, planeSizes } from './conv-plan.ts'

/**
 * What is read near the border. `zeros`: what lies outside is zero, so that values fade out within one cell. `shift`:
 * locations before
 * the first element or from one cell after the last on read zero; those less than a cell after the last read the last.
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

const COLUMN_ELEMENTS = 1 << 18
const MIN_COLUMNS = 16
/** Interpolation reads 2^axes elements. */
const MAX_AXES = 8
const LOCATIONS_A_TURN = 1 << 16

/**
 * A convolution whose taps read from places moved by offsets, interpolated linearly and weighted by a mask, all in
 * double precision;
 * integers are truncated at the end.
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
  const most = Math.max(MIN_COLUMNS, Math.floor(COLUMN_ELEMENTS / Math.max(1, groups * height)))
  const columns = new Float64Array(groups * height * Math.min(most, windows))
  const pace = { work: 0 }
  for (let n = 0; n < batch; n++) {
    for (const part of partsOf(axes, most)) {
      yield* sample(n, part, columns)
      for (let g = 0; g < groups; g++) {
        const left = matrix(weights, g * windowChannels * height, height)
        const right = matrix(columns, g * height * part.count, part.count)
        const start = (n * groups + g) * windowChannels * windows + part.start
        const sums: Matrix = { data: out, offset: start, rowStride: windows, columnStride: 1 }
        yield* gemm(windowChannels, part.count, height, left, right, sums, pace)
      }
    }
  }
}

/** Fills columns `[channels * taps][windows of the part]` with what the taps read of batch `n`. */
type Sampler = (n: number, part: Part, columns: Float64Array) => Generator<void>

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
    share: new Float64Array(2 ** axes.length),
    count: 0
  }

  /** Finds the elements around the place that a tap reads, and their shares. */
  const locate = (tap: number, window: number, offset: number): void => {
    corners.count = 1
    corners.at[0] = 0
    corners.share[0] = 1
    for (let a = 0; a < axes.length; a++) {
      const { count, kernel, stride, dilation, begin, size } = axes[a]
      const first = (Math.floor(window / windowStrides[a]) % count) * stride - begin
      const place = first + (Math.floor(tap / tapStrides[a]) % kernel) * dilation
      splitCorners(corners, place + offsets[offset + a * windows], size, strides[a], border)
    }
  }

  return function* (n, { start, count }, columns) {
    let work = 0
    for (let row = 0; row < offsetGroups * taps; row++) {
      const tap = row % taps
      const group = Math.floor(row / taps)
      const place = n * offsetGroups * taps + row
      for (let i = 0; i < count; i++) {
        locate(tap, start + i, place * axes.length * windows + start + i)
        const scale = mask ? mask[place * windows + start + i] : 1
        for (let c = group * channels; c < (group + 1) * channels; c++) {
          columns[(c * taps + tap) * count + i] = scale * interpolated(x, (n * allChannels + c) * elements, corners)
        }
        work += channels + 1
        if (work < LOCATIONS_A_TURN) continue
        work = 0
        yield
      }
    }
  }
}

/** Elements around a place and their shares; those without a share are left out. */
interface Corners {
  readonly at: Float64Array
  readonly share: Float64Array
  count: number
}

/** Splits every corner along one axis into the elements before and after a place; none is left when it reads zero. */
function splitCorners(corners: Corners, place: number, size: number, stride: number, border: DeformBorder): void {
  const lowest = border === 'zeros' ? place > -1 : place >= 0
  if (!lowest || !(place < size)) {
    corners.count = 0
    return
  }
  const low = Math.floor(place)
  const second = low + 1 < size ? place - low : 0
  const first = border === 'shift' && low === size - 1 ? 1 : low < 0 ? 0 : 1 - (place - low)
  const { at, share, count } = corners
  if (first !== 0 && second !== 0) {
    for (let i = 0; i < count; i++) {
      at[count + i] = at[i] + (low + 1) * stride
      share[count + i] = share[i] * second
    }
    corners.count = 2 * count
  }
  const [kept, scale] = first !== 0 ? [low, first] : [low + 1, second]
  for (let i = 0; i < count; i++) {
    at[i] += kept * stride
    share[i] *= scale
  }
}

function interpolated(x: Numbers, from: number, { at, share, count }: Corners): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += share[i] * x[from + at[i]]
  return sum
}
