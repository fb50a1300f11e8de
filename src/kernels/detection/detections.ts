import type { Numbers } from '../../tensor/elements.ts'
import { acceptedIndices, byScore, overlap } from './boxes.ts'
import { suppress } from './suppress.ts'

/** How boxes of the SSD family are decoded and selected (arXiv 1512.02325). */
export interface DetectionPlan {
  readonly images: number
  readonly priors: number
  readonly classes: number
  readonly background: number
  /** Whether all classes share one set of boxes. */
  readonly sharesBoxes: boolean
  /** Whether boxes are given by centre and size; otherwise by corners. */
  readonly centers: boolean
  readonly hasVariances: boolean
  /** Numbers of a prior: four, normalized to 0 … 1; or five, of which the first is unused and the others are pixels. */
  readonly priorSize: 4 | 5
  readonly width: number
  readonly height: number
  readonly clipBefore: boolean
  readonly clipAfter: boolean
  /** Whether each prior counts only for its best class; labels are then counted without the background. */
  readonly bestClassOnly: boolean
  readonly iou: number
  readonly minScore: number
  /** Limit on the candidates of a class (of an image with `bestClassOnly`); -1: none. */
  readonly maxCandidates: number
  /** Limit on the boxes kept of an image; -1: none. */
  readonly maxKept: number
  /** Priors whose first-stage score is below it are background. */
  readonly objectness: number
}

export interface DetectionInputs {
  readonly locations: Numbers
  readonly scores: Numbers
  readonly priors: Numbers
  readonly priorBatches: number
  /** Results of a first stage (RefineDet, arXiv 1711.06897): the score of each prior for any object, and its box. */
  readonly firstScores?: Numbers
  readonly firstLocations?: Numbers
}

export interface Detection {
  readonly image: number
  readonly label: number
  readonly score: number
  readonly box: readonly number[]
}

/** The detections of each image, ordered by label, then by descending score. */
export function* detect(inputs: DetectionInputs, plan: DetectionPlan): Generator<void, Detection[]> {
  const found: Detection[] = []
  for (let image = 0; image < plan.images; image++) {
    const scores = scoresOf(image, inputs, plan)
    const boxes = new Map<number, Float32Array>()
    const boxesOf = (label: number): Float32Array => {
      const own = plan.sharesBoxes ? 0 : label
      const known = boxes.get(own) ?? decodeBoxes(image, own, inputs, plan)
      boxes.set(own, known)
      return known
    }
    const kept = yield* (plan.bestClassOnly ? keepBestClass : keepEachClass)(scores, boxesOf, plan)
    const best =
      plan.maxKept >= 0 && kept.length > plan.maxKept
        ? kept.sort((a, b) => b.score - a.score || a.prior - b.prior).slice(0, plan.maxKept)
        : kept
    // The sort is stable, so the boxes of a label stay ordered by score.
    for (const { label, prior, score } of best.toSorted((a, b) => a.label - b.label)) {
      const box = Array.from(boxesOf(label).subarray(4 * prior, 4 * prior + 4))
      found.push({
        image,
        label: plan.bestClassOnly ? label - 1 : label,
        score,
        box: plan.clipAfter ? box.map(clip) : box
      })
    }
    yield
  }
  return found
}

const clip = (at: number): number => Math.max(0, Math.min(1, at))

interface Kept {
  readonly label: number
  readonly prior: number
  readonly score: number
}

/** Scores `[classes][priors]` of an image; a prior without an object in the first stage is background. */
function scoresOf(
  image: number,
  { scores, firstScores }: DetectionInputs,
  { priors, classes, background, objectness }: DetectionPlan
): Float32Array[] {
  return Array.from({ length: classes }, (_, c) =>
    Float32Array.from({ length: priors }, (_, i) => {
      const at = image * priors + i
      if (firstScores && firstScores[2 * at + 1] < objectness) return c === background ? 1 : 0
      return scores[at * classes + c]
    })
  )
}

