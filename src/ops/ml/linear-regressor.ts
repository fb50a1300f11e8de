import { fail } from '../../errors.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { eachProduct, type LinearModel } from '../../kernels/ml/linear.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { POST_TRANSFORMS, type PostTransform, transformScores } from '../../kernels/ml/scores.ts'
import { params } from '../../op-kit/define.ts'
import { rowsOfFeatures } from '../../op-kit/ml-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, floats, int, type NodeFacts, optional } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  targets: number
  model: LinearModel
  post: PostTransform
}

/** Rules of {@link linearRegressor}. */
export const linearRegressorRules = defineRules({
  name: 'LinearRegressor',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: { targets: int('targets'), model: derive(modelOf), post: choice('post_transform', POST_TRANSFORMS) }
    }
  ],

  shape: ({ x }, { targets, model: { coefficients } }) => [
    tensorFact('float32', [rowsOfFeatures(x, coefficients.length / targets), targets])
  ]
})

/**
 * Products of rows and one vector for each target, with intercepts where there are as many. Of the post transforms only
 * PROBIT changes a single target, as in ONNX Runtime. ai.onnx.ml LinearRegressor-1.
 */
export const linearRegressor = /* @__PURE__ */ withKernel(linearRegressorRules, {
  *run({ x }, { targets, model, post }, call) {
    const [rows, features] = rowsAndFeatures(x.dims)
    const out = call.rawOutput().data as Float32Array
    yield* eachProduct(yield* readReals(x), rows, features, targets, model, (products, row) => {
      transformScores(products, 0, targets, post)
      for (let k = 0, at = row * targets; k < targets; k++, at++) out[at] = products[k]
    })
  }
})

function modelOf(node: NodeFacts): LinearModel {
  const targets = node.get(int('targets')) ?? 1
  const coefficients =
    node.get(optional(floats('coefficients'))) ?? fail('missing-attribute', 'attribute "coefficients" is missing')
  if (targets < 1) fail('unknown-attribute-value', `attribute "targets" is ${targets}; 1 or more is expected`)
  if (coefficients.length % targets !== 0 || coefficients.length === 0) {
    fail(
      'unknown-attribute-value',
      `there are ${coefficients.length} coefficients, which ${targets} targets cannot share evenly`
    )
  }
  const intercepts = node.get(optional(floats('intercepts'))) ?? []
  if (intercepts.length > 0 && intercepts.length !== targets)
    fail(
      'unknown-attribute-value',
      `there are ${intercepts.length} intercepts and ${targets} targets; they must be as many`
    )
  return { coefficients: Float64Array.from(coefficients), intercepts }
}
