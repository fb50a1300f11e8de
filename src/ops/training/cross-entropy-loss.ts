import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { eachLine, logSoftmaxLine } from '../../kernels/core/lines.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { checkLabels, type LossRule, storeLoss } from '../../kernels/normalization/losses.ts'
import { type Op, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, int, optional } from '../../op-kit/sources.ts'
import { type Dim, meetDims, printShape } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { Tensor } from '../../tensor/tensor.ts'

const OPERANDS = { scores: 'tensor', labels: 'tensor', weights: 'optional' } as const
const ROW = {
  since: 12,
  bind: {
    reduction: choice('reduction', { none: 'none', sum: 'sum', mean: 'mean' }),
    ignored: optional(int('ignore_index'))
  }
} as const

interface Facts {
  readonly scores: TensorFact
  readonly labels: TensorFact
  readonly weights: TensorFact | undefined
}

/** Rules of {@link negativeLogLikelihoodLoss}. */
const negativeLogLikelihoodLossRules = defineRules({
  name: 'NegativeLogLikelihoodLoss',
  operands: OPERANDS,
  params: params<LossRule>(),
  onnx: [ROW],
  shape: (facts, { reduction }) => [tensorFact(facts.scores.type, lossShape(facts, reduction))],
  validate: validateLabels
})

/**
 * The loss is `-score` at each label times the label's weight. A mean is divided by the sum of the weights, which are 0
 * for ignored labels.
 */
const negativeLogLikelihoodLoss = /* @__PURE__ */ withKernel(negativeLogLikelihoodLossRules, {
  *run({ scores, labels, weights }, p, call) {
    yield* storeLoss(yield* readNumbers(scores), scores.dims, labels, weights, p, call.output())
  }
})

/** Rules of {@link softmaxCrossEntropyLoss}. */
const softmaxCrossEntropyLossRules = defineRules({
  name: 'SoftmaxCrossEntropyLoss',
  operands: OPERANDS,
  params: params<LossRule>(),
  onnx: [ROW],

  shape(facts, { reduction }, { outputCount }) {
    const { type, shape } = facts.scores
    return [tensorFact(type, lossShape(facts, reduction)), tensorFact(type, shape)].slice(0, outputCount)
  },

  validate: validateLabels
})

/** NegativeLogLikelihoodLoss of `log(softmax(scores))` over dim 1; a second output holds these logarithms. */
const softmaxCrossEntropyLoss = /* @__PURE__ */ withKernel(softmaxCrossEntropyLossRules, {
  *run({ scores, labels, weights }, p, call) {
    const logarithms = new Float64Array(scores.data.length)
    yield* eachLine(yield* readNumbers(scores), logarithms, axisLayout(scores.dims, 1), logSoftmaxLine)
    if (call.outputCount > 1) yield* convertPaced(new Tensor('float64', logarithms, scores.dims), call.output(1))
    yield* storeLoss(logarithms, scores.dims, labels, weights, p, call.output())
  }
})

/**
 * ONNX NegativeLogLikelihoodLoss-12, -13, -22 and SoftmaxCrossEntropyLoss-12, -13; computed in double precision,
 * rounded once.
 */
export const lossOps: readonly Op[] = [negativeLogLikelihoodLoss, softmaxCrossEntropyLoss]

/** Rules of {@link lossOps}. */
export const lossRules: readonly Op[] = [negativeLogLikelihoodLossRules, softmaxCrossEntropyLossRules]

/**
 * Scores are `[N, C, …]`, labels `[N, …]`, weights `[C]`. The loss has the shape of the labels, or is a scalar when
 * reduced.
 */
function lossShape({ scores, labels, weights }: Facts, reduction: LossRule['reduction']): readonly Dim[] | undefined {
  checkRankAtLeast('scores', scores, 2)
  const expected = scores.shape?.filter((_, i) => i !== 1)
  const shape = meetShapes('the labels', labels.shape, expected)
  meetShapes('the weights', weights?.shape, scores.shape?.slice(1, 2))
  return reduction === 'none' ? shape : []
}

function meetShapes(
  what: string,
  shape: readonly Dim[] | undefined,
  expected: readonly Dim[] | undefined
): readonly Dim[] | undefined {
  if (shape === undefined || expected === undefined) return shape ?? expected
  const met = shape.length === expected.length ? expected.map((dim, i) => meetDims(dim, shape[i])) : [undefined]
  if (met.includes(undefined))
    fail('shape-mismatch', `${what} have shape ${printShape(shape)}; expected ${printShape(expected)}`)
  return met as Dim[]
}

function validateLabels({ scores, labels }: Facts, { ignored }: LossRule): void {
  const known = knownValue(labels)
  if (known && scores.shape) checkLabels(known, scores.shape[1], ignored)
}
