import { fail } from '../../errors.ts'
import type { Forest } from '../../kernels/ml/forest.ts'
import { readReals, rowsAndFeatures } from '../../kernels/ml/rows.ts'
import {
  type FirstScore,
  largestOf,
  POST_TRANSFORMS,
  type PostTransform,
  transformScores,
  writeTwo
} from '../../kernels/ml/scores.ts'
import { type Votes, walkForest } from '../../kernels/ml/walk-forest.ts'
import { params } from '../../op-kit/define.ts'
import { type Labels, labelsOf, twoLabels } from '../../op-kit/ml-labels.ts'
import { checkFeatures, classifierOutputs } from '../../op-kit/ml-shape.ts'
import { listOf, namedForest, numbersOf } from '../../op-kit/named-forest.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, type NodeFacts } from '../../op-kit/sources.ts'

interface Model {
  readonly forest: Forest
  /** What is chosen from. */
  readonly labels: Labels
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

/** Rules of {@link treeEnsembleClassifier}. */
export const treeEnsembleClassifierRules = defineRules({
  name: 'TreeEnsembleClassifier',
  operands: { x: 'tensor' },
  params: params<{ model: Model }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { model: derive(modelOf) } }],

  shape: ({ x }, { model: { forest, labels, columns } }) =>
    classifierOutputs(labels, checkFeatures(x, forest.featureCount), columns)
})

/**
 * Class scores as sums of what the leaves of decision trees say, and the label of the largest. The label is decided on
 * the sums, before the post transform.
 *
 * Where all votes are for the first of two classes, there is one score `s`, that of the second: its label is given for
 * `s` above 0.5 where no vote is negative, else above 0, and the scores are `1 - s` and `s`, else `-s` and `s`. Where
 * all are for the second, the label goes by the same bounds. That is ONNX Runtime's rule. It also applies parts of it
 * where both classes have votes; there the label of the largest is given, as the text says.
 *
 * With three and more classes, one without a vote has the score 0 but is not chosen before one with a vote, as in ONNX
 * Runtime. ai.onnx.ml TreeEnsembleClassifier-1, -3, -5.
 */
export const treeEnsembleClassifier = /* @__PURE__ */ withKernel(treeEnsembleClassifierRules, {
  *run({ x }, { model }, call) {
    const { forest, labels, targets } = model
    const [rows, features] = rowsAndFeatures(x.dims)
    const chosen = call.rawOutput(0).data
    const scores = call.rawOutput(1).data as Float32Array
    const numbers = yield* readReals(x)
    // A sum that is a hair above 0.5 in double precision would get a label that its own float32 score contradicts.
    const isRounded = x.type !== 'float64'
    yield* walkForest(forest, numbers, rows, features, targets, 'SUM', (votes, first, count) => {
      addBase(votes, model, count)
      if (isRounded) roundAll(votes.totals)
      for (let row = 0; row < count; row++) chosen[first + row] = labels.values[choose(votes, row * targets, model)]
      writeScores(votes.totals, model, scores, first, count)
    })
  }
})

function modelOf(node: NodeFacts): Model {
  const labels = labelsOf(node, 'classlabels_int64s', 'classlabels_strings')
  const columns = labels.values.length
  const base = Array.from(numbersOf(node, 'base_values') ?? [])
  if (base.length > 0 && base.length !== columns && (base.length !== 1 || columns > 2))
    fail('unknown-attribute-value', `there are ${base.length} base values and ${columns} labels; they must be as many`)
  const forest = namedForest(node, 'class', columns)
  const voted = new Set(listOf(node, 'class_ids'))
  const isSingle = columns === 2 && base.length < 2 && voted.size === 1 && voted.has(0)
  const isJudged = isSingle || (columns === 2 && voted.size === 1 && voted.has(1))
  const isPositive = forest.leaves.weights.every(weight => weight >= 0)
  return {
    forest,
    labels: twoLabels(labels),
    columns,
    targets: isSingle ? 1 : columns,
    base,
    post: node.get(choice('post_transform', POST_TRANSFORMS)) ?? 'NONE',
    first: isPositive ? 'one-minus' : 'minus',
    threshold: columns === 1 ? 0 : isJudged ? (isPositive ? 0.5 : 0) : undefined
  }
}

function addBase({ totals, voted }: Votes, { base, targets }: Model, rows: number): void {
  if (base.length === 0) return
  for (let row = 0, at = 0; row < rows; row++, at += targets)
    for (let i = 0; i < base.length; i++) {
      totals[at + i] += base[i]
      voted[at + i] = 1
    }
}

function choose({ totals, voted }: Votes, at: number, { targets, threshold }: Model): number {
  if (threshold !== undefined) return totals[at + targets - 1] > threshold ? 1 : 0
  if (targets === 2) return largestOf(totals, at, 2)
  let best = -1
  for (let i = 0; i < targets; i++)
    if (voted[at + i] !== 0 && (best < 0 || totals[at + i] > totals[at + best])) best = i
  return Math.max(0, best)
}

function roundAll(totals: Float64Array): void {
  for (let i = 0; i < totals.length; i++) totals[i] = Math.fround(totals[i])
}

/** Writes the scores of `count` rows, the first of which is row `first` of the output. */
function writeScores(totals: Float64Array, model: Model, scores: Float32Array, first: number, count: number): void {
  const { targets, columns, post } = model
  if (targets < columns) {
    for (let row = 0; row < count; row++) writeTwo(totals[row], model.first, post, scores, (first + row) * columns)
    return
  }
  for (let row = 0; row < count; row++) transformScores(totals, row * columns, columns, post)
  scores.set(totals.subarray(0, count * columns), first * columns)
}
