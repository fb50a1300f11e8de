import type { Numbers } from '../../tensor/elements.ts'
import type { Boxes } from './boxes.ts'

const round = Math.fround

/** The limit on the logarithm of a scale that R-CNN uses where an operator has none: boxes of 16 pixels become 1000. */
export const MAX_LOG_SCALE = round(Math.log(1000 / 16))

/** How anchors become boxes. */
export interface Refinement {
  /** Limit on the logarithms of the scales. */
  readonly maxLog: number
  /** Added to every side length: 1 where the second corner is the last pixel inside the box. */
  readonly extra: number
  /** What shifts and scales are divided by. */
  readonly weights?: readonly number[]
}

/**
 * Moves and scales one box `[x1, y1, x2, y2]` as R-CNN does (arXiv 1311.2524, appendix C), in float32 as the runtimes
 * compute it.
 * @param deltas shifts of the centre, in sides of the box, and logarithms of scales
 * @param at index of the first shift
 * @param step elements from one of the four to the next
 * @param to index in `out` of the first corner
 */
export function refineBox(
  box: Numbers,
  from: number,
  deltas: Numbers,
  at: number,
  step: number,
  { maxLog, extra, weights }: Refinement,
  out: Boxes,
  to: number
): void {
  for (const i of [0, 1]) {
    const start = round(box[from + i])
    const side = round(round(round(box[from + i + 2]) - start) + extra)
    const center = round(start + round(0.5 * side))
    const shift = round(deltas[at + i * step] / (weights?.[i] ?? 1))
    const log = round(deltas[at + (i + 2) * step] / (weights?.[i + 2] ?? 1))
    const middle = round(round(shift * side) + center)
    const half = round(0.5 * round(round(Math.exp(Math.min(log, maxLog))) * side))
    out[to + i] = round(middle - half)
    out[to + i + 2] = round(round(middle + half) - extra)
  }
}

/** Moves the corners of a box into an image. */
export function clipBox(boxes: Boxes, at: number, width: number, height: number): void {
  for (let i = 0; i < 4; i++) boxes[at + i] = Math.max(0, Math.min(boxes[at + i], i % 2 === 0 ? width : height))
}
