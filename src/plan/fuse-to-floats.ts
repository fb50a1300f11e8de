import type { ValueId } from '../graph/graph.ts'
import { convIntegerToFloat } from '../op-kit/conv-to-float.ts'
import { codesOf } from './code-ops.ts'
import { biasPattern, callOf, DEQUANTIZED, factorsOf, isOfCodes } from './fuse-quantized.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, operandOf, type PlanGraph, shapeOf } from './graph.ts'
import type { Match, Pattern } from './match.ts'
import { isPlainProduct, operatorOf } from './patterns.ts'

/** A convolution of dequantized data and weights. */
const convPattern: Pattern = {
  name: 'convolution of codes',
  calls: {
    x: DEQUANTIZED,
    w: DEQUANTIZED,
    conv: { ops: ['Conv'], reads: { x: 'x', w: 'w' } }
  },
  root: 'conv',
  guard: (match, graph) => isOfCodes(match, graph, 'conv') && isFloat32(graph, biasOf(match) ?? madeBy(match)),
  fuse(match, graph) {
    const op = operatorOf(graph, 'ConvInteger', 10)
    const [x, w] = ['x', 'w'].map(label => codesOf(callOf(match, label)))
    const inputs = {
      ...{ x: x.codes, xScale: x.scale, xZero: x.zero, w: w.codes, wScale: w.scale, wZero: w.zero },
      bias: biasOf(match)
    }
    const conv = callOf(match, 'conv')
    return op && { call: fusedCall(conv, convIntegerToFloat(op), inputs, conv.known) }
  }
}

const biasOf = (match: Match): ValueId | undefined => operandOf(callOf(match, 'conv'), 'bias')
const madeBy = (match: Match): ValueId | undefined => callOf(match, 'conv').outputs[0]

/** A product of dequantized matrices, the second of which is constant. */
const productPattern: Pattern = {
  name: 'scaled product',
  calls: {
    a: DEQUANTIZED,
    b: DEQUANTIZED,
    product: { ops: ['MatMul'], where: isPlainProduct, reads: { a: 'a', b: 'b' } }
  },
  root: 'product',
  guard(match, graph) {
    const b = codesOf(callOf(match, 'b')).codes
    return graph.constantOf(b) !== undefined && shapeOf(graph, b)?.length === 2 && factors(match, graph) !== undefined
  },
  fuse(match, graph) {
    const op = operatorOf(graph, 'MatMulIntegerToFloat', 1, 'onnx', 'com.microsoft')
    return op && { call: fusedCall(callOf(match, 'product'), op, factors(match, graph)!(), {}) }
  }
}

const factors = (match: Match, graph: PlanGraph) => factorsOf(graph, match, callOf(match, 'product'))

/** Convolutions and products of codes whose results stay floats: exact sums that are scaled and rounded once. */
export const floatPatterns: readonly Pattern[] = [convPattern, productPattern, biasPattern]
