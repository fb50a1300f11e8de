import type { DType } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { oncePer } from '../core/once.ts'
import type { Classified } from './classify.ts'
import type { Votes } from './collector.ts'
import type { Forest } from './forest.ts'
import type { Label } from './look-up.ts'
import { type FirstScore, largestOf, type PostTransform, transformScores, writeTwo } from './scores.ts'
import { type LeafAnswers, leafAnswers } from './tree-leaves.ts'
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

/** Votes for rows of other types than float64 are rounded, and so are the answers of leaves. */
const OF_DOUBLES = oncePer((model: TreeClasses) => leafAnswers(model))
const OF_OTHERS = oncePer((model: TreeClasses) => leafAnswers(model))

/** What the leaves of the only tree of a classifier say of rows of a type; undefined where it has more trees. */
export const answersOf = (model: TreeClasses, type: DType): LeafAnswers | undefined =>
  (type === 'float64' ? OF_DOUBLES : OF_OTHERS)(model)

/** A row has the answer of its leaf, in place of votes that are added up, compared and transformed. */
function classifyByLeaves(
  model: TreeClasses,
  answers: LeafAnswers,
  x: Tensor,
  to: Classified,
  means?: Means
): Generator<void> {
  const { columns, labels } = model
  const { known, scores } = answers
  return walkForest(answers.forest, x, { targets: 1, aggregate: 'SUM', ...means }, ({ totals }, first, count) => {
    for (let row = 0, at = first * columns; row < count; row++, at += columns) {
      const place = totals[row]
      if (known[place] === 0) findAnswer(model, answers, place, x.type)
      to.labels[first + row] = labels.values[answers.labels[place]]
      copyScores(scores, place * columns, columns, to.scores, at)
    }
  })
}

/** In a loop where they are few, since `set` takes longer to start. */
function copyScores(from: Float32Array, at: number, count: number, to: Float32Array, target: number): void {
  if (count > FEW) to.set(from.subarray(at, at + count), target)
  else for (let i = 0; i < count; i++) to[target + i] = from[at + i]
}

const FEW = 32

function findAnswer(model: TreeClasses, answers: LeafAnswers, place: number, type: DType): void {
  const leaf = answers.leaves[place]
  const { forest, targets } = model
  const votes = { totals: new Float64Array(targets), voted: targets > 1 ? new Uint8Array(targets) : undefined }
  const { starts, targets: ids, weights } = forest.leaves
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) {
    votes.totals[ids[i]] += weights[i]
    if (votes.voted) votes.voted[ids[i]] = 1
  }
  addBase(votes, model, 1)
  if (type !== 'float64') roundAll(votes.totals)
  answers.labels[place] = choose(votes, 0, model)
  writeScores(votes.totals, model, answers.scores, place, 1)
  answers.known[place] = 1
}

/**
 * Writes the labels and scores of rows. Votes for other rows than those of float64 are rounded to float32: a sum that
 * is a hair above 0.5 in double precision would get a label that its own score contradicts.
 */
export function classifyByTrees(model: TreeClasses, x: Tensor, to: Classified, means?: Means): Generator<void> {
  const answers = answersOf(model, x.type)
  if (answers) return classifyByLeaves(model, answers, x, to, means)
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
