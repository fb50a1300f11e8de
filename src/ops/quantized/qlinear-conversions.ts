import {
  asScalar,
  elementwise,
  joined,
  knownNumbers,
  swappedLast,
  transposed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { add, div, mul, multiplied, ownAttributes, sub, times, withAdded } from '../../op-kit/conversion-parts.ts'
import { reshapedBy, sizesOf } from '../../op-kit/conversion-sizes.ts'
import { perChannel } from '../../op-kit/conversion-windows.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  type Made,
  opNamed,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'
import { qlinearConv } from './conv-integer.ts'
import { qlinearOps } from './qlinear.ts'
import { qlinearActivationOps, qlinearConcat, qlinearWhere } from './recoded.ts'
import { dynamicQuantizeMatmul, matmulIntegerToFloat, qgemm } from './scaled-products.ts'

/** One number, or a list of one for each column. */
const isOne = (parameter: Made): boolean => rankOf(parameter) === 0 || dimsOf(parameter)[0] === 1

/** What codes stand for, in float32. A list of scales is along `axis`. */
export function dequantized(w: Writer, codes: Made, scale: Made, zero: Made | undefined, axis = 0): Made {
  const single = isOne(scale) && (zero === undefined || isOne(zero))
  const wide = w.cast(scale, 'float32')
  if (single) return w.standard('DequantizeLinear', [codes, asScalar(w, wide), zero && asScalar(w, zero)])[0]
  if (!isOne(scale) && (zero === undefined || !isOne(zero)))
    return w.standard('DequantizeLinear', [codes, wide, zero], { axis })[0]
  const placed = (parameter: Made): Made =>
    isOne(parameter)
      ? asScalar(w, parameter)
      : w.reshape(parameter, [-1, ...upTo(rankOf(codes) - normalizeAxis(axis, rankOf(codes)) - 1).map(() => 1)])
  const numbers = w.cast(codes, 'float32')
  const centered = zero ? sub(w, numbers, w.cast(placed(zero), 'float32')) : numbers
  return mul(w, centered, placed(wide))
}

/** Codes of numbers: `saturate(round(x / scale) + zero)`, ties to even. */
const quantized = (w: Writer, x: Made, scale: Made, zero: Made | undefined, type: DType): Made =>
  w.standard('QuantizeLinear', [
    w.cast(x, 'float32'),
    asScalar(w, w.cast(scale, 'float32')),
    zero ? asScalar(w, zero) : w.scalar(type, 0)
  ])[0]

const given = (call: SourceCall, w: Writer, name: string, axis?: number): Made =>
  dequantized(w, call.operand(name), call.operand(`${name}Scale`), call.optional(`${name}Zero`), axis)

/** An operator on what codes stand for; the result is quantized to the type of the first operand. */
const onCodes =
  (names: readonly string[], result: string, compute: (call: SourceCall, w: Writer, values: readonly Made[]) => Made) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const y = compute(
      call,
      w,
      names.map(name => given(call, w, name))
    )
    const type = typeOf(call.operand(names[0]))
    return [quantized(w, y, call.operand(`${result}Scale`), call.optional(`${result}Zero`), type)]
  }

/** Computes on data whose channels may come last with the channels as dim 1. */
function inChannelsFirst(call: SourceCall, w: Writer, x: Made, compute: (x: Made) => Made): Made {
  if (!call.param<boolean>('channelsLast')) return compute(x)
  const rank = rankOf(x)
  const y = compute(transposed(w, x, [0, rank - 1, ...upTo(rank - 2, 1)]))
  return transposed(w, y, [0, ...upTo(rank - 2, 2), 1])
}

const POOL = ['kernel_shape', 'strides', 'pads', 'auto_pad', 'ceil_mode', 'count_include_pad'] as const
const CONV = ['kernel_shape', 'strides', 'pads', 'auto_pad', 'dilations', 'group'] as const

