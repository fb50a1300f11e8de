import { fail } from '../../errors.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { dot } from '../../kernels/ml/dot.ts'
import { rowsAndFeatures } from '../../kernels/ml/rows.ts'
import { POST_TRANSFORMS } from '../../kernels/ml/scores.ts'
import { eachKernelRow, type SupportVectors } from '../../kernels/ml/svm.ts'
import { params } from '../../op-kit/define.ts'
import { rowsOfFeatures } from '../../op-kit/ml-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, flag, floats, int, type NodeFacts, optional } from '../../op-kit/sources.ts'
import { evenShare, numbersOfLength, svmKernelOf } from '../../op-kit/svm-params.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Model {
  readonly support: SupportVectors
  readonly features: number
  /** What kernel values are multiplied by. */
  readonly weights: Float64Array
  readonly rho: number
}

/** Rules of {@link svmRegressor}. */
export const svmRegressorRules = defineRules({
  name: 'SVMRegressor',
  operands: { x: 'tensor' },
  params: params<{ model: Model; oneClass: boolean }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { model: derive(modelOf), oneClass: flag('one_class') } }],

  shape: ({ x }, { model: { features } }) => [tensorFact('float32', [rowsOfFeatures(x, features), 1])]
})

/**
 * A weighted sum of kernel values of a row and support vectors; without support vectors, of its features. For one class
 * the result is 1 above 0, else -1. The post transform changes nothing, as in ONNX Runtime. ai.onnx.ml SVMRegressor-1.
 */
export const svmRegressor = /* @__PURE__ */ withKernel(svmRegressorRules, {
  *run({ x }, { model: { support, weights, rho }, oneClass }, call) {
    const [rows, features] = rowsAndFeatures(x.dims)
    const out = call.rawOutput().data as Float32Array
    yield* eachKernelRow(yield* readReals(x), rows, features, support, (values, row) => {
      const sum = dot(values, 0, weights, 0, values.length) + rho
      out[row] = oneClass ? (sum > 0 ? 1 : -1) : sum
    })
  }
})

/** Without support vectors the coefficients are the one vector that rows are multiplied by. */
function modelOf(node: NodeFacts): Model {
  node.get(choice('post_transform', POST_TRANSFORMS))
  const count = node.get(int('n_supports')) ?? 0
  if (count < 0) fail('unknown-attribute-value', `attribute "n_supports" is ${count}; 0 or more is expected`)
  const [rho] = numbersOfLength(node, 'rho', 1)
  const coefficients = node.get(optional(floats('coefficients'))) ?? []
  if (count === 0) {
    const support = {
      count: 1,
      vectors: Float64Array.from(coefficients),
      kernel: { ...svmKernelOf(node), type: 'LINEAR' } as const
    }
    return { support, features: coefficients.length, weights: Float64Array.of(1), rho }
  }
  const vectors = node.get(optional(floats('support_vectors'))) ?? []
  const features = evenShare('support_vectors', vectors, count)
  return {
    support: { count, vectors: Float64Array.from(vectors), kernel: svmKernelOf(node) },
    features,
    weights: Float64Array.from(numbersOfLength(node, 'coefficients', count)),
    rho
  }
}
