import { byScore } from './boxes.ts'
import { WORK_PER_YIELD } from './elementwise.ts'

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
}

export interface Kept {
  readonly box: number
  readonly score: number
}

/** Boxes of one class kept by non-maximum suppression, the highest score first. Yields about every 10 ms. */
export function* suppress(overlap: Overlap, scores: ArrayLike<number>, rule: Suppression): Generator<void, Kept[]> {
  const candidates: number[] = []
  for (let i = 0; i < scores.length; i++) if (rule.accepts(scores[i])) candidates.push(i)
  return rule.sigma > 0 ? yield* fade(overlap, scores, candidates, rule) : yield* drop(overlap, scores, candidates, rule)
}

function* drop(overlap: Overlap, scores: ArrayLike<number>, candidates: readonly number[], { most, iou }: Suppression): Generator<void, Kept[]> {
  const kept: Kept[] = []
  let work = 0
  for (const box of byScore(candidates, scores)) {
    if (kept.length >= most) break
    if (!kept.some(other => overlap(box, other.box) > iou)) kept.push({ box, score: scores[box] })
    work += 16 * kept.length
    if (work < WORK_PER_YIELD) continue
    work = 0
    yield
  }
  return kept
}

function* fade(overlap: Overlap, given: ArrayLike<number>, candidates: number[], { most, iou, accepts, sigma, dropsFading }: Suppression): Generator<void, Kept[]> {
  const scores = Float32Array.from(given)
  const kept: Kept[] = []
  let left = candidates
  let work = 0
  while (left.length > 0 && kept.length < most) {
    let best = left[0]
    for (const box of left) if (scores[box] > scores[best]) best = box
    kept.push({ box: best, score: scores[best] })
    left = left.filter(box => {
      if (box === best) return false
      const shared = overlap(box, best)
      if (dropsFading && shared > iou) return false
      scores[box] *= Math.exp(-0.5 * shared * shared / sigma)
      return accepts(scores[box])
    })
    work += 16 * left.length
    if (work < WORK_PER_YIELD) continue
    work = 0
    yield
  }
  return kept
}
