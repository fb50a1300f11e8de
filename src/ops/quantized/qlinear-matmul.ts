import { fail } from '../../errors.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { DIVIDE, MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { asDoubles, asRows, integerProduct } from '../../kernels/quantized/integer-product.ts'
import { store } from '../../kernels/quantized/store.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { type Dim, mayMatch, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate } from '../../tensor/tensor.ts'
import { checkZeroPoint, productShape, rowsOf } from '../matrix/matmul.ts'

/** Rules of {@link qlinearMatmul}. */
export const qlinearMatmulRules = defineRules({
  name: 'QLinearMatMul',
  operands: {
    a: 'tensor',
    aScale: 'tensor',
    aZero: 'tensor',
    b: 'tensor',
    bScale: 'tensor',
    bZero: 'tensor',
    yScale: 'tensor',
    yZero: 'tensor'
  },
  onnx: [{ since: 10, bind: {} }],

  shape({ a, aScale, aZero, b, bScale, bZero, yScale, yZero }) {
    checkScale(a.shape, rowsOf(aScale), -1)
    checkScale(b.shape, bScale.shape, -2)
    checkZeroPoint(a.shape, rowsOf(aZero))
    checkZeroPoint(b.shape, bZero.shape)
    const shape = productShape(a.shape, b.shape)
    const whole = a.shape?.length === 1 || b.shape?.length === 1
    if (whole) demandOne(aScale)
    // A list times a matrix still has its columns.
    if (b.shape?.length === 1) demandOne(bScale)
    for (const fact of [yScale, yZero]) checkZeroPoint(shape, whole ? demandOne(fact) : rowsOf(fact))
    return [tensorFact(yZero.type, shape)]
  }
})

/**
 * Product of quantized matrices, quantized:
 * `saturate(round((a - a_zero) (b - b_zero) * a_scale * b_scale / y_scale) + y_zero)`, ties to even. Scales and zero
 * points are one for all, or one for each row of `a` (and of the result) or column of `b`. The sum of products and the
 * scaling are computed in double precision. ONNX QLinearMatMul-10, -21 (8-bit floats).
 */
export const qlinearMatmul = /* @__PURE__ */ withKernel(qlinearMatmulRules, {
  *run({ a, aScale, aZero, b, bScale, bZero, yScale, yZero }, _, call) {
    const out = call.output()
    const work = allocate('float64', out.dims)
    yield* integerProduct({ codes: a, zero: aZero }, { codes: b, zero: bZero }, work)
    yield* binary(MULTIPLY, work, asDoubles(asRows(a, aScale)), work)
    yield* binary(MULTIPLY, work, asDoubles(bScale), work)
    yield* binary(DIVIDE, work, asDoubles(asRows(out, yScale)), work)
    yield* store(work, asDoubles(asRows(out, yZero)), out, true)
  }
})

/**
 * Checks a scale of a factor: as {@link checkZeroPoint} does, and that it does not change along the axis that is summed
 * over.
 * @param summed that axis, from the end
 * @throws NodewiseError `shape-mismatch`
 */
export function checkScale(
  factor: readonly Dim[] | undefined,
  scale: readonly Dim[] | undefined,
  summed: -1 | -2
): void {
  checkZeroPoint(factor, scale)
  const along = scale?.at(summed)
  if (along !== undefined && !mayMatch(along, 1))
    fail('shape-mismatch', `a scale has dims ${printShape(scale)}; it cannot change along the axis that is summed over`)
}

/** Checks that there is one scale for all: a factor that is a list has no rows or columns for more. */
export function demandOne({ shape }: TensorFact): readonly Dim[] | undefined {
  if (shape?.some(dim => typeof dim === 'number' && dim !== 1)) {
    fail('shape-mismatch', `a scale has dims ${printShape(shape)}; one for all is expected where a factor is a list`)
  }
  return shape
}
