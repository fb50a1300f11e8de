import { tensorFact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { allocate } from '../tensor/tensor.ts'
import { computed } from './byte-table.ts'
import { defineOp, type Op, type Parameters, params } from './define.ts'

/** What {@link roundedCodes} computes. */
export interface RoundedParams {
  readonly quantize: { readonly op: Op; readonly parameters: Parameters }
  readonly dequantize: { readonly op: Op; readonly parameters: Parameters }
  /** Type of the codes. */
  readonly type: DType
}

/**
 * Numbers that are quantized and dequantized by one scale and zero point: what the planner makes of QuantizeLinear and
 * DequantizeLinear, where nothing else reads the codes.
 */
export const roundedCodes: Op = defineOp({
  name: 'RoundedCodes',
  operands: { x: 'tensor', scale: 'tensor', zero: 'optional' },
  params: params<RoundedParams>(),
  shape: ({ x }) => [tensorFact('float32', x.shape)],

  *run({ x, scale, zero }, { quantize, dequantize, type }, call) {
    const codes = allocate(type, x.dims)
    yield* computed(quantize.op, { x, scale, zero }, quantize.parameters, codes)
    yield* computed(dequantize.op, { x: codes, scale, zero }, dequantize.parameters, call.rawOutput())
  }
})
