import { isDue } from '../core/steps.ts'
import { byScore, numbersBelow } from './boxes.ts'

/** Intersection over union of two boxes by their numbers. */
export type Overlap = (a: number, b: number) => number

export interface Suppression {
  /** Most boxes kept. */
  readonly most: number
  readonly iou: number
  /** Whether a score is high enough to be kept. */
  accepts(score: number): boolean
  /** Above 0: scores fade by `exp(-overlap² / (2 sigma))` instead of boxes being dropped (arXiv 1704.04503). */
  readonly sigma: number
  /** Whether boxes that overlap too much are dropped under fading, too. */
  readonly dropsFading: boolean
  /** What an overlap costs, in elements. */
  readonly cost?: number
}

export interface Kept {
  readonly box: number
  readonly score: number
}

/** Boxes of one class kept by non-maximum suppression, the highest score first. Yields about every 10 ms. */
export function* suppress(overlap: Overlap, scores: ArrayLike<number>, rule: Suppression): Generator<void, Kept[]> {
  const candidates = yield* numbersBelow(scores.length, i => rule.accepts(scores[i]))
  return rule.sigma > 0
    ? yield* fade(overlap, scores, candidates, rule)
    : yield* drop(overlap, scores, candidates, rule)
}

function* drop(
  overlap: Overlap,
  scores: ArrayLike<number>,
  candidates: readonly number[],
  { most, iou, cost = 16 }: Suppression
): Generator<void, Kept[]> {
  const kept: Kept[] = []
  const pace = { work: 0 }
  for (const box of yield* byScore(candidates, scores)) {
    if (kept.length >= most) break
    let isApart = true
    for (let i = 0; i < kept.length && isApart; i++) {
      isApart = !(overlap(box, kept[i].box) > iou)
      if (isDue(pace, cost)) yield
    }
    if (isApart) kept.push({ box, score: scores[box] })
  }
  return kept
}

function* fade(
  overlap: Overlap,
  given: ArrayLike<number>,
  candidates: number[],
  { most, iou, accepts, sigma, dropsFading, cost = 16 }: Suppression
): Generator<void, Kept[]> {
  const scores = Float32Array.from(given)
  const kept: Kept[] = []
  const pace = { work: 0 }
  let left = candidates
  while (left.length > 0 && kept.length < most) {
    let best = left[0]
    for (const box of left) if (scores[box] > scores[best]) best = box
    kept.push({ box: best, score: scores[best] })
    const others: number[] = []
    for (const box of left) {
      if (isDue(pace, cost + 1)) yield
      if (box === best) continue
      const shared = overlap(box, best)
      if (dropsFading && shared > iou) continue
      scores[box] *= Math.exp((-0.5 * shared * shared) / sigma)
      if (accepts(scores[box])) others.push(box)
    }
    left = others
  }
  return kept
}
