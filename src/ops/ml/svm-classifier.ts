import { fail } from '../../errors.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { classifyPairs, type PairClasses } from '../../kernels/ml/classify.ts'
import { eachProduct, type LinearModel } from '../../kernels/ml/linear.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { largestOf, POST_TRANSFORMS, type PostTransform, transformScores } from '../../kernels/ml/scores.ts'
import { decide, eachKernelRow, pairWork, type SupportVectors } from '../../kernels/ml/svm.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { type Labels, labelsOf } from '../../op-kit/ml-labels.ts'
import { classifierOutputs, rowsOfFeatures } from '../../op-kit/ml-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, floats, ints, type NodeFacts, optional } from '../../op-kit/sources.ts'
import { evenShare, numbersOfLength, svmKernelOf } from '../../op-kit/svm-params.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Common {
  readonly labels: Labels
  readonly features: number
  /** Scores of a row. */
  readonly columns: number
}

/** A vector for each class (liblinear). */
interface Linear extends Common {
  readonly kind: 'linear'
  readonly model: LinearModel
}

/** Support vectors, and a decision between each two classes (libsvm). */
interface Pairwise extends Common, PairClasses {
  readonly kind: 'pairwise'
  readonly labels: Labels
  readonly columns: number
  readonly support: SupportVectors
}

/** Rules of {@link svmClassifier}. */
export const svmClassifierRules = defineRules({
  name: 'SVMClassifier',
  operands: { x: 'tensor' },
  params: params<{ model: Linear | Pairwise; post: PostTransform }>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: { model: derive(modelOf), post: choice('post_transform', POST_TRANSFORMS) }
    }
  ],

  shape: ({ x }, { model: { labels, features, columns } }) =>
    classifierOutputs(labels, rowsOfFeatures(x, features), columns)
})

/**
 * Support vector classifier. The label has the most votes of the decisions between each two classes. The scores are the
 * probabilities of the classes where Platt's parameters are given, else the decision values of the pairs: of two
 * classes `-s` and `s`, and `1 - s` and `s` before SOFTMAX and SOFTMAX_ZERO, which then change nothing, as in ONNX
 * Runtime. A decision value above 0 is a vote for the first of the two, so `s` is no score of the second.
 *
 * Without support vectors a row is multiplied by a vector for each class, and the label is that of the largest product,
 * as the text says and the reference implementation does. ai.onnx.ml SVMClassifier-1.
 */
export const svmClassifier = /* @__PURE__ */ withKernel(svmClassifierRules, {
  *run({ x }, { model, post }, call) {
    yield* model.kind === 'linear' ? runLinear(x, model, post, call) : runPairwise(x, model, post, call)
  }
})

function* runLinear(
  x: Tensor,
  { labels, columns, model }: Linear,
  post: PostTransform,
  call: KernelContext
): Generator<void> {
  const [rows, features] = rowsAndFeatures(x.dims)
  const chosen = call.rawOutput(0).data
  const scores = call.rawOutput(1).data as Float32Array
  yield* eachProduct(yield* readReals(x), rows, features, columns, model, (products, row) => {
    chosen[row] = labels.values[largestOf(products, 0, columns)]
    transformScores(products, 0, columns, post)
    scores.set(products, row * columns)
  })
}

function* runPairwise(x: Tensor, model: Pairwise, post: PostTransform, call: KernelContext): Generator<void> {
  const { support, pairs } = model
  const [rows, features] = rowsAndFeatures(x.dims)
  const to = { labels: call.rawOutput(0).data, scores: call.rawOutput(1).data as Float32Array }
  const work = pairWork(pairs.classes)
  yield* eachKernelRow(yield* readReals(x), rows, features, support, (kernels, row) => {
    decide(pairs, kernels, work.decisions)
    classifyPairs(work, row, model, post, to)
  })
}

function modelOf(node: NodeFacts): Linear | Pairwise {
  const labels = labelsOf(node, 'classlabels_ints')
  const classes = labels.values.length
  const coefficients = node.get(optional(floats('coefficients'))) ?? []
  const perClass = node.get(optional(ints('vectors_per_class'))) ?? []
  if (perClass.some(count => count < 0)) fail('unknown-attribute-value', '"vectors_per_class" has a negative number')
  const count = perClass.reduce((sum, own) => sum + own, 0)
  if (count > 0) return pairwiseOf(node, labels, perClass, count)
  const features = evenShare('coefficients', coefficients, classes)
  const rho = node.get(optional(floats('rho'))) ?? []
  if (rho.length === 0) fail('missing-attribute', 'attribute "rho" is missing')
  const intercepts = labels.values.map(() => rho[0])
  return {
    kind: 'linear',
    labels,
    features,
    columns: classes,
    model: { coefficients: Float64Array.from(coefficients), intercepts }
  }
}

function pairwiseOf(node: NodeFacts, labels: Labels, perClass: readonly number[], count: number): Pairwise {
  const classes = labels.values.length
  if (perClass.length !== classes) {
    fail(
      'unknown-attribute-value',
      `there are ${perClass.length} entries of "vectors_per_class" and ${classes} labels; they must be as many`
    )
  }
  if (classes < 2) fail('unknown-attribute-value', 'there is one label; support vectors decide between two or more')
  const pairCount = (classes * (classes - 1)) / 2
  const vectors = node.get(optional(floats('support_vectors'))) ?? []
  const features = evenShare('support_vectors', vectors, count)
  const starts = new Int32Array(classes + 1)
  perClass.forEach((own, i) => (starts[i + 1] = starts[i] + own))
  const hasPlatt = (node.get(optional(floats('prob_a'))) ?? node.get(optional(floats('prob_b'))) ?? []).length > 0
  const platt = hasPlatt
    ? { a: numbersOfLength(node, 'prob_a', pairCount), b: numbersOfLength(node, 'prob_b', pairCount) }
    : undefined
  return {
    kind: 'pairwise',
    labels,
    features,
    columns: platt || classes === 2 ? classes : pairCount,
    support: { count, vectors: Float64Array.from(vectors), kernel: svmKernelOf(node) },
    pairs: {
      classes,
      starts,
      coefficients: Float64Array.from(numbersOfLength(node, 'coefficients', (classes - 1) * count)),
      rho: numbersOfLength(node, 'rho', pairCount)
    },
    platt
  }
}
