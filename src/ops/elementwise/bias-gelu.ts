import { binary, type NumberInnerLoop } from '../../kernels/core/elementwise.ts'
import { BIAS_GELU, BIAS_GELU_TANH } from '../../kernels/elementwise/activations.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast, sharedDim } from '../../op-kit/ranks.ts'
import { is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { GELU, GELU_TANH } from './activations.ts'
import { applyUnary, type UnaryFunction } from './unary.ts'

interface Params {
  /** What is applied to the sum. */
  function: UnaryFunction
  /** The same with the addition of the bias. */
  withBias: NumberInnerLoop
}

/**
 * Adds a bias, a list along the last axis, and applies Gelu: by erf in com.microsoft BiasGelu-1, by tanh in FastGelu-1,
 * whose bias may be left out.
 */
export const biasGelu = defineOp({
  name: 'BiasGelu',
  operands: { x: 'tensor', bias: 'optional' },
  params: params<Params>(),
  onnx: [
    { domain: 'com.microsoft', since: 1, requires: ['bias'], bind: { function: is(GELU), withBias: is(BIAS_GELU) } },
    {
      domain: 'com.microsoft',
      type: 'FastGelu',
      since: 1,
      bind: { function: is(GELU_TANH), withBias: is(BIAS_GELU_TANH) }
    }
  ],
  inPlace: ['x'],

  shape({ x, bias }) {
    const type = commonType({ X: x, bias })
    if (!bias) return [tensorFact(type, x.shape)]
    checkRankAtLeast('X', x, 1)
    checkRank('the bias', bias, 1)
    const size = sharedDim({ X: [x, -1], 'the bias': [bias, 0] })
    return [tensorFact(type, x.shape && [...x.shape.slice(0, -1), size!])]
  },

  run: ({ x, bias }, { function: fn, withBias }, call) =>
    bias ? binary({ float: withBias }, x, bias, call.rawOutput()) : applyUnary(fn, x, call)
})
