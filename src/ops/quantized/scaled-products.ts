import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { ADD, DIVIDE } from '../../kernels/elementwise/binary.ts'
import { quantizationOf, requantize } from '../../kernels/quantized/codes.ts'
import { quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import { asDoubles, scaledProduct } from '../../kernels/quantized/integer-product.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { checkBias } from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { checkEach, checkQuantization } from '../../op-kit/quantized.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float } from '../../op-kit/sources.ts'
import type { Dim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { allocate, Tensor } from '../../tensor/tensor.ts'
import { checkZeroPoint, productShape } from '../matrix/matmul.ts'
import { checkScale, demandOne } from './qlinear-matmul.ts'

/** Facts of a product whose second factor may have scales and zero points of its columns, and a bias. */
interface Columns {
  readonly a: TensorFact
  readonly b: TensorFact
  readonly bScale: TensorFact
  readonly bZero: TensorFact | undefined
  readonly bias: TensorFact | undefined
}

function columnsShape({ a, b, bScale, bZero, bias }: Columns): Dim[] | undefined {
  checkScale(b.shape, bScale.shape, -2)
  checkZeroPoint(b.shape, bZero?.shape)
  if (b.shape?.length === 1) for (const fact of [bScale, bZero]) if (fact) demandOne(fact)
  const shape = productShape(a.shape, b.shape)
  if (b.shape) checkBias(bias, b.shape.length === 1 ? 1 : b.shape[b.shape.length - 1], 'columns')
  return shape
}

/** Adds a bias of the columns, and rounds to the type of the result. */
function* finish(numbers: Tensor<'float64'>, bias: Tensor | undefined, out: Tensor): Generator<void> {
  if (bias) yield* binary(ADD, numbers, asDoubles(bias), numbers)
  yield* convertPaced(numbers, out)
}

/** Rules of {@link matmulIntegerToFloat}. */
export const matmulIntegerToFloatRules = defineRules({
  name: 'MatMulIntegerToFloat',
  operands: {
    a: 'tensor',
    b: 'tensor',
    aScale: 'tensor',
    bScale: 'tensor',
    aZero: 'optional',
    bZero: 'optional',
    bias: 'optional'
  },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ a, b, aScale, bScale, aZero, bZero, bias }) {
    checkQuantization('A', undefined, aZero)
    checkEach('the scale of A', aScale, b.shape?.length === 1 ? 1 : b.shape?.at(-1), 'columns')
    return [tensorFact(aScale.type, columnsShape({ a, b, bScale, bZero, bias }))]
  }
})

/**
 * Product of 8-bit matrices as floats: exact sums, times `a_scale * b_scale`, plus a bias of the columns.
 * MatMulIntegerToFloat-1 of com.microsoft. There is one scale of `a` and one of `b`, or one for each column of the
 * result: of `b`, and of `a` too, as ONNX Runtime's optimizer writes them where a model multiplies its scales in the
 * other order.
 */
export const matmulIntegerToFloat = /* @__PURE__ */ withKernel(matmulIntegerToFloatRules, {
  *run({ a, b, aScale, bScale, aZero, bZero, bias }, _, call) {
    const out = call.rawOutput()
    const [left, right] = [
      { codes: a, zero: aZero },
      { codes: b, zero: bZero }
    ]
    yield* finish(yield* scaledProduct(left, right, [aScale, bScale], out.dims), bias, out)
  }
})

/** Rules of {@link dynamicQuantizeMatmul}. */
export const dynamicQuantizeMatmulRules = defineRules({
  name: 'DynamicQuantizeMatMul',
  operands: { a: 'tensor', b: 'tensor', bScale: 'tensor', bZero: 'optional', bias: 'optional' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],
  shape: ({ a, b, bScale, bZero, bias }) => [tensorFact(a.type, columnsShape({ a, b, bScale, bZero, bias }))]
})

/**
 * Product of floats, quantized to uint8 as DynamicQuantizeLinear does, and an 8-bit matrix; else as
 * MatMulIntegerToFloat. DynamicQuantizeMatMul-1 of com.microsoft.
 */
export const dynamicQuantizeMatmul = /* @__PURE__ */ withKernel(dynamicQuantizeMatmulRules, {
  *run({ a, b, bScale, bZero, bias }, _, call) {
    const out = call.rawOutput()
    const codes = allocate('uint8', a.dims)
    const { scale, zero } = yield* quantizeByRange(a, codes)
    const left = { codes, zero: new Tensor('uint8', [zero], []) }
    const scales = [new Tensor('float32', [scale], []), bScale]
    yield* finish(yield* scaledProduct(left, { codes: b, zero: bZero }, scales, out.dims), bias, out)
  }
})

interface GemmParams {
  alpha: number
  transposeA: boolean
  transposeB: boolean
}

/** Rules of {@link qgemm}. */
export const qgemmRules = defineRules({
  name: 'QGemm',
  operands: {
    a: 'tensor',
    aScale: 'tensor',
    aZero: 'tensor',
    b: 'tensor',
    bScale: 'tensor',
    bZero: 'tensor',
    c: 'optional',
    yScale: 'optional',
    yZero: 'optional'
  },
  params: params<GemmParams>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { alpha: float('alpha'), transposeA: flag('transA'), transposeB: flag('transB') }
    }
  ],

  shape({ a, aScale, aZero, b, bScale, bZero, c, yScale, yZero }, { transposeA, transposeB }) {
    checkRank('A', a, 2)
    checkRank('B', b, 2)
    checkQuantization('A', aScale, aZero)
    if (yScale ?? yZero) checkQuantization('Y', yScale, yZero)
    const shape = productShape(a.shape, b.shape, transposeA, transposeB)
    const columns = b.shape?.[transposeB ? 0 : 1]
    checkEach('the scale of B', bScale, columns, 'columns')
    checkEach('the zero point of B', bZero, columns, 'columns')
    return [
      tensorFact(
        yZero?.type ?? 'float32',
        shape && c?.shape ? broadcastResult(shape, c.shape, { mode: 'aligned', axis: -1 }) : shape
      )
    ]
  }
})

/**
 * `alpha * a_scale * b_scale * ((A - a_zero) (B - b_zero) + C)` of 8-bit matrices, transposed where asked: QGemm-1 of
 * com.microsoft. C counts in units of the product of the scales and is broadcast. With a zero point of the result it is
 * quantized; without one it is float, as the text says, and counts in units of the scale of the result where that is
 * given, as in ONNX Runtime. Columns of B may have scales and zero points of their own.
 */
export const qgemm = /* @__PURE__ */ withKernel(qgemmRules, {
  *run({ a, aScale, aZero, b, bScale, bZero, c, yScale, yZero }, p, call) {
    const out = call.rawOutput()
    const one = (value: number): Tensor => new Tensor('float64', [value], [])
    // The planner also makes QGemm of a Gemm between DequantizeLinear and QuantizeLinear: then C may be a float.
    const bias = c && isFloat(c.type) ? c : undefined
    const numbers = yield* scaledProduct(
      { codes: a, zero: aZero },
      { codes: b, zero: bZero },
      [aScale, bScale, one(p.alpha)],
      out.dims,
      { added: bias ? undefined : c, transposes: { a: p.transposeA, b: p.transposeB } }
    )
    if (bias) yield* binary(ADD, numbers, asDoubles(bias), numbers)
    if (yZero) {
      yield* requantize(numbers, quantizationOf(yScale ?? one(1), yZero), out)
      return
    }
    if (yScale) yield* binary(DIVIDE, numbers, asDoubles(yScale), numbers)
    yield* finish(numbers, undefined, out)
  }
})