/** Decodes the boxes `[x1, y1, x2, y2]` of a label for all priors of an image. */
function decodeBoxes(
  image: number,
  label: number,
  { locations, priors, priorBatches, firstLocations }: DetectionInputs,
  plan: DetectionPlan
): Float32Array {
  const { priors: count, priorSize, hasVariances, width, height } = plan
  const rows = plan.sharesBoxes ? 1 : plan.classes
  const base = (priorBatches === 1 ? 0 : image) * count * priorSize * (hasVariances ? 2 : 1)
  const boxes = new Float32Array(4 * count)
  const pixels = priorSize === 5
  for (let i = 0; i < count; i++) {
    const start = base + i * priorSize + (pixels ? 1 : 0)
    const variance = (k: number): number => (hasVariances ? priors[base + count * priorSize + 4 * i + k] : 1)
    const at = ((image * count + i) * rows + label) * 4
    let box = [0, 1, 2, 3].map(k => priors[start + k] / (pixels ? (k % 2 === 0 ? width : height) : 1))
    if (firstLocations) box = decodeBox(box, firstLocations, at, variance, plan)
    boxes.set(decodeBox(box, locations, at, variance, plan), 4 * i)
  }
  return boxes
}

function decodeBox(
  prior: readonly number[],
  code: Numbers,
  at: number,
  variance: (k: number) => number,
  { centers, clipBefore }: DetectionPlan
): number[] {
  const step = (k: number): number => variance(k) * code[at + k]
  const box = centers ? fromCenter(prior, step) : prior.map((edge, k) => edge + step(k))
  return clipBefore ? box.map(clip) : box
}

function fromCenter([left, top, right, bottom]: readonly number[], step: (k: number) => number): number[] {
  const [width, height] = [right - left, bottom - top]
  const x = (left + right) / 2 + step(0) * width
  const y = (top + bottom) / 2 + step(1) * height
  const halfWidth = (Math.exp(step(2)) * width) / 2
  const halfHeight = (Math.exp(step(3)) * height) / 2
  return [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight]
}

/** Keeps boxes of each class by itself. */
function* keepEachClass(
  scores: readonly Float32Array[],
  boxesOf: (label: number) => Float32Array,
  plan: DetectionPlan
): Generator<void, Kept[]> {
  const kept: Kept[] = []
  for (const [label, values] of scores.entries()) {
    if (label === plan.background) continue
    const candidates = yield* acceptedIndices(values.length, i => values[i] > plan.minScore)
    for (const one of yield* keepApart(label, candidates, values, boxesOf(label), plan, plan.maxCandidates))
      kept.push(one)
  }
  return kept
}

/** Keeps boxes of the priors with the best scores of the image, each for its best label only. */
function* keepBestClass(
  scores: readonly Float32Array[],
  boxesOf: (label: number) => Float32Array,
  plan: DetectionPlan
): Generator<void, Kept[]> {
  const labels = new Int32Array(plan.priors)
  const values = new Float32Array(plan.priors).fill(-1)
  for (let label = 1; label < plan.classes; label++) {
    if (label === plan.background) continue
    for (let i = 0; i < plan.priors; i++) {
      if (scores[label][i] <= values[i]) continue
      values[i] = scores[label][i]
      labels[i] = label
    }
  }
  const accepted = yield* byScore(
    yield* acceptedIndices(values.length, i => labels[i] > 0 && values[i] >= plan.minScore),
    values
  )
  const best = plan.maxCandidates >= 0 ? accepted.slice(0, plan.maxCandidates) : accepted
  const kept: Kept[] = []
  for (let label = 1; label < plan.classes; label++) {
    const own = best.filter(i => labels[i] === label)
    if (own.length > 0) for (const one of yield* keepApart(label, own, values, boxesOf(label), plan, -1)) kept.push(one)
    yield
  }
  return kept
}

/** Non-maximum suppression among the best candidates of one label. */
function* keepApart(
  label: number,
  candidates: readonly number[],
  scores: Float32Array,
  boxes: Float32Array,
  { iou }: DetectionPlan,
  maxCandidates: number
): Generator<void, Kept[]> {
  const sorted = yield* byScore(candidates, scores)
  const order = maxCandidates >= 0 ? sorted.slice(0, maxCandidates) : sorted
  const ranked = Float32Array.from(order, i => scores[i])
  const kept = yield* suppress((a, b) => overlap(boxes, 4 * order[a], 4 * order[b]), ranked, {
    maxBoxes: Infinity,
    iou,
    minScore: undefined,
    takesEqual: false,
    sigma: 0,
    dropsFading: false
  })
  return kept.map(({ box, score }) => ({ label, prior: order[box], score }))
}
