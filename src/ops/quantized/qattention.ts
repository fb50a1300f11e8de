import { type Attending, REFERENCE } from '../../kernels/attention/multi-head.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { ADD } from '../../kernels/elementwise/binary.ts'
import { asDoubles, scaledProduct } from '../../kernels/quantized/integer-product.ts'
import { params } from '../../op-kit/define.ts'
import { attendProjected, type ProjectedParams } from '../../op-kit/projected-run.ts'
import { checkEach, checkQuantization } from '../../op-kit/quantized.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { is } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'
import { projectedBind, projectedShapes } from '../attention/projected-attention.ts'

/** Rules of {@link qattention}. */
export const qattentionRules = defineRules({
  name: 'QAttention',
  operands: {
    input: 'tensor',
    weights: 'tensor',
    bias: 'tensor',
    inputScale: 'tensor',
    weightScale: 'tensor',
    mask: 'optional',
    inputZero: 'optional',
    weightZero: 'optional',
    past: 'optional'
  },
  params: params<ProjectedParams>(),
  onnx: [
    { domain: 'com.microsoft', since: 1, bind: { ...projectedBind, columns: is(undefined), kept: is(undefined) } }
  ],

  shape({ input, weights, bias, inputScale, inputZero, weightScale, weightZero, mask, past }, p, { outputCount }) {
    checkQuantization('input', inputScale, inputZero)
    const columns = weights.shape?.[1]
    checkEach('weight_scale', weightScale, columns, 'columns')
    checkEach('weight_zero_point', weightZero, columns, 'columns')
    const others = { mask, past, attentionBias: undefined }
    const shapes = projectedShapes(input, weights, bias, others, p, outputCount)
    return shapes.map(shape => tensorFact(bias.type, shape))
  }
})

/**
 * Attention with projections (Attention of com.microsoft) of 8-bit data by 8-bit weights, whose columns may have scales
 * and zero points of their own: QAttention-1 of com.microsoft. The projections are exact sums, scaled to floats; all
 * that follows is computed with floats.
 */
export const qattention = /* @__PURE__ */ withKernel(qattentionRules, {
  *run({ input, weights, bias, inputScale, inputZero, weightScale, weightZero, mask, past }, p, call) {
    const dims = [...input.dims.slice(0, 2), weights.dims[1]]
    const reference: Attending = {
      ...REFERENCE,
      *project(codes, factor, added, projected) {
        const factors = [
          { codes, zero: inputZero },
          { codes: factor, zero: weightZero }
        ] as const
        const numbers = yield* scaledProduct(...factors, [inputScale, weightScale], dims)
        if (added) yield* binary(ADD, numbers, asDoubles(added), numbers)
        projected.set(numbers.data)
      }
    }
    const attending = call.accelerateAttention?.(reference) ?? reference
    const projected = attending.allocate(product(dims))
    yield* attending.project(input, weights, bias, projected)
    yield* attendProjected(projected, dims, { mask, past, attentionBias: undefined }, p, call, attending)
  }
})
