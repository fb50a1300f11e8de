import { COST, Pace } from '../core/pace.ts'
import {
  acceptedByScore,
  acceptedIndices,
  accepts,
  buffersFor,
  type Floor,
  type KeptBoxes,
  type ScoreBuffers
} from './boxes.ts'

/** Intersection over union of two boxes, given by their indices. */
export type Overlap = (a: number, b: number) => number

export interface Suppression extends Floor {
  /** Compares boxes faster than the overlap does that {@link suppress} is given. */
  readonly kept?: KeptBoxes | undefined
  /** Memory, where there are classes of as many scores. */
  readonly buffers?: ScoreBuffers
  readonly maxBoxes: number
  /** Boxes that overlap a kept box more than this are dropped. */
  readonly iou: number
  /** Above 0: Soft-NMS, which lowers scores by `exp(-overlap² / (2 sigma))` instead (arXiv 1704.04503). */
  readonly sigma: number
  /** Whether Soft-NMS drops boxes that overlap more than `iou`, too. */
  readonly dropsFading: boolean
  /** Nanoseconds for one overlap. */
  readonly cost?: number
}

export interface Kept {
  readonly box: number
  readonly score: number
}

/** Nanoseconds for one overlap of upright boxes. */
export const OVERLAP_COST = 16 * COST.element

/** Boxes of one class that non-maximum suppression keeps, by descending score. */
export function* suppress(overlap: Overlap, scores: ArrayLike<number>, rule: Suppression): Generator<void, Kept[]> {
  if (!(rule.sigma > 0)) return yield* drop(overlap, scores, rule)
  return yield* fade(overlap, scores, yield* acceptedIndices(scores.length, i => accepts(scores[i], rule)), rule)
}

function* drop(overlap: Overlap, scores: ArrayLike<number>, rule: Suppression): Generator<void, Kept[]> {
  const { maxBoxes, iou, cost = OVERLAP_COST, kept: own, buffers = buffersFor(scores.length) } = rule
  const kept: number[] = []
  const pace = new Pace()
  const next = yield* acceptedByScore(scores, rule, buffers)
  for (let box = maxBoxes > 0 ? next() : -1; box >= 0; box = kept.length < maxBoxes ? next() : -1) {
    let i = 0
    if (own) {
      const found = own.find(box, iou)
      i = found < 0 ? kept.length : found
    } else while (i < kept.length && !(overlap(box, kept[i]) > iou)) i++
    if (i === kept.length) {
      kept.push(box)
      own?.add(box)
    }
    if (pace.isDue((i + 1) * cost)) yield
  }
  return kept.map(box => ({ box, score: scores[box] }))
}

function* fade(
  overlap: Overlap,
  given: ArrayLike<number>,
  candidates: number[],
  rule: Suppression
): Generator<void, Kept[]> {
  const { maxBoxes, iou, sigma, dropsFading, cost = OVERLAP_COST } = rule
  const scores = Float32Array.from(given)
  const kept: Kept[] = []
  const pace = new Pace()
  let left = candidates
  while (left.length > 0 && kept.length < maxBoxes) {
    let best = left[0]
    for (const box of left) if (scores[box] > scores[best]) best = box
    kept.push({ box: best, score: scores[best] })
    const others: number[] = []
    for (const box of left) {
      if (pace.isDue(cost)) yield
      if (box === best) continue
      const shared = overlap(box, best)
      if (dropsFading && shared > iou) continue
      scores[box] *= Math.exp((-0.5 * shared * shared) / sigma)
      if (accepts(scores[box], rule)) others.push(box)
    }
    left = others
  }
  return kept
}

/**
 * Greedy suppression with a threshold that may fall: every kept box multiplies it by `eta` while it is above 0.5, which
 * counts from the overlaps with this box on.
 * @param candidates boxes by descending score
 * @returns the boxes that are kept, by descending score
 */
export function* suppressFalling(
  overlap: Overlap,
  candidates: readonly number[],
  { iou, eta, maxBoxes = Infinity }: { readonly iou: number; readonly eta: number; readonly maxBoxes?: number }
): Generator<void, number[]> {
  const kept: number[] = []
  const pace = new Pace()
  let left = candidates
  let threshold = iou
  while (left.length > 0 && kept.length < maxBoxes) {
    const best = left[0]
    kept.push(best)
    if (eta < 1 && threshold > 0.5) threshold *= eta
    const others: number[] = []
    for (let i = 1; i < left.length; i++) {
      if (!(overlap(best, left[i]) > threshold)) others.push(left[i])
      if (pace.isDue(OVERLAP_COST)) yield
    }
    left = others
  }
  return kept
}
