import { fail } from '../../errors.ts'
import { elementwise, extreme, reduced, staticDims, upTo, zeroOf } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import { groupedWeights, openvinoWindowAttributes, windowsOf } from '../../op-kit/conversion-windows.ts'
import {
  type Conversion,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOpenvino,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { type DType, DTYPES, isInteger } from '../../tensor/dtype.ts'
import { matmulInteger } from '../matrix/matmul.ts'
import { convInteger } from './conv-integer.ts'
import { qlinearMatmul } from './qlinear-matmul.ts'
import { dequantizeLinear, dynamicQuantizeLinear, quantizeLinear } from './quantize-linear.ts'

/** A scale or a zero point in the dims by which it is broadcast: one, or a list along an axis of `rank`. */
function along(w: Writer, parameter: Made, axis: number, rank: number): Made {
  if (rankOf(parameter) === 0) return parameter
  if (dimsOf(parameter)[0] === 1) return w.reshape(parameter, [])
  return w.reshape(parameter, [-1, ...upTo(rank - axis - 1).map(() => 1)])
}

/** `(codes - zero) * scale` in float32. */
function numbersOf(w: Writer, codes: Made, scale: Made, zero: Made | undefined): Made {
  const wide = w.cast(codes, 'float32')
  return mul(w, zero ? sub(w, wide, w.cast(zero, 'float32')) : wide, w.cast(scale, 'float32'))
}

/** `saturate(round(x / scale) + zero)`, ties to even. */
function codesOf(w: Writer, x: Made, scale: Made, zero: Made | undefined, type: DType): Made {
  if (!isInteger(type)) fail('unsupported-op', `IR has no operator that quantizes to ${type}`)
  const { kind, bits } = DTYPES[type]
  const low = kind === 'int' ? -(2 ** (bits - 1)) : 0
  const quotient = div(w, w.cast(x, 'float32'), w.cast(scale, 'float32'))
  const rounded = w.node('Round', [quotient], { mode: 'half_to_even' })
  const shifted = zero ? add(w, rounded, w.cast(zero, 'float32')) : rounded
  return w.cast(w.node('Clamp', [shifted], { min: low, max: low + 2 ** bits - 1 }), type)
}

/** Data whose blocks along an axis have an axis of their own, where each block has a scale. */
function inBlocks(
  call: SourceCall,
  w: Writer,
  x: Made
): { parts: Made; dims: readonly number[]; spread(p: Made): Made } {
  const dims = staticDims(x, 'the data')
  const axis = normalizeAxis(call.param('axis'), dims.length)
  const size = call.param<number>('blockSize')
  if (dims[axis] % size !== 0) fail('unsupported-op', 'the last block is smaller than the others')
  const split = (middle: readonly number[]): number[] => [...dims.slice(0, axis), ...middle, ...dims.slice(axis + 1)]
  const blocks = dims[axis] / size
  return { parts: w.reshape(x, split([blocks, size])), dims, spread: one => w.reshape(one, split([blocks, 1])) }
}

function parametersAt(call: SourceCall, w: Writer, x: Made): { scale: Made; zero: Made | undefined } {
  const [scale, zero] = [call.operand('scale'), call.optional('zero')]
  const axis = call.param<number | undefined>('axis')
  // A single scale holds for the whole tensor, so the axis that the node names does not matter.
  const isOne = axis === undefined || rankOf(scale) === 0 || dimsOf(scale)[0] === 1
  const at = isOne ? 0 : normalizeAxis(axis, rankOf(x))
  return { scale: along(w, scale, at, rankOf(x)), zero: zero && along(w, zero, at, rankOf(x)) }
}

const isBlocked = (call: SourceCall): boolean =>
  call.param<number>('blockSize') > 0 && rankOf(call.operand('scale')) > 1

function dequantizeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = resultType(call)
  if (!isBlocked(call)) {
    const { scale, zero } = parametersAt(call, w, x)
    return [w.cast(numbersOf(w, x, scale, zero), type)]
  }
  const { parts, dims, spread } = inBlocks(call, w, x)
  const zero = call.optional('zero')
  const y = numbersOf(w, parts, spread(call.operand('scale')), zero && spread(zero))
  return [w.cast(w.reshape(y, dims), type)]
}

const resultType = ({ results: [fact] }: SourceCall): DType =>
  (fact.kind === 'tensor' && fact.type) || fail('unsupported-op', 'the type of the result is not known')

function quantizeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = resultType(call)
  if (!isBlocked(call)) {
    const { scale, zero } = parametersAt(call, w, x)
    return [codesOf(w, x, scale, zero, type)]
  }
  const { parts, dims, spread } = inBlocks(call, w, x)
  const zero = call.optional('zero')
  return [w.reshape(codesOf(w, parts, spread(call.operand('scale')), zero && spread(zero), type), dims)]
}

/** Codes of uint8, with scale and zero point from the range of the data, extended to include 0. */
function dynamicallyQuantized(w: Writer, x: Made): { codes: Made; scale: Made; zero: Made } {
  const axes = upTo(rankOf(x))
  const none = zeroOf(w, 'float32')
  const high = extreme(w, 'Max', reduced(w, 'ReduceMax', x, axes, false), none)
  const low = extreme(w, 'Min', reduced(w, 'ReduceMin', x, axes, false), none)
  const range = div(w, sub(w, high, low), w.scalar('float32', 255))
  const scale = elementwise(w, 'Where', elementwise(w, 'Equal', range, none), w.scalar('float32', 1 / 255), range)
  const zero = codesOf(w, elementwise(w, 'Neg', low), scale, undefined, 'uint8')
  return { codes: codesOf(w, x, scale, zero, 'uint8'), scale, zero }
}

function dynamicQuantizeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const { codes, scale, zero } = dynamicallyQuantized(w, call.operand('x'))
  return [codes, scale, zero].slice(0, call.outputCount)
}

/** The number of an operand, with its scale and zero point named after it; lists are of rows of `a` or columns. */
function factor(call: SourceCall, w: Writer, name: 'a' | 'b'): Made {
  const codes = call.operand(name)
  const rank = rankOf(codes)
  const placed = (parameter: Made | undefined): Made | undefined =>
    parameter && (rankOf(parameter) > 1 ? parameter : along(w, parameter, name === 'a' ? rank - 2 : rank - 1, rank))
  const own = placed(call.optional(`${name}Scale`))
  const zero = placed(call.optional(`${name}Zero`))
  return numbersOf(w, codes, own ?? w.scalar('float32', 1), zero)
}

const product = (w: Writer, a: Made, b: Made): Made =>
  w.node('MatMul', [a, b], { transpose_a: false, transpose_b: false })

/** Sums of products of codes: exact in float32 below 2^24. */
function integerProductToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  return [w.cast(product(w, factor(call, w, 'a'), factor(call, w, 'b')), 'int32')]
}

function quantizedProductToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const y = product(w, factor(call, w, 'a'), factor(call, w, 'b'))
  const rank = rankOf(y)
  const [scale, zero] = ['yScale', 'yZero'].map(name => along(w, call.operand(name), Math.max(0, rank - 2), rank))
  return [codesOf(w, y, scale, zero, resultType(call))]
}

/** The convolution of numbers; weights of groups get an axis for these. */
function convolved(call: SourceCall, w: Writer, x: Made, weights: Made): Made {
  const rank = rankOf(x) - 2
  const group = call.param<number>('group')
  const attributes = openvinoWindowAttributes(windowsOf(call, rank))
  return group === 1
    ? w.node('Convolution', [x, weights], attributes)
    : w.node('GroupConvolution', [x, groupedWeights(w, weights, group)], attributes)
}

function weightsOf(call: SourceCall, w: Writer): Made {
  const weights = call.operand('w')
  const rank = rankOf(weights)
  const each = (name: string): Made | undefined => {
    const parameter = call.optional(name)
    return parameter && along(w, parameter, 0, rank)
  }
  return numbersOf(w, weights, each('wScale') ?? w.scalar('float32', 1), each('wZero'))
}

const single = (w: Writer, parameter: Made | undefined): Made | undefined => parameter && w.reshape(parameter, [])

function convIntegerToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = numbersOf(w, call.operand('x'), w.scalar('float32', 1), single(w, call.optional('xZero')))
  return [w.cast(convolved(call, w, x, weightsOf(call, w)), 'int32')]
}

/** Quantized operators of ONNX in IR: what their codes stand for is computed with in float32. */
export const quantizedToOpenvino: readonly Conversion[] = [
  toOpenvino(quantizeLinear, quantizeToOpenvino),
  toOpenvino(dequantizeLinear, dequantizeToOpenvino),
  toOpenvino(dynamicQuantizeLinear, dynamicQuantizeToOpenvino),
  toOpenvino(matmulInteger, integerProductToOpenvino),
  toOpenvino(qlinearMatmul, quantizedProductToOpenvino),
  toOpenvino(convInteger, convIntegerToOpenvino)
]
