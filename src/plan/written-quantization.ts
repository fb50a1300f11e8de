import type { Call } from '../bind/call.ts'
import { ROUND } from '../kernels/elementwise/unary.ts'
import { activationOf } from './fuse-epilogue.ts'
import { callOf } from './fuse-quantized.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, shapeOf, typeOf } from './graph.ts'
import type { Pattern } from './match.ts'
import { binaryOf, commutative, operatorOf } from './patterns.ts'

/** The bounds of bytes. */
const BOUNDS: Readonly<Record<string, readonly [lowest: number, highest: number]>> = {
  uint8: [0, 255],
  int8: [-128, 127]
}

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
    offset: { ops: ['Cast'], reads: { input: 'zero' }, repeats: true },
    moved: commutative('Add', ['rounded', 'offset']),
    clamped: { ops: ['Clip'], reads: { x: 'moved' } },
    codes: { ops: ['Cast'], reads: { input: 'clamped' } }
  },
  root: 'codes',
  guard(match, graph) {
    const [x, scale, zero] = ['x', 'scale', 'zero'].map(label => match.values.get(label))
    const type = typeOf(graph, callOf(match, 'codes').outputs[0])
    const bounds = activationOf(callOf(match, 'clamped'), graph)
    const [lowest, highest] = BOUNDS[type ?? ''] ?? []
    return (
      typeOf(graph, zero) === type &&
      [x, scale].every(id => isFloat32(graph, id)) &&
      [scale, zero].every(id => areDims(shapeOf(graph, id), [])) &&
      bounds?.p === lowest &&
      bounds?.q === highest
    )
  },
  fuse(match, graph) {
    const op = operatorOf(graph, 'QuantizeLinear', 13)
    const inputs = Object.fromEntries(['x', 'scale', 'zero'].map(label => [label, match.values.get(label)]))
    const parameters = { axis: undefined, blockSize: 0, to: undefined, precision: undefined, saturates: true }
    return op && { call: fusedCall(callOf(match, 'codes'), op, inputs, parameters) }
  }
}
