import { inSteps, isDue } from '../core/steps.ts'

/** Places of boxes around the centres of a grid's cells. */
export interface Grid {
  readonly height: number
  readonly width: number
  readonly imageHeight: number
  readonly imageWidth: number
}

/**
 * A box by its centre's distance from the cell's centre and half its size, all in pixels; edges of `cut` boxes beyond
 * the image are moved to it.
 */
export interface Prior {
  readonly dx: number
  readonly dy: number
  readonly halfWidth: number
  readonly halfHeight: number
  readonly cut: boolean
}

export interface Centers {
  readonly stepX: number
  readonly stepY: number
  readonly offset: number
}

/** What a box costs, in elements. */
const PRIOR_COST = 16

/**
 * Fills `[2, 4 * height * width * priors]`: boxes `[x1, y1, x2, y2]` as shares of the image for every cell, and the
 * variances of each.
 * @param variances one for all coordinates, or one each
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
  const pace = { work: 0 }
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
    if (isDue(pace, PRIOR_COST * priors.length)) yield
  }
  yield* inSteps(half, (from, to) => {
    for (let i = from; i < to; i++) out[half + i] = variances.length === 1 ? variances[0] : variances[i % 4]
  })
}
