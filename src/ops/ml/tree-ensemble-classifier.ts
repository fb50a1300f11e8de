import { fail } from '../../errors.ts'
import { POST_TRANSFORMS } from '../../kernels/ml/scores.ts'
import { classifyByTrees, type TreeClasses } from '../../kernels/ml/tree-classes.ts'
import { params } from '../../op-kit/define.ts'
import { type Labels, labelsOf, twoLabels } from '../../op-kit/ml-labels.ts'
import { checkFeatures, classifierOutputs } from '../../op-kit/ml-shape.ts'
import { listOf, namedForest, numbersOf } from '../../op-kit/named-forest.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, type NodeFacts } from '../../op-kit/sources.ts'

interface Model extends TreeClasses {
  readonly labels: Labels
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
  run({ x }, { model }, call) {
    const labels = call.rawOutput(0).data
    return classifyByTrees(model, x, { labels, scores: call.rawOutput(1).data as Float32Array })
  }
})

function modelOf(node: NodeFacts): Model {
  const labels = labelsOf(node, 'classlabels_int64s')
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
