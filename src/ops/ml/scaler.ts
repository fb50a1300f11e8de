import { fail } from '../../errors.ts'
import { scale } from '../../kernels/ml/scale.ts'
import { params } from '../../op-kit/define.ts'
import { checkDim, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { floats } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Subtracted first: one number for each position of the last axis, or one for all. */
  offset: readonly number[]
  /** Multiplied by then; as many numbers. */
  factor: readonly number[]
}

/** Rules of {@link scaler}. */
export const scalerRules = defineRules({
  name: 'Scaler',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { offset: floats('offset'), factor: floats('scale') } }],

  shape({ x }, { offset, factor }) {
    const count = offset.length
    if (count !== factor.length || count === 0) {
      fail(
        'unknown-attribute-value',
        `there are ${count} offsets and ${factor.length} scales; they must be as many, and at least one`
      )
    }
    if (count > 1) {
      checkRankAtLeast('the input', x, 1)
      if (x.shape) checkDim('the input', x, x.shape.length - 1, count)
    }
    return [tensorFact('float32', x.shape)]
  }
})

/**
 * Subtracts an offset from each feature and multiplies it by a scale, into float32. Features are along the last axis,
 * as in the reference implementation; ONNX Runtime has them along axis 1, which is another one from rank 3 on. As in
 * both, neither attribute may be left out. ai.onnx.ml Scaler-1.
 */
export const scaler = /* @__PURE__ */ withKernel(scalerRules, {
  run: ({ x }, { offset, factor }, call) => scale(x, call.rawOutput(), offset, factor)
})
