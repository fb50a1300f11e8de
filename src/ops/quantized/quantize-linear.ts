import { fail } from '../../errors.ts'
import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { binary, eachInnerLoop, innermost, loopsOf } from '../../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { DIVIDE } from '../../kernels/elementwise/binary.ts'
import { quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import { store } from '../../kernels/quantized/store.ts'
import { params } from '../../op-kit/define.ts'
import { checkGranularity, spreadParameter } from '../../op-kit/granularity.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int, is, mapped } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { convert } from '../../tensor/convert.ts'
import { type DType, dtypeFromOnnx, DTYPES, isFloat, isInteger } from '../../tensor/dtype.ts'
import { allocate } from '../../tensor/tensor.ts'

interface Params {
  /** Axis along which scales lie; undefined: there is one for all. */
  axis: number | undefined
  blockSize: number
  /** Output type, if the attribute gives one. */
  to: DType | undefined
  /** Type of the division; undefined: that of the scale. */
  precision: DType | undefined
  saturates: boolean
}

/** An element type; 0 stands for none. */
const typeOrNone = (name: string) =>
  mapped(int(name), code => {
    if (code === 0) return undefined
    return (
      dtypeFromOnnx(code) ?? fail('unknown-attribute-value', `attribute "${name}" is ${code}, which is no element type`)
    )
  })

const whole = {
  axis: is(undefined),
  blockSize: is(0),
  to: is(undefined),
  precision: is(undefined),
  saturates: is(true)
}
const byAxis = { ...whole, axis: int('axis', 1) }
const byBlock = { ...byAxis, blockSize: int('block_size'), to: typeOrNone('output_dtype'), saturates: flag('saturate') }

/** Rules of {@link quantizeLinear}. */
export const quantizeLinearRules = defineRules({
  name: 'QuantizeLinear',
  operands: { x: 'tensor', scale: 'tensor', zero: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 10, bind: whole },
    { since: 13, bind: byAxis },
    { since: 19, bind: { ...byAxis, saturates: flag('saturate') } },
    { since: 21, bind: byBlock },
    { since: 23, bind: { ...byBlock, precision: typeOrNone('precision') } },
    { domain: 'com.microsoft', since: 1, bind: byAxis }
  ],

  shape({ x, scale, zero }, p) {
    checkGranularity(x.shape, scale.shape, zero?.shape, p)
    if (zero?.type && p.to && zero.type !== p.to)
      fail('type-mismatch', `output_dtype is ${p.to} and the zero point has type ${zero.type}`)
    const to = zero === undefined ? (p.to ?? 'uint8') : zero.type
    if (to !== undefined && !isQuantized(to)) fail('type-not-allowed', `${to} is no type to quantize to`)
    return [tensorFact(to, x.shape)]
  }
})

/**
 * `saturate(round(x / scale) + zero point)`, ties to even; 8-bit and 4-bit floats are rounded as in Cast. There is one
 * scale for all, for each index along an axis (from version 13 on, and in com.microsoft) or for each block along it
 * (from 21 on). The quotient is first rounded to the scale's type, or to `precision`. By its text com.microsoft takes a
 * list of scales only where `axis` is given; without it ONNX Runtime takes axis 1, and so does this.
 */
export const quantizeLinear = /* @__PURE__ */ withKernel(quantizeLinearRules, {
  *run({ x, scale, zero }, p, call) {
    const out = call.output()
    const scaleType = scale.type === 'float8e8m0' ? 'float32' : scale.type
    const quotients = allocate(p.precision ?? scaleType, x.dims)
    const scales = spreadParameter(scale, x.dims, p)
    yield* binary(DIVIDE, yield* convertedPaced(x, 'float64'), convert(scales, 'float64'), quotients)
    const zeros = zero ? spreadParameter(zero, x.dims, p) : undefined
    yield* store(yield* convertedPaced(quotients, 'float64'), zeros && convert(zeros, 'float64'), out, p.saturates)
  }
})

const isQuantized = (type: DType): boolean =>
  (isInteger(type) && DTYPES[type].bits <= 16) || (isFloat(type) && DTYPES[type].bits <= 8)

/** Rules of {@link dequantizeLinear}. */
export const dequantizeLinearRules = defineRules({
  name: 'DequantizeLinear',
  operands: { x: 'tensor', scale: 'tensor', zero: 'optional' },
  params: params<Omit<Params, 'precision' | 'saturates'>>(),
  onnx: [
    { since: 10, bind: { axis: is(undefined), blockSize: is(0), to: is(undefined) } },
    { since: 13, bind: { axis: int('axis'), blockSize: is(0), to: is(undefined) } },
    { since: 21, bind: { axis: int('axis'), blockSize: int('block_size'), to: is(undefined) } },
    { since: 23, bind: { axis: int('axis'), blockSize: int('block_size'), to: typeOrNone('output_dtype') } },
    { domain: 'com.microsoft', since: 1, bind: { axis: int('axis', 1), blockSize: is(0), to: is(undefined) } }
  ],

  shape({ x, scale, zero }, p) {
    checkGranularity(x.shape, scale.shape, zero?.shape, p)
    const to = p.to ?? scale.type
    if (to !== undefined && (!isFloat(to) || DTYPES[to].bits < 16)) {
      fail('type-not-allowed', `${to} is no type to dequantize to; output_dtype can name one`)
    }
    return [tensorFact(to, x.shape)]
  }
})

/**
 * `(x - zero point) * scale`, in the type of the scale or `output_dtype` (float32 before version 19). Granularity as in
 * QuantizeLinear, also in com.microsoft.
 */
export const dequantizeLinear = /* @__PURE__ */ withKernel(dequantizeLinearRules, {
  *run({ x, scale, zero }, p, call) {
    const scales = spreadParameter(scale, x.dims, p)
    const zeros = zero ? spreadParameter(zero, x.dims, p) : allocate(x.type, [])
    const loops = loopsOf(x.dims, [x.dims, scales.dims, zeros.dims])
    const [s, t, v, u] = innermost(loops)
    const [values, factors, points] = [yield* readNumbers(x), yield* readNumbers(scales), yield* readNumbers(zeros)]
    const target = targetOf(call.output())
    yield* eachInnerLoop(loops, ([p0, q0, r0, o0], n) => {
      for (let i = 0, p = p0, q = q0, r = r0, o = o0; i < n; i++, p += s, q += t, r += v, o += u) {
        target.numbers[o] = (values[p] - points[r]) * factors[q]
      }
    })
    yield* target.finish()
  }
})

/** Rules of {@link dynamicQuantizeLinear}. */
export const dynamicQuantizeLinearRules = defineRules({
  name: 'DynamicQuantizeLinear',
  operands: { x: 'tensor' },
  onnx: [{ since: 11, bind: {} }],
  shape: ({ x }) => [tensorFact('uint8', x.shape), tensorFact('float32', []), tensorFact('uint8', [])]
})

/**
 * Quantizes to uint8 with scale and zero point from the range of the data, extended to include 0. Outputs: y, scale,
 * zero point.
 */
export const dynamicQuantizeLinear = /* @__PURE__ */ withKernel(dynamicQuantizeLinearRules, {
  *run({ x }, _, call) {
    const { scale, zero } = yield* quantizeByRange(x, call.output())
    call.output(1).data[0] = scale
    call.output(2).data[0] = zero
  }
})
