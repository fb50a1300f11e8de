import type { Call } from '../bind/call.ts'
import { ROUND } from '../kernels/elementwise/unary.ts'
import { lowestByte, quantizing } from './code-ops.ts'
import { activationOf } from './fuse-epilogue.ts'
import { callOf } from './fuse-quantized.ts'
import { areDims, isByteValue, isFloat32, shapeOf, typeOf } from './graph.ts'
import type { Pattern } from './match.ts'
import { binaryOf, commutative, operatorOf, sharedOf } from './patterns.ts'

const roundsToEven = ({ known }: Call): boolean => (known.function as { readonly loops?: unknown }).loops === ROUND

/**
 * QuantizeLinear to bytes, written out: numbers divided by a scale, rounded, moved by a zero point and clamped. So
 * OpenVINO holds DynamicQuantizeLinear, whose scale is computed.
 */
export const writtenQuantization: Pattern = {
  name: 'quantization',
  calls: {
    quotient: binaryOf('Div', ['x', 'scale']),
    rounded: { ops: ['Round'], where: roundsToEven, reads: { x: 'quotient' } },
    offset: sharedOf('Cast', { input: 'zero' }),
    moved: commutative('Add', ['rounded', 'offset']),
    clamped: { ops: ['Clip'], reads: { x: 'moved' } },
    codes: { ops: ['Cast'], reads: { input: 'clamped' } }
  },
  root: 'codes',
  guard(match, graph) {
    const [x, scale, zero] = ['x', 'scale', 'zero'].map(label => match.values.get(label))
    const codes = callOf(match, 'codes').outputs[0]
    const type = typeOf(graph, codes)
    const bounds = activationOf(callOf(match, 'clamped'), graph)
    const lowest = lowestByte(type)
    return (
      isByteValue(graph, codes) &&
      typeOf(graph, zero) === type &&
      [x, scale].every(id => isFloat32(graph, id)) &&
      [scale, zero].every(id => areDims(shapeOf(graph, id), [])) &&
      bounds?.p === lowest &&
      bounds?.q === lowest + 255
    )
  },
  fuse(match, graph) {
    const op = operatorOf(graph, 'QuantizeLinear', 13)
    const [x, scale, zero] = ['x', 'scale', 'zero'].map(label => match.values.get(label)!)
    return op && { call: quantizing(callOf(match, 'codes'), op, { x, scale, zero }) }
  }
}
