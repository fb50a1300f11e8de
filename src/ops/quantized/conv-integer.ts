import { fail } from '../../errors.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { ADD, DIVIDE, MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { clampCodes } from '../../kernels/quantized/codes.ts'
import { centred } from '../../kernels/quantized/integer-product.ts'
import { store } from '../../kernels/quantized/store.ts'
import {
  channelsFirst,
  channelsFirstDims,
  channelsFirstFact,
  channelsLastDims,
  type ChannelsParams,
  toChannelsLast
} from '../../op-kit/channels-last.ts'
import { convPlan, type WeightParams } from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { checkEach } from '../../op-kit/quantized.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, is } from '../../op-kit/sources.ts'
import { mayMatch } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { WindowParams } from '../../shapes/window.ts'
import { convert } from '../../tensor/convert.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { allocate, type Tensor, withDims } from '../../tensor/tensor.ts'
import { convBind, convolvedShape } from '../conv/conv.ts'

interface Params extends WindowParams, WeightParams {}

interface QuantizedParams extends Params, ChannelsParams {
  /** Codes between which those of the result are clamped, as an activation that clips does; undefined: all. */
  readonly range: readonly [lowest: number, highest: number] | undefined
}

/** Rules of {@link convInteger}. */
export const convIntegerRules = defineRules({
  name: 'ConvInteger',
  operands: { x: 'tensor', w: 'tensor', xZero: 'optional', wZero: 'optional' },
  params: params<Params>(),
  onnx: [{ since: 10, bind: convBind }],

  shape({ x, w, xZero, wZero }, p) {
    checkOne('x_zero_point', xZero)
    checkEach('w_zero_point', wZero, w.shape?.[0], 'channels')
    return [tensorFact('int32', convolvedShape(x, w, undefined, p))]
  }
})

/**
 * Convolution of 8-bit integers in int32, which wraps. Zero points are subtracted first, so padding has the value of
 * the zero point.
 */
export const convInteger = /* @__PURE__ */ withKernel(convIntegerRules, {
  *run({ x, w, xZero, wZero }, p, call) {
    const out = call.output()
    const weights = yield* centred(w, wZero && along(wZero, w.dims.length))
    yield* convolve(yield* centred(x, xZero), weights, undefined, out, convPlan(x.dims, w.dims, out.dims, p))
  }
})

/** Rules of {@link qlinearConv}. */
export const qlinearConvRules = defineRules({
  name: 'QLinearConv',
  operands: {
    x: 'tensor',
    xScale: 'tensor',
    xZero: 'optional',
    w: 'tensor',
    wScale: 'tensor',
    wZero: 'optional',
    yScale: 'tensor',
    yZero: 'tensor',
    bias: 'optional'
  },
  params: params<QuantizedParams>(),
  onnx: [
    { since: 10, bind: { ...convBind, channelsLast: is(false), range: is(undefined) } },
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { ...convBind, channelsLast: flag('channels_last'), range: is(undefined) }
    }
  ],

  shape({ x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias }, p) {
    const numbers = { x_scale: xScale, x_zero_point: xZero, y_scale: yScale, y_zero_point: yZero }
    for (const [name, fact] of Object.entries(numbers)) checkOne(name, fact)
    checkEach('w_scale', wScale, w.shape?.[0], 'channels')
    checkEach('w_zero_point', wZero, w.shape?.[0], 'channels')
    const shape = convolvedShape(p.channelsLast ? channelsFirstFact(x) : x, w, bias, p)
    return [tensorFact(yZero.type, shape && p.channelsLast ? channelsLastDims(shape) : shape)]
  }
})

/**
 * Convolution of quantized numbers. Exact sums, with the bias in units of `xScale * wScale`, are scaled in double
 * precision, rounded to the nearest (ties to even) and saturated. ONNX QLinearConv-10; in com.microsoft data and result
 * may have their channels last, the weights do not. Planners also make it of a convolution between DequantizeLinear and
 * QuantizeLinear: then the bias may be a float, added to what is scaled.
 */
export const qlinearConv = /* @__PURE__ */ withKernel(qlinearConvRules, {
  *run({ x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias }, p, call) {
    const out = call.output()
    const data = p.channelsLast ? yield* channelsFirst(x) : x
    const result = p.channelsLast ? allocate(out.type, channelsFirstDims(out.dims)) : out
    const sums = allocate('float64', result.dims)
    const weights = yield* centred(w, wZero && along(wZero, w.dims.length))
    const [ofSums, ofNumbers] = bias && isFloat(bias.type) ? [undefined, bias] : [bias, undefined]
    yield* convolve(yield* centred(data, xZero), weights, ofSums, sums, convPlan(data.dims, w.dims, result.dims, p))
    const doubles = (list: Tensor): Tensor<'float64'> => convert(along(list, x.dims.length - 1), 'float64')
    yield* binary(MULTIPLY, sums, doubles(xScale), sums)
    yield* binary(MULTIPLY, sums, doubles(wScale), sums)
    if (ofNumbers) yield* binary(ADD, sums, doubles(ofNumbers), sums)
    yield* binary(DIVIDE, sums, doubles(yScale), sums)
    yield* store(sums, doubles(yZero), result, true)
    if (p.range) yield* clampCodes(result, p.range)
    if (p.channelsLast) yield* toChannelsLast(result, out)
  }
})

function checkOne(name: string, fact: TensorFact | undefined): void {
  if (fact?.shape?.some(dim => !mayMatch(dim, 1)) || (fact?.shape?.length ?? 0) > 1) {
    fail('rank-mismatch', `${name} is not one number; a scalar is expected`)
  }
}

/** Reshapes a list to `axes` dims, so that it is broadcast along the first of them. */
const along = (list: Tensor, axes: number): Tensor =>
  withDims(list, list.data.length === 1 ? [] : [list.data.length, ...new Array<number>(axes - 1).fill(1)])
