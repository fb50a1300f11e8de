import type { Numbers } from '../../tensor/elements.ts'
import { COST, inChunks } from '../core/pace.ts'

/** Cells of a grid, and the pixels between the centres of neighbours. */
export interface PriorGrid {
  readonly height: number
  readonly width: number
  readonly stepX: number
  readonly stepY: number
}

/** Nanoseconds for one box. */
const BOX_COST = 4 * COST.element

/**
 * Moves boxes `[x1, y1, x2, y2]` to the centre of every cell, cell by cell, from the start of `out`. Centres are
 * computed in float32, as the runtimes do.
 */
export function* shiftPriors(
  priors: Numbers,
  out: Numbers,
  { height, width, stepX, stepY }: PriorGrid
): Generator<void> {
  const count = priors.length / 4
  const [right, down] = [Math.fround(stepX), Math.fround(stepY)]
  yield* inChunks(
    height * width * count,
    (from, to) => {
      for (let i = from; i < to; i++) {
        const cell = Math.floor(i / count)
        const x = Math.fround(right * ((cell % width) + 0.5))
        const y = Math.fround(down * (Math.floor(cell / width) + 0.5))
        const prior = 4 * (i % count)
        out[4 * i] = priors[prior] + x
        out[4 * i + 1] = priors[prior + 1] + y
        out[4 * i + 2] = priors[prior + 2] + x
        out[4 * i + 3] = priors[prior + 3] + y
      }
    },
    BOX_COST
  )
}
