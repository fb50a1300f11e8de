import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from '../core/pace.ts'
import { roundHalfAwayFromZero } from '../core/rounding.ts'
import { bilinear } from './roi-pool.ts'

/**
 * Sizes of position-sensitive pooling: a map `[N, inputs, H, W]` with a channel for each position in a region, and an
 * output `[R, channels, pooled, pooled]`.
 */
export interface PositionPlan {
  readonly inputs: number
  readonly height: number
  readonly width: number
  readonly channels: number
  readonly pooled: number
  readonly scale: number
  /** Number of parts of a region (bilinear mode) or of samples of a bin (deformable). */
  readonly bins: readonly [y: number, x: number]
}

/** Offsets of bins `[R, 2 * classes, parts, parts]`; times `deviation` they are relative to the region's size. */
export interface Offsets {
  readonly numbers: Numbers
  readonly classes: number
  readonly parts: number
  readonly deviation: number
}

/** Computes the output of a region for a channel and bin; `image` is the offset of its image in the map. */
type Value = (image: number, c: number, binY: number, binX: number) => number

/** @param cost nanoseconds for one bin */
function* poolPositions(
  images: Int32Array,
  out: Numbers,
  { inputs, height, width, channels, pooled }: PositionPlan,
  cost: number,
  valueOf: (r: number) => Value
): Generator<void> {
  const pace = new Pace()
  let target = 0
  for (let r = 0; r < images.length; r++) {
    const value = valueOf(r)
    for (let c = 0; c < channels; c++) {
      for (let bin = 0; bin < pooled * pooled; bin++)
        out[target++] = value(images[r] * inputs * height * width, c, Math.floor(bin / pooled), bin % pooled)
      if (pace.isDue(cost * pooled * pooled)) yield
    }
  }
}

/** Least height and width of a region, in elements: for corners in the wrong order. */
const MIN_SIZE = 0.1

/** Averages the elements of each bin, which has a channel of its own (R-FCN, arXiv 1605.06409). */
export function* averagePositions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PositionPlan
): Generator<void> {
  const { height, width, pooled, scale } = plan
  yield* poolPositions(images, out, plan, (height * width * COST.element) / 4, r => {
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
 * Averages one bilinear sample from each part of the region; every part has a channel of its own. Corners of regions
 * are normalized to 0 … 1.
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
  const coordinate = (start: number, part: number, bin: number, size: number): number =>
    (pooled > 1 ? start + (bin * part) / (pooled - 1) : start + part / 2) * (size - 1)
  yield* poolPositions(images, out, plan, 8 * rows * columns * COST.element, r => {
    const [left, top, right, bottom] = [1, 2, 3, 4].map(i => Math.fround(rois[5 * r + i] * scale))
    const partHeight = (bottom - top) / rows
    const partWidth = (right - left) / columns
    return (image, c, binY, binX) => {
      let sum = 0
      for (let part = 0; part < rows * columns; part++) {
        const y = coordinate(top + Math.floor(part / columns) * partHeight, partHeight, binY, height)
        const at = coordinate(left + (part % columns) * partWidth, partWidth, binX, width)
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
 * Averages samples of bins that offsets may move (Deformable R-FCN, arXiv 1703.06211); samples outside the map are left
 * out.
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
  yield* poolPositions(images, out, plan, 8 * rows * columns * COST.element, r => {
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

/** The offset of a bin along x (0) or y (1), relative to the region's size. */
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
