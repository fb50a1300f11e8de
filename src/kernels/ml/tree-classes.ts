import type { Tensor } from '../../tensor/tensor.ts'
import type { Classified } from './classify.ts'
import type { Votes } from './collector.ts'
import type { Forest } from './forest.ts'
import type { Label } from './look-up.ts'
import { type FirstScore, largestOf, type PostTransform, transformScores, writeTwo } from './scores.ts'
import { type Means, walkForest } from './walk-forest.ts'

/** A classifier by trees. */
export interface TreeClasses {
  readonly forest: Forest
  /** What is chosen from. */
  readonly labels: { readonly values: readonly Label[] }
  /** Scores of a row. */
  readonly columns: number
  /** Scores of a row that votes are added to. */
  readonly targets: number
  /** Added to the first scores. */
  readonly base: readonly number[]
  readonly post: PostTransform
  /** What the first score is where only that of the second class is computed. */
  readonly first: FirstScore
  /** Where the last score decides between two labels, the bound that it must exceed for the second. */
  readonly threshold: number | undefined
}

/**
 * Writes the labels and scores of rows. Votes for other rows than those of float64 are rounded to float32: a sum that
 * is a hair above 0.5 in double precision would get a label that its own score contradicts.
 */
export function classifyByTrees(model: TreeClasses, x: Tensor, to: Classified, means?: Means): Generator<void> {
  const { forest, labels, targets } = model
  return walkForest(forest, x, { targets, aggregate: 'SUM', ...means }, (votes, first, count) => {
    addBase(votes, model, count)
    if (x.type !== 'float64') roundAll(votes.totals)
    for (let row = 0; row < count; row++) to.labels[first + row] = labels.values[choose(votes, row * targets, model)]
    writeScores(votes.totals, model, to.scores, first, count)
  })
}

function addBase({ totals, voted }: Votes, { base, targets }: TreeClasses, rows: number): void {
  if (base.length === 0) return
  for (let row = 0, at = 0; row < rows; row++, at += targets)
    for (let i = 0; i < base.length; i++) {
      totals[at + i] += base[i]
      if (voted) voted[at + i] = 1
    }
}

function choose({ totals, voted }: Votes, at: number, { targets, threshold }: TreeClasses): number {
  if (threshold !== undefined) return totals[at + targets - 1] > threshold ? 1 : 0
  if (targets === 2) return largestOf(totals, at, 2)
  let best = -1
  for (let i = 0; i < targets; i++)
    if (voted?.[at + i] !== 0 && (best < 0 || totals[at + i] > totals[at + best])) best = i
  return Math.max(0, best)
}

function roundAll(totals: Float64Array): void {
  for (let i = 0; i < totals.length; i++) totals[i] = Math.fround(totals[i])
}

/** Writes the scores of `count` rows, the first of which is row `first` of the output. */
function writeScores(
  totals: Float64Array,
  model: TreeClasses,
  scores: Float32Array,
  first: number,
  count: number
): void {
  const { targets, columns, post } = model
  if (targets < columns) {
    for (let row = 0; row < count; row++) writeTwo(totals[row], model.first, post, scores, (first + row) * columns)
    return
  }
  for (let row = 0; row < count; row++) transformScores(totals, row * columns, columns, post)
  for (let i = 0, at = first * columns; i < count * columns; i++, at++) scores[at] = totals[i]
}