const averagePool = (call: SourceCall, w: Writer, [x]: readonly Made[]): Made =>
  inChannelsFirst(call, w, x, data => w.standard('AveragePool', [data], ownAttributes(call, POOL))[0])

const globalMean = (call: SourceCall, w: Writer, [x]: readonly Made[]): Made =>
  inChannelsFirst(call, w, x, data => w.standard('GlobalAveragePool', [data])[0])

function reduceMean(call: SourceCall, w: Writer, [x]: readonly Made[]): Made {
  const axes = call.param<readonly number[] | undefined>('axes')
  const list = axes === undefined || axes.length === 0 ? upTo(rankOf(x)) : axes
  return w.standard('ReduceMean', [x, w.constant('int64', list)], { keepdims: call.param<boolean>('keepDims') })[0]
}

/** Softmax along an axis, or over it and all after it. */
function softmax(call: SourceCall, w: Writer, x: Made): Made {
  const axis = normalizeAxis(call.param('axis'), rankOf(x))
  if (!call.param<boolean>('flattens') || axis === rankOf(x) - 1) return w.standard('Softmax', [x], { axis })[0]
  const flat = w.standard('Flatten', [x], { axis })[0]
  return reshapedBy(w, w.standard('Softmax', [flat], { axis: 1 })[0], sizesOf(w, x))
}

/** ONNX Runtime multiplies by the reciprocal of the scale rounded down. */
function softmaxOfCodes(call: SourceCall, w: Writer): readonly Made[] {
  const y = softmax(call, w, given(call, w, 'x'))
  const scale = asScalar(w, w.cast(call.operand('resultScale'), 'float32'))
  const known = knownNumbers(scale)
  const one = w.scalar('float32', 1)
  const divisor = known
    ? w.scalar('float32', 1 / Math.floor(Math.fround(1 / known[0])))
    : div(w, one, elementwise(w, 'Floor', div(w, one, scale)))
  return [quantized(w, y, divisor, call.optional('resultZero'), typeOf(call.operand('x')))]
}

function concatOfCodes(call: SourceCall, w: Writer): readonly Made[] {
  const parts = call.all('parts')
  const [scale, zero] = [call.operand('yScale'), call.operand('yZero')]
  const recoded = upTo(parts.length / 3).map(i => {
    const [codes, own, ownZero] = parts.slice(3 * i, 3 * i + 3)
    return quantized(w, dequantized(w, codes, own, ownZero), scale, zero, typeOf(zero))
  })
  return [joined(w, recoded, normalizeAxis(call.param('axis'), rankOf(parts[0])))]
}

function whereOfCodes(call: SourceCall, w: Writer): readonly Made[] {
  const [scale, zero] = [call.operand('zScale'), call.operand('zZero')]
  const [x, y] = ['x', 'y'].map(name => quantized(w, given(call, w, name), scale, zero, typeOf(zero)))
  return [elementwise(w, 'Where', call.operand('condition'), x, y)]
}

/** `alpha * (A B + C)`, where C counts in units of the product of the scales. */
function gemmOfCodes(call: SourceCall, w: Writer): readonly Made[] {
  const [transposesA, transposesB] = [call.param<boolean>('transposeA'), call.param<boolean>('transposeB')]
  const a = given(call, w, 'a')
  const b = given(call, w, 'b', transposesB ? 0 : 1)
  const product = multiplied(w, transposesA ? swappedLast(w, a) : a, b, transposesB)
  const c = call.optional('c')
  const [aScale, bScale] = ['aScale', 'bScale'].map(name => w.cast(call.operand(name), 'float32'))
  const summand =
    c && mul(w, w.cast(c, 'float32'), mul(w, asScalar(w, aScale), isOne(bScale) ? asScalar(w, bScale) : bScale))
  const y = times(w, withAdded(w, product, summand), call.param('alpha'))
  const [scale, zero] = [call.optional('yScale'), call.optional('yZero')]
  if (zero) return [quantized(w, y, scale ?? w.scalar('float32', 1), zero, typeOf(zero))]
  return [scale ? div(w, y, asScalar(w, w.cast(scale, 'float32'))) : y]
}

