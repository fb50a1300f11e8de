import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Op } from '../op-kit/define.ts'
import type { DType } from '../tensor/dtype.ts'
import { fusedCall } from './fuse.ts'
import { operandOf, type PlanGraph } from './graph.ts'
import { operatorOf } from './patterns.ts'

/** Codes, and the zero point that is subtracted from them; undefined: none is. */
export interface CentredCodes {
  readonly codes: ValueId
  readonly zero: ValueId | undefined
}

/** What reads or makes codes: the values that an operand of a quantized operator is. */
export interface Codes extends CentredCodes {
  readonly scale: ValueId
}

/** What stands for each operand of a call, by name. */
export const inputsOf = ({ operands, inputs }: Call): Record<string, ValueId | undefined> =>
  Object.fromEntries(operands.map(({ name, index }) => [name, inputs[index]]))

/** Codes, scale and zero point of a call of DequantizeLinear. */
export const codesOf = (call: Call): Codes => ({
  codes: operandOf(call, 'x')!,
  scale: operandOf(call, 'scale')!,
  zero: operandOf(call, 'zero')
})

/** The operators in which the codes of an IR are stated. */
export interface CodeOps {
  readonly quantize: Op
  readonly dequantize: Op
}

/** Undefined where the registry lacks one. */
export function codeOpsIn(graph: PlanGraph): CodeOps | undefined {
  const [quantize, dequantize] = ['QuantizeLinear', 'DequantizeLinear'].map(type => operatorOf(graph, type, 13))
  return quantize && dequantize && { quantize, dequantize }
}

/** The lowest code of a type of bytes; there are 256. */
export const lowestByte = (type: DType | undefined): number => (type === 'int8' ? -128 : 0)

/** A call of QuantizeLinear in the place of another call. */
export function quantizing(root: Call, quantize: Op, inputs: Readonly<Record<'x' | 'scale' | 'zero', ValueId>>): Call {
  const parameters = { axis: undefined, blockSize: 0, to: undefined, precision: undefined, saturates: true }
  return fusedCall(root, quantize, inputs, parameters)
}

/** A call of DequantizeLinear in the place of another call. */
export function dequantizing(root: Call, { dequantize }: CodeOps, { codes, scale, zero }: Codes, axis?: number): Call {
  return fusedCall(root, dequantize, { x: codes, scale, zero }, { axis, blockSize: 0, to: undefined })
}

/** The numbers of a quantization whose codes are bytes. */
export interface Grid {
  readonly scale: number
  readonly zero: number
}

/** How far a zero point may be from an integer, in steps: bounds of float32 give it that exactly. */
export const NEAR_INTEGER = 2 ** -14

/** The bytes that count the levels of a range; undefined where zero is none of the levels. */
export function gridOfRange(low: number, high: number, levels: number): Grid | undefined {
  const scale = Math.fround((high - low) / (levels - 1))
  const exact = (-low / (high - low)) * (levels - 1)
  const zero = Math.round(exact)
  const isByte = zero >= 0 && zero < levels && Math.abs(exact - zero) <= NEAR_INTEGER
  return isByte && scale > 0 && Number.isFinite(scale) ? { scale, zero } : undefined
}
