import { fail } from '../../errors.ts'
import { matmul as multiply } from '../../kernels/matrix/matmul.ts'
import { integerProduct } from '../../kernels/quantized/integer-product.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { flag, is } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { broadcastShapes, type Dim, mayMatch, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'

interface Params {
  transposeA: boolean
  transposeB: boolean
}

/**
 * Product of matrices, or of batches of matrices, by the rules of NumPy's `matmul`; IR may transpose the factors first.
 * ONNX MatMul-1, -9, -13; OpenVINO MatMul-1.
 */
export const matmul = defineOp({
  name: 'MatMul',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { transposeA: is(false), transposeB: is(false) } }],
  openvino: [
    {
      since: 1,
      types: { a: NUMERIC, b: NUMERIC },
      bind: { transposeA: flag('transpose_a'), transposeB: flag('transpose_b') }
    }
  ],
  shape: ({ a, b }, { transposeA, transposeB }) => [
    tensorFact(commonType({ a, b }), productShape(a.shape, b.shape, transposeA, transposeB))
  ],
  run: ({ a, b }, { transposeA, transposeB }, call) => multiply(a, b, call.output(), { a: transposeA, b: transposeB })
})

/**
 * Shape of a product of matrices; undefined when a rank is unknown.
 * @throws NodewiseError `rank-mismatch` for a scalar, `shape-mismatch`
 */
export function productShape(
  a: readonly Dim[] | undefined,
  b: readonly Dim[] | undefined,
  transposeA = false,
  transposeB = false
): Dim[] | undefined {
  const scalar = a?.length === 0 ? 'first' : b?.length === 0 ? 'second' : undefined
  if (scalar) fail('rank-mismatch', `the ${scalar} factor is a scalar; expected at least rank 1`)
  if (a === undefined || b === undefined) return undefined
  const swap = (shape: readonly Dim[], swaps: boolean): readonly Dim[] =>
    swaps && shape.length > 1 ? [...shape.slice(0, -2), shape[shape.length - 1], shape[shape.length - 2]] : shape
  const left = swap(a, transposeA)
  const right = swap(b, transposeB)
  const inner = right.length === 1 ? right[0] : right[right.length - 2]
  const last = left[left.length - 1]
  if (!mayMatch(last, inner)) {
    const against = `${printDim(last)} columns against ${printDim(inner)} rows`
    fail('shape-mismatch', `shapes ${printShape(left)} and ${printShape(right)} do not multiply: ${against}`)
  }
  const batch = broadcastShapes([left.slice(0, -2), right.slice(0, -2)]) ?? []
  return [...batch, ...left.slice(-2, -1), ...right.slice(-1).slice(0, right.length === 1 ? 0 : 1)]
}

/**
 * Product of matrices of 8-bit integers as int32. Zero points are subtracted first: one for the whole factor, for each
 * row of `a` or for each column of `b`. ONNX MatMulInteger-10.
 */
export const matmulInteger = defineOp({
  name: 'MatMulInteger',
  operands: { a: 'tensor', b: 'tensor', aZero: 'optional', bZero: 'optional' },
  onnx: [{ since: 10, bind: {} }],

  shape({ a, b, aZero, bZero }) {
    checkZeroPoint(a.shape, aZero && rowsOf(aZero))
    checkZeroPoint(b.shape, bZero?.shape)
    return [tensorFact('int32', productShape(a.shape, b.shape))]
  },

  run: ({ a, b, aZero, bZero }, _, call) =>
    integerProduct({ codes: a, zero: aZero }, { codes: b, zero: bZero }, call.output())
})

/** The shape of a zero point of `a`, where a list has one element for each row. */
export const rowsOf = ({ shape }: TensorFact): readonly Dim[] | undefined =>
  shape?.length === 1 ? [...shape, 1] : shape

/**
 * Checks a zero point or a scale: it has a single element, or is broadcast to the factor.
 * @throws NodewiseError `shape-mismatch`
 */
export function checkZeroPoint(shape: readonly Dim[] | undefined, zero: readonly Dim[] | undefined): void {
  const one = zero?.every(dim => dim === 1) ?? true
  if (!one && shape && shape.length > 1) broadcastResult(shape, zero, { mode: 'aligned', axis: -1 })
}
