import { COST, inChunks, Pace } from '../core/pace.ts'

/** Sizes of a feature map and of the image; priors are placed around the centre of each cell of the map. */
export interface Grid {
  readonly height: number
  readonly width: number
  readonly imageHeight: number
  readonly imageWidth: number
}

/** A prior box relative to the centre of a cell, in pixels. */
export interface Prior {
  /** Offset of its centre. */
  readonly dx: number
  readonly dy: number
  readonly halfWidth: number
  readonly halfHeight: number
  /** Whether edges outside the image are moved to the image's edge. */
  readonly cut: boolean
}

export interface Centers {
  readonly stepX: number
  readonly stepY: number
  readonly offset: number
}

/** Nanoseconds for one box. */
const PRIOR_COST = 16 * COST.element

/**
 * Fills `[2, 4 * height * width * priors]` with the boxes `[x1, y1, x2, y2]` of every cell, normalized to 0 … 1, and
 * their variances.
 * @param variances one for all coordinates, or one for each
 */
export function* placePriors(
  out: Float32Array,
  { height, width, imageHeight, imageWidth }: Grid,
  centers: Centers,
  priors: readonly Prior[],
  variances: readonly number[],
  clip: boolean
): Generator<void> {
  if (out.length === 0) return
  const half = out.length / 2
  const pace = new Pace()
  let at = 0
  for (let cell = 0; cell < height * width; cell++) {
    const centerX = ((cell % width) + centers.offset) * centers.stepX
    const centerY = (Math.floor(cell / width) + centers.offset) * centers.stepY
    for (const { dx, dy, halfWidth, halfHeight, cut } of priors) {
      const x = centerX + dx
      const y = centerY + dy
      const low = clip || cut ? 0 : -Infinity
      const high = clip || cut ? 1 : Infinity
      const [lowest, highest] = clip ? [0, 1] : [-Infinity, Infinity]
      out[at++] = Math.min(highest, Math.max(low, (x - halfWidth) / imageWidth))
      out[at++] = Math.min(highest, Math.max(low, (y - halfHeight) / imageHeight))
      out[at++] = Math.max(lowest, Math.min(high, (x + halfWidth) / imageWidth))
      out[at++] = Math.max(lowest, Math.min(high, (y + halfHeight) / imageHeight))
    }
    if (pace.isDue(PRIOR_COST * priors.length)) yield
  }
  yield* inChunks(half, (from, to) => {
    for (let i = from; i < to; i++) out[half + i] = variances.length === 1 ? variances[0] : variances[i % 4]
  })
}
