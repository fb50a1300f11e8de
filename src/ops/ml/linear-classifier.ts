import { fail } from '../../errors.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { classifyLinear } from '../../kernels/ml/classify.ts'
import { eachProduct, type LinearModel } from '../../kernels/ml/linear.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { POST_TRANSFORMS, type PostTransform } from '../../kernels/ml/scores.ts'
import { params } from '../../op-kit/define.ts'
import { type Labels, labelsOf, twoLabels } from '../../op-kit/ml-labels.ts'
import { classifierOutputs, rowsOf } from '../../op-kit/ml-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, floats, type NodeFacts, optional } from '../../op-kit/sources.ts'

interface Model extends LinearModel {
  /** What is chosen from. */
  readonly labels: Labels
  /** Scores of a row. */
  readonly columns: number
}

/** Rules of {@link linearClassifier}. */
export const linearClassifierRules = defineRules({
  name: 'LinearClassifier',
  operands: { x: 'tensor' },
  params: params<{ model: Model; post: PostTransform }>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: { model: derive(modelOf), post: choice('post_transform', POST_TRANSFORMS) }
    }
  ],

  shape({ x }, { model }) {
    const { rows, features } = rowsOf(x)
    if (typeof features === 'number') vectorsOf(model, features)
    return classifierOutputs(model.labels, rows, model.columns)
  }
})

/**
 * Products of rows and a vector for each class, and the label of the largest, decided before the post transform. With
 * one vector for two classes its product `s` is the second's score: the label is the second for `s` above 0, the scores
 * are `1 - s` and `s`, as in ONNX Runtime; the reference implementation has `-s`. `multi_class` says how the model was
 * fitted and changes nothing, as in both. ai.onnx.ml LinearClassifier-1.
 */
export const linearClassifier = /* @__PURE__ */ withKernel(linearClassifierRules, {
  *run({ x }, { model, post }, call) {
    const [rows, features] = rowsAndFeatures(x.dims)
    const vectors = vectorsOf(model, features)
    const to = { labels: call.rawOutput(0).data, scores: call.rawOutput(1).data as Float32Array }
    yield* eachProduct(yield* readReals(x), rows, features, vectors, model, (products, row) =>
      classifyLinear(products, row, model, post, to)
    )
  }
})

function modelOf(node: NodeFacts): Model {
  const labels = labelsOf(node, 'classlabels_ints')
  const columns = labels.values.length
  const coefficients = node.get(floats('coefficients')) ?? []
  const intercepts = node.get(optional(floats('intercepts'))) ?? []
  const vectors = intercepts.length
  if (vectors > 0 && vectors !== columns && (vectors !== 1 || columns !== 2)) {
    fail(
      'unknown-attribute-value',
      `there are ${vectors} intercepts and ${columns} labels; they must be as many, or one for two`
    )
  }
  return { labels: twoLabels(labels), columns, coefficients: Float64Array.from(coefficients), intercepts }
}

/** How many vectors there are: one for each label, or one for two. */
function vectorsOf({ columns, coefficients, intercepts }: Model, features: number): number {
  const allowed = intercepts.length > 0 ? [intercepts.length] : columns === 2 ? [2, 1] : [columns]
  const vectors = allowed.find(count => count * features === coefficients.length)
  const have = `${coefficients.length} coefficients for ${allowed.join(' or ')} vectors`
  return vectors ?? fail('dims-mismatch', `the input has ${features} features; there are ${have}`)
}
