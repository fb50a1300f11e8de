import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from '../core/pace.ts'
import { roundHalfAwayFromZero } from '../core/rounding.ts'

/** Sizes of a feature map `[N, C, H, W]` and of the pooled regions. */
export interface PoolPlan {
  readonly channels: number
  readonly height: number
  readonly width: number
  readonly pooled: readonly [height: number, width: number]
  readonly scale: number
}

/** Computes one bin of the channel whose plane begins at offset `base`. */
export type BinValue = (base: number) => number

/**
 * Fills `out[r, c, bin]`.
 * @param binOf makes, once for each region and bin, the function that computes it; `elements` is how many it reads
 */
function* poolRegions(
  images: Int32Array,
  out: Numbers,
  { channels, height, width, pooled }: PoolPlan,
  binOf: (roi: number, y: number, x: number) => { value: BinValue; elements: number }
): Generator<void> {
  if (out.length === 0) return
  const bins = pooled[0] * pooled[1]
  const pace = new Pace()
  for (let r = 0; r < images.length; r++) {
    for (let bin = 0; bin < bins; bin++) {
      const { value, elements } = binOf(5 * r, Math.floor(bin / pooled[1]), bin % pooled[1])
      for (let c = 0; c < channels; c++)
        out[(r * channels + c) * bins + bin] = value((images[r] * channels + c) * height * width)
      if (pace.isDue((channels * elements + 64) * COST.element)) yield
    }
  }
}

/** The largest element of each bin; 0 for an empty bin. A region is given by its first and last elements. */
export function* maxPoolRegions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PoolPlan
): Generator<void> {
  const { height, width, pooled, scale } = plan
  const range = (roi: number, axis: 0 | 1, bin: number, size: number): [number, number] => {
    const corner = (i: number): number => roundHalfAwayFromZero(Math.fround(rois[roi + i] * scale))
    const start = corner(axis === 0 ? 2 : 1)
    const length = Math.max(1, corner(axis === 0 ? 4 : 3) - start + 1)
    const step = Math.fround(length / pooled[axis])
    const clip = (at: number): number => Math.min(size, Math.max(0, at))
    return [clip(Math.floor(Math.fround(bin * step)) + start), clip(Math.ceil(Math.fround((bin + 1) * step)) + start)]
  }
  yield* poolRegions(images, out, plan, (roi, binY, binX) => {
    const [top, bottom] = range(roi, 0, binY, height)
    const [left, right] = range(roi, 1, binX, width)
    const value = (base: number): number => {
      if (!(bottom > top && right > left)) return 0
      let highest = -Infinity
      for (let y = top; y < bottom; y++)
        for (let k = base + y * width + left; k < base + y * width + right; k++) if (x[k] > highest) highest = x[k]
      return highest
    }
    return { value, elements: (bottom - top) * (right - left) }
  })
}

/**
 * One bilinear sample for each bin, the outermost at the corners of the region; 0 outside the map. Corners are
 * normalized to 0 … 1.
 */
export function* samplePoolRegions(
  x: Numbers,
  rois: Numbers,
  images: Int32Array,
  out: Numbers,
  plan: PoolPlan
): Generator<void> {
  const { height, width, pooled } = plan
  const coordinate = (start: number, end: number, bin: number, bins: number, size: number): number => {
    if (bins === 1) return 0.5 * (start + end) * (size - 1)
    return bin === bins - 1 ? end * (size - 1) : (start + (bin * (end - start)) / (bins - 1)) * (size - 1)
  }
  yield* poolRegions(images, out, plan, (roi, binY, binX) => {
    const y = coordinate(rois[roi + 2], rois[roi + 4], binY, pooled[0], height)
    const at = coordinate(rois[roi + 1], rois[roi + 3], binX, pooled[1], width)
    const inside = y >= 0 && y <= height - 1 && at >= 0 && at <= width - 1
    return { value: base => (inside ? bilinear(x, base, width, y, at) : 0), elements: 8 }
  })
}

/** Interpolates between the four elements around a location inside the map. */
export function bilinear(x: Numbers, base: number, width: number, y: number, at: number): number {
  const top = base + Math.floor(y) * width
  const bottom = base + Math.ceil(y) * width
  const left = Math.floor(at)
  const right = Math.ceil(at)
  const far = at - left
  const upper = x[top + left] + (x[top + right] - x[top + left]) * far
  const lower = x[bottom + left] + (x[bottom + right] - x[bottom + left]) * far
  return upper + (lower - upper) * (y - Math.floor(y))
}
