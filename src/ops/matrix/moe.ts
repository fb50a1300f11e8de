import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { codedLayer, denseLayer, type ExpertLayer, mixExperts } from '../../kernels/matrix/experts.ts'
import { floatRows } from '../../kernels/quantized/coded-rows.ts'
import type { CodedRows } from '../../kernels/quantized/packed.ts'
import { params } from '../../op-kit/define.ts'
import {
  checkExperts,
  expertBind,
  type ExpertFacts,
  type ExpertParams,
  gatingOf,
  routingOf
} from '../../op-kit/experts.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { commonType } from '../../op-kit/types.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat } from '../../tensor/floats.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'

/** Rules of {@link moe}. */
export const moeRules = defineRules({
  name: 'MoE',
  operands: {
    x: 'tensor',
    scores: 'tensor',
    first: 'tensor',
    firstBias: 'optional',
    second: 'tensor',
    secondBias: 'optional',
    third: 'optional',
    thirdBias: 'optional'
  },
  params: params<ExpertParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: expertBind }],

  shape({ x, scores, first, firstBias, second, secondBias, third, thirdBias }, p) {
    const facts = [
      layerFacts('fc1', first, firstBias),
      layerFacts('fc2', second, secondBias),
      third && layerFacts('fc3', third, thirdBias)
    ] as const
    checkExperts(x, { router_probs: scores }, facts, p)
    return [tensorFact(commonType({ input: x, router_probs: scores, fc1: first, fc2: second, fc3: third }), x.shape)]
  }
})

/**
 * A mixture of experts: the `k` experts of the highest scores serve a token, each `fc2(activation(fc1 x))`, and what
 * they make is added up by weights: the softmax of all scores, or with `normalize_routing_weights` that of the chosen
 * ones. Of equal scores the last counts more, as in ONNX Runtime. Gelu is the one by tanh. SwiGLU has its gates and
 * values side by side in fc1, in halves of it, or the values in fc3; another activation with fc3 is multiplied with
 * what that gives. Sums are in double precision. MoE-1 of com.microsoft.
 */
export const moe = /* @__PURE__ */ withKernel(moeRules, {
  *run({ x, scores, first, firstBias, second, secondBias, third, thirdBias }, p, call) {
    const sums = allocate('float64', x.dims)
    const experts = {
      first: yield* layerOf(first, firstBias),
      second: yield* layerOf(second, secondBias),
      third: third && (yield* layerOf(third, thirdBias)),
      gating: gatingOf(p, third !== undefined)
    }
    const routing = yield* routingOf(scores, first.dims[0], p)
    yield* mixExperts(yield* readNumbers(x), experts, routing, sums.data)
    yield* convertPaced(sums, call.rawOutput())
  }
})

function layerFacts(name: string, weights: TensorFact, bias: TensorFact | undefined): ExpertFacts {
  checkRank(`the weights of ${name}`, weights, 3)
  return { weights: weights.shape, bias }
}

function* layerOf(weights: Tensor, bias: Tensor | undefined): Generator<void, ExpertLayer> {
  const { type, data, dims } = weights
  const [, rows, columns] = dims
  const list = bias && (yield* readNumbers(bias))
  if (!isCodedFloat(type)) return denseLayer(data as Numbers, rows, columns, list)
  const weightsOf = (expert: number): CodedRows =>
    floatRows(type, data as Codes, expert * rows * columns, rows, columns)
  return codedLayer(weightsOf, rows, columns, list)
}
