import { fail } from '../../errors.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { DIVIDE, MULTIPLY } from '../../kernels/elementwise/binary.ts'
import type { WeightParams } from '../../op-kit/conv-shape.ts'
import { convPlan } from '../../op-kit/conv-shape.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int, ints, optional } from '../../op-kit/sources.ts'
import { onnxWindows } from '../../op-kit/window-sources.ts'
import { type Dim, mayMatch, printDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { WindowParams } from '../../shapes/window.ts'
import { convert } from '../../tensor/convert.ts'
import { allocate, type Tensor, withDims } from '../../tensor/tensor.ts'
import { convolvedShape } from '../conv/conv.ts'
import { centred } from '../matrix/matmul.ts'
import { store } from './quantize-linear.ts'

interface Params extends WindowParams, WeightParams {}

const bind = { ...onnxWindows, group: int('group'), kernelShape: optional(ints('kernel_shape')) }

/**
 * Convolution of 8-bit integers in int32, which wraps. Zero points are subtracted first, so padding has the value of
 * the zero point.
 */
export const convInteger = defineOp({
  name: 'ConvInteger',
  operands: { x: 'tensor', w: 'tensor', xZero: 'optional', wZero: 'optional' },
  params: params<Params>(),
  onnx: [{ since: 10, bind }],

  shape({ x, w, xZero, wZero }, p) {
    checkOne('x_zero_point', xZero)
    checkEach('w_zero_point', wZero, w)
    return [tensorFact('int32', convolvedShape(x, w, undefined, p))]
  },

  *run({ x, w, xZero, wZero }, p, call) {
    const out = call.output()
    const weights = yield* centred(w, wZero && along(wZero, w.dims.length))
    yield* convolve(yield* centred(x, xZero), weights, undefined, out, convPlan(x.dims, w.dims, out.dims, p))
  }
})

/**
 * Convolution of quantized numbers. Exact sums, with the bias in units of `xScale * wScale`, are scaled in double
 * precision, rounded to the nearest (ties to even) and saturated.
 */
export const qlinearConv = defineOp({
  name: 'QLinearConv',
  operands: {
    x: 'tensor',
    xScale: 'tensor',
    xZero: 'tensor',
    w: 'tensor',
    wScale: 'tensor',
    wZero: 'tensor',
    yScale: 'tensor',
    yZero: 'tensor',
    bias: 'optional'
  },
  params: params<Params>(),
  onnx: [{ since: 10, bind }],

  shape({ x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias }, p) {
    const numbers = { x_scale: xScale, x_zero_point: xZero, y_scale: yScale, y_zero_point: yZero }
    for (const [name, fact] of Object.entries(numbers)) checkOne(name, fact)
    checkEach('w_scale', wScale, w)
    checkEach('w_zero_point', wZero, w)
    return [tensorFact(yZero.type, convolvedShape(x, w, bias, p))]
  },

  *run({ x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias }, p, call) {
    const out = call.output()
    const sums = allocate('float64', out.dims)
    const weights = yield* centred(w, along(wZero, w.dims.length))
    yield* convolve(yield* centred(x, xZero), weights, bias, sums, convPlan(x.dims, w.dims, out.dims, p))
    const doubles = (list: Tensor): Tensor<'float64'> => convert(along(list, x.dims.length - 1), 'float64')
    yield* binary(MULTIPLY, sums, doubles(xScale), sums)
    yield* binary(MULTIPLY, sums, doubles(wScale), sums)
    yield* binary(DIVIDE, sums, doubles(yScale), sums)
    yield* store(sums, doubles(yZero), out, true)
  }
})

function checkOne(name: string, fact: TensorFact | undefined): void {
  if (fact?.shape?.some(dim => !mayMatch(dim, 1)) || (fact?.shape?.length ?? 0) > 1) {
    fail('rank-mismatch', `${name} is not one number; a scalar is expected`)
  }
}

/** Checks a parameter with one number for all, or one for each output channel. */
function checkEach(name: string, fact: TensorFact | undefined, { shape }: TensorFact): void {
  const own = fact?.shape
  if (own === undefined || own.length === 0) return
  const channels: Dim | undefined = shape?.[0]
  if (own.length > 1) fail('rank-mismatch', `${name} has rank ${own.length}; a scalar or a list is expected`)
  if (!mayMatch(own[0], 1) && channels !== undefined && !mayMatch(own[0], channels)) {
    fail('dims-mismatch', `${name} has ${printDim(own[0])} elements; the weights have ${printDim(channels)} channels`)
  }
}

/** Reshapes a list to `axes` dims, so that it is broadcast along the first of them. */
const along = (list: Tensor, axes: number): Tensor =>
  withDims(list, list.data.length === 1 ? [] : [list.data.length, ...new Array<number>(axes - 1).fill(1)])
