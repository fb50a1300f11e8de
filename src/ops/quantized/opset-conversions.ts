import type { Leniency, Made } from '../../op-kit/conversion.ts'
import { dequantizeLinear, quantizeLinear } from './quantize-linear.ts'

// QuantizeLinear and DequantizeLinear in other operator sets of ONNX: what is left out says the same as some values.

const typeOf = (value: Made): string | undefined => (value.fact.kind === 'tensor' ? value.fact.type : undefined)

/** Whether there is one number for the whole tensor. */
const isSingle = ({ fact }: Made): boolean =>
  fact.kind === 'tensor' && fact.shape !== undefined && fact.shape.length < 2 && fact.shape.every(dim => dim === 1)

/** Versions that have no axis (left out) take one scale for all, which has none in the others. */
const axisLeniency = (op: Leniency['op']): Leniency => ({
  op,
  parameter: 'axis',
  allows: (from, to, call) => from === undefined || (to === undefined && isSingle(call.operand('scale')))
})

/** What versions of these operators leave out. */
export const quantizedLeniencies: readonly Leniency[] = [
  axisLeniency(quantizeLinear),
  axisLeniency(dequantizeLinear),
  {
    op: quantizeLinear,
    parameter: 'to',
    // The type of the zero point, which must be this one; uint8 without one.
    allows: (from, to, call) => to === undefined && (call.has('zero') || from === 'uint8')
  },
  {
    op: dequantizeLinear,
    parameter: 'to',
    allows: (from, to, call) => to === undefined && from === typeOf(call.operand('scale'))
  },
  {
    op: quantizeLinear,
    parameter: 'precision',
    allows: (from, to, call) => to === undefined && from === typeOf(call.operand('scale'))
  }
]