/** A convolution of numbers; the bias counts in units of the product of the scales. */
function convOfCodes(call: SourceCall, w: Writer): readonly Made[] {
  const y = inChannelsFirst(call, w, given(call, w, 'x'), x => {
    const [sums] = w.standard('Conv', [x, given(call, w, 'w', 0)], ownAttributes(call, CONV))
    const bias = call.optional('bias')
    if (bias === undefined) return sums
    const unit = mul(w, asScalar(w, call.operand('xScale')), call.operand('wScale'))
    return add(w, sums, perChannel(w, mul(w, w.cast(bias, 'float32'), unit), sums))
  })
  const zero = call.operand('yZero')
  return [quantized(w, y, call.operand('yScale'), zero, typeOf(zero))]
}

/** Codes by the range of the data, or codes that are given, times codes with scales of columns. */
function scaledProduct(call: SourceCall, w: Writer): readonly Made[] {
  const a = call.operand('a')
  const b = given(call, w, 'b', rankOf(call.operand('b')) - 1)
  const finish = (product: Made, type: DType) => [w.cast(withAdded(w, product, call.optional('bias')), type)]
  if (call.op === dynamicQuantizeMatmul) return finish(multiplied(w, dynamically(w, a), b), typeOf(a))
  const scale = call.operand('aScale')
  if (isOne(scale)) return finish(multiplied(w, given(call, w, 'a'), b), typeOf(scale))
  // What is a list belongs to the columns of the product.
  const numbers = dequantized(w, a, w.scalar('float32', 1), call.optional('aZero'))
  return finish(mul(w, multiplied(w, numbers, b), w.cast(scale, 'float32')), typeOf(scale))
}

/** Numbers rounded to the 256 steps of their range, as DynamicQuantizeLinear does. */
export function dynamically(w: Writer, x: Made): Made {
  const [codes, scale, zero] = w.standard('DynamicQuantizeLinear', [w.cast(x, 'float32')], {}, 3)
  return dequantized(w, codes, scale, zero)
}

const form = (name: string) => opNamed(qlinearOps, name)

/** Quantized operators of com.microsoft between DequantizeLinear and QuantizeLinear. */
export const qlinearRules: readonly Conversion[] = [
  ...expands(
    form('QLinearAdd'),
    onCodes(['a', 'b'], 'result', (_, w, [a, b]) => add(w, a, b))
  ),
  ...expands(
    form('QLinearMul'),
    onCodes(['a', 'b'], 'result', (_, w, [a, b]) => mul(w, a, b))
  ),
  ...expands(form('QLinearAveragePool'), onCodes(['x'], 'result', averagePool)),
  ...expands(form('QLinearGlobalAveragePool'), onCodes(['x'], 'result', globalMean)),
  ...expands(form('QLinearReduceMean'), onCodes(['data'], 'result', reduceMean)),
  ...expands(form('QLinearSoftmax'), softmaxOfCodes),
  ...expands(
    opNamed(qlinearActivationOps, 'QLinearSigmoid'),
    onCodes(['x'], 'y', (_, w, [x]) => elementwise(w, 'Sigmoid', x))
  ),
  ...expands(
    opNamed(qlinearActivationOps, 'QLinearLeakyRelu'),
    onCodes(['x'], 'y', (call, w, [x]) => w.standard('LeakyRelu', [x], { alpha: Number(call.attribute('alpha')) })[0])
  ),
  ...expands(qlinearConcat, concatOfCodes),
  ...expands(qlinearWhere, whereOfCodes),
  ...expands(qlinearConv, convOfCodes),
  ...expands(qgemm, gemmOfCodes),
  ...expands(dynamicQuantizeMatmul, scaledProduct),
  ...expands(matmulIntegerToFloat, scaledProduct)
]
