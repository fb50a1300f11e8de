import type { Broadcast } from '../../op-kit/broadcast.ts'
import { elementwise, extreme, knownNumbers, reshapedTo } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { blockRules } from './block-conversions.ts'
import { expertRules } from './expert-conversions.ts'
import { fakeConvert, fakeQuantize, limitDims } from './fake-quantize.ts'
import { quantizedLstmRules } from './lstm-conversion.ts'
import { quantizedToOpenvino } from './openvino-conversions.ts'
import { quantizedLeniencies } from './opset-conversions.ts'
import { qlinearRules } from './qlinear-conversions.ts'
import { quantizedAttentionRules } from './quantized-attention-conversions.ts'

const LIMITS = ['inputLow', 'inputHigh', 'outputLow', 'outputHigh']

/** The limits with dims that NumPy's rules broadcast. */
function limitsOf(call: SourceCall, w: Writer): Made[] {
  const broadcast = call.param<Broadcast>('broadcast')
  const rank = rankOf(call.operand('x'))
  return LIMITS.map(name => {
    const limit = call.operand(name)
    if (broadcast.mode !== 'aligned' && rankOf(limit) <= rank) return limit
    return reshapedTo(w, limit, limitDims(rank, dimsOf(limit), broadcast))
  })
}

/** The nearest level of the input range, mapped to the output range, in OpenVINO's order of operations. */
function fakeQuantizeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const type = typeOf(call.operand('x'))
  const own = wideType(type)
  const limits = limitsOf(call, w)
  const codes = byCodes(call, w, limits)
  if (codes) return [codes]
  const [x, low, high, outLow, outHigh] = [call.operand('x'), ...limits].map(value => w.cast(value, own))
  const steps = w.scalar(own, call.param<number>('levels') - 1)
  const part = div(w, sub(w, x, low), sub(w, high, low))
  const level = w.node('Round', [mul(w, part, steps)])
  const range = sub(w, outHigh, outLow)
  const value = add(w, mul(w, div(w, level, steps), range), outLow)
  const isAbove = elementwise(w, 'Greater', x, extreme(w, 'Max', low, high))
  const isBelow = elementwise(w, 'LessOrEqual', x, extreme(w, 'Min', low, high))
  const inside = elementwise(w, 'Where', isAbove, outHigh, value)
  return [w.cast(elementwise(w, 'Where', isBelow, outLow, inside), type)]
}

/** Types of as many codes as levels, the one whose codes start at 0 first. */
const CODES: Readonly<Record<number, readonly [DType, DType]>> = {
  256: ['uint8', 'int8'],
  65536: ['uint16', 'int16']
}

/**
 * QuantizeLinear and DequantizeLinear, where the levels are the codes of a type: the ranges are the same, known and
 * contain a whole zero point, for all or along one axis.
 */
function byCodes(call: SourceCall, w: Writer, [low, high, outLow, outHigh]: readonly Made[]): Made | undefined {
  const x = call.operand('x')
  const levels = call.param<number>('levels')
  const types = CODES[levels] as readonly DType[] | undefined
  const [lows, highs] = [knownNumbers(low), knownNumbers(high)]
  const isSame = isEqual(lows, knownNumbers(outLow)) && isEqual(highs, knownNumbers(outHigh))
  if (types === undefined || typeOf(x) !== 'float32' || !isSame || !lows || !highs || lows.length !== highs.length)
    return undefined
  if (levels > 256 && w.opset < 21) return undefined
  const axis = axisOf(low, high, rankOf(x))
  if (axis === undefined) return undefined
  const scales = lows.map((from, i) => Math.fround((highs[i] - from) / (levels - 1)))
  const zeros = lows.map((from, i) => -from / scales[i])
  const isWhole = zeros.every(
    zero => Math.abs(zero - Math.round(zero)) < (1e-4 * levels) / 256 && zero >= 0 && zero <= levels - 1
  )
  if (scales.some(scale => !(scale > 0)) || !isWhole) return undefined
  const isSigned = zeros.every(zero => Math.round(zero) === levels / 2)
  const dims = axis === 'all' ? [] : [scales.length]
  const scale = w.constant('float32', scales, dims)
  const zero = w.constant(
    types[isSigned ? 1 : 0],
    zeros.map(at => (isSigned ? 0 : Math.round(at))),
    dims
  )
  const attributes = axis === 'all' ? {} : { axis }
  return w.node('DequantizeLinear', [w.node('QuantizeLinear', [x, scale, zero], attributes), scale, zero], attributes)
}

const isEqual = (a: readonly number[] | undefined, b: readonly number[] | undefined): boolean =>
  a !== undefined && a.length === b?.length && a.every((value, i) => value === b[i])

/** The axis of the data along which the limits differ. */
function axisOf(low: Made, high: Made, rank: number): number | 'all' | undefined {
  const [dims, others] = [dimsOf(low), dimsOf(high)]
  if (dims.join() !== others.join() || dims.length > rank) return undefined
  const wideAxes = dims.flatMap((dim, i) => (dim === 1 ? [] : i + rank - dims.length))
  return wideAxes.length === 0 ? 'all' : wideAxes.length === 1 ? wideAxes[0] : undefined
}

/** Floats of 8 bits and back, by casts that saturate. */
function fakeConvertToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const [scale, shift] = [w.cast(call.operand('scale'), 'float32'), call.optional('shift')]
  const offset = shift && w.cast(shift, 'float32')
  const scaled = mul(w, w.cast(x, 'float32'), scale)
  const shifted = offset ? sub(w, scaled, offset) : scaled
  const narrow = w.node('Cast', [shifted], { to: { dtype: call.param<DType>('to') }, saturate: true })
  const back = w.cast(narrow, 'float32')
  const unshifted = offset ? add(w, back, offset) : back
  return [w.cast(div(w, unshifted, scale), typeOf(x))]
}

/** Quantization of one dialect in words of the other. */
export const quantizedConversions: Conversions = {
  rules: [
    toOnnx(fakeQuantize, fakeQuantizeToOnnx),
    toOnnx(fakeConvert, fakeConvertToOnnx),
    ...quantizedToOpenvino,
    ...blockRules,
    ...qlinearRules,
    ...quantizedAttentionRules,
    ...expertRules,
    ...quantizedLstmRules
  ],
  leniencies: quantizedLeniencies
}
