import type { Numbers } from '../../tensor/elements.ts'
import { roundHalfAwayFromZero } from '../core/rounding.ts'
import { WORK_PER_YIELD } from '../core/steps.ts'
import { bilinear } from './roi-pool.ts'

/**
 * A map `[N, inputs, H, W]` whose channels stand for positions in a region, and a result `[R, channels, pooled,
 * pooled]`.
 */
export interface PositionPlan {
  readonly inputs: number
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly pooled: number
  readonly scale: number
  /** Parts of a region (bilinear) or samples of a bin (deformable). */
  readonly bins: readonly [y: number, x: number]
}

/** Offsets of bins `[R, 2 * classes, parts, parts]`, as shares of the region's size once multiplied by `deviation`. */
export interface Offsets {
  readonly numbers: Numbers
  readonly classes: number
  readonly parts: number
  readonly deviation: number
}

/** What a region of position-sensitive pooling is worth at a channel and bin; `image` is where its image begins. */
type Value = (image: number, c: number, binY: number, binX: number) => number

function* poolPositions(
  images: Int32Array,
  out: Numbers,
  { inputs, height, width, channels, pooled }: PositionPlan,
  work: number,
  valueOf: (r: number) => Value
): Generator<void> {
  let done = 0
  let target = 0
  for (let r = 0; r < images.length; r++) {
    const value = valueOf(r)
    for (let c = 0; c < channels; c++) {
      for (let bin = 0; bin < pooled * pooled; bin++)
        out[target++] = value(images[r] * inputs * height * width, c, Math.floor(bin / pooled), bin % pooled)
      done += work * pooled * pooled
      if (done < WORK_PER_YIELD) continue
      done = 0
      yield
    }
  }
}

/** Height and width of a region whose corners are in the wrong order, in elements. */
const MIN_SIZE = 0.1

/** Averages over the elements of each bin, which has a channel of its own (R-FCN, arXiv 1605.06409). */
export function* averagePositions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PositionPlan
): Generator<void> {
  const { height, width, pooled, scale } = plan
  yield* poolPositions(images, out, plan, Math.ceil((height * width) / 4), r => {
    const corner = (i: number, extra: number): number =>
      Math.fround((roundHalfAwayFromZero(rois[5 * r + i]) + extra) * scale)
    const start = [corner(2, 0), corner(1, 0)] as const
    const step = [corner(4, 1) - start[0], corner(3, 1) - start[1]].map(size =>
      Math.fround(Math.max(MIN_SIZE, size) / pooled)
    )
    const range = (axis: 0 | 1, bin: number, size: number): [number, number] => {
      const clip = (at: number): number => Math.min(size, Math.max(0, at))
      const edge = (i: number): number => Math.fround(start[axis] + Math.fround(i * step[axis]))
      return [clip(Math.floor(edge(bin))), clip(Math.ceil(edge(bin + 1)))]
    }
    return (image, c, binY, binX) => {
      const [top, bottom] = range(0, binY, height)
      const [left, right] = range(1, binX, width)
      if (!(bottom > top && right > left)) return 0
      const base = image + ((c * pooled + binY) * pooled + binX) * height * width
      let sum = 0
      for (let y = top; y < bottom; y++)
        for (let k = base + y * width + left; k < base + y * width + right; k++) sum += x[k]
      return sum / ((bottom - top) * (right - left))
    }
  })
}

/**
 * Averages of one sample from each part of the region, every part in a channel of its own; corners are shares of the
 * map.
 */
export function* samplePositions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PositionPlan
): Generator<void> {
  const {
    height,
    width,
    channels,
    pooled,
    scale,
    bins: [rows, columns]
  } = plan
  const place = (start: number, part: number, bin: number, size: number): number =>
    (pooled > 1 ? start + (bin * part) / (pooled - 1) : start + part / 2) * (size - 1)
  yield* poolPositions(images, out, plan, 8 * rows * columns, r => {
    const [left, top, right, bottom] = [1, 2, 3, 4].map(i => Math.fround(rois[5 * r + i] * scale))
    const partHeight = (bottom - top) / rows
    const partWidth = (right - left) / columns
    return (image, c, binY, binX) => {
      let sum = 0
      for (let part = 0; part < rows * columns; part++) {
        const y = place(top + Math.floor(part / columns) * partHeight, partHeight, binY, height)
        const at = place(left + (part % columns) * partWidth, partWidth, binX, width)
        if (!(y >= 0 && y < height && at >= 0 && at < width)) continue
        sum += bilinear(
          x,
          image + (part * channels + c) * height * width,
          width,
          Math.min(y, height - 1),
          Math.min(at, width - 1)
        )
      }
      return sum / (rows * columns)
    }
  })
}

/**
 * Averages of samples in bins that may be moved (Deformable R-FCN, arXiv 1703.06211); samples outside the map do not
 * count.
 */
export function* deformedPositions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PositionPlan,
  offsets: Offsets | undefined
): Generator<void> {
  const {
    height,
    width,
    pooled,
    scale,
    bins: [rows, columns]
  } = plan
  yield* poolPositions(images, out, plan, 8 * rows * columns, r => {
    const corner = (i: number, extra: number): number =>
      Math.fround(Math.fround((roundHalfAwayFromZero(rois[5 * r + i]) + extra) * scale) - 0.5)
    const start = [corner(2, 0), corner(1, 0)] as const
    const size = [Math.max(MIN_SIZE, corner(4, 1) - start[0]), Math.max(MIN_SIZE, corner(3, 1) - start[1])] as const
    const step = [size[0] / pooled, size[1] / pooled] as const
    return (image, c, binY, binX) => {
      const y = start[0] + binY * step[0] + shiftOf(offsets, plan, r, c, binY, binX, 1) * size[0]
      const at = start[1] + binX * step[1] + shiftOf(offsets, plan, r, c, binY, binX, 0) * size[1]
      const base = image + ((c * pooled + binY) * pooled + binX) * height * width
      let sum = 0
      let count = 0
      for (let i = 0; i < rows; i++) {
        const v = y + (i * step[0]) / rows
        if (!(v >= -0.5 && v <= height - 0.5)) continue
        for (let j = 0; j < columns; j++) {
          const u = at + (j * step[1]) / columns
          if (!(u >= -0.5 && u <= width - 0.5)) continue
          sum += bilinear(x, base, width, Math.min(height - 1, Math.max(0, v)), Math.min(width - 1, Math.max(0, u)))
          count++
        }
      }
      return count === 0 ? 0 : sum / count
    }
  })
}

/** How far a bin is moved along x (0) or y (1), as a share of the region's size. */
function shiftOf(
  offsets: Offsets | undefined,
  { channels, pooled }: PositionPlan,
  r: number,
  c: number,
  binY: number,
  binX: number,
  axis: 0 | 1
): number {
  if (offsets === undefined) return 0
  const { numbers, classes, parts, deviation } = offsets
  const kind = Math.floor(c / Math.max(1, Math.floor(channels / classes)))
  const row = Math.floor((binY * parts) / pooled)
  const column = Math.floor((binX * parts) / pooled)
  return numbers[(((r * classes + kind) * 2 + axis) * parts + row) * parts + column] * deviation
}
