import { fail } from '../../errors.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { workTensorOf } from '../../kernels/core/numbers.ts'
import { MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { matmul as multiply } from '../../kernels/matrix/matmul.ts'
import { integerProduct } from '../../kernels/quantized/integer-product.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, is } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { broadcastShapes, type Dim, mayMatch, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface Params {
  alpha: number
  transposeA: boolean
  transposeB: boolean
  /** Whether dim 0 of a factor is moved to the place before its last one, before it is transposed. */
  movesA: boolean
  movesB: boolean
}

const plain = { alpha: is(1), movesA: is(false), movesB: is(false) }
const scaled = { alpha: float('alpha'), transposeA: flag('transA'), transposeB: flag('transB') }

/** Rules of {@link matmul}. */
export const matmulRules = defineRules({
  name: 'MatMul',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...plain, transposeA: is(false), transposeB: is(false) } },
    {
      type: 'FusedMatMul',
      domain: 'com.microsoft',
      since: 1,
      bind: { ...scaled, movesA: flag('transBatchA'), movesB: flag('transBatchB') }
    },
    { type: 'TransposeMatMul', domain: 'com.microsoft', since: 1, bind: { ...plain, ...scaled } },
    { type: 'SparseToDenseMatMul', domain: 'com.microsoft', since: 1, bind: { ...plain, ...scaled } }
  ],
  openvino: [
    {
      since: 1,
      types: { a: NUMERIC, b: NUMERIC },
      bind: { ...plain, transposeA: flag('transpose_a'), transposeB: flag('transpose_b') }
    }
  ],
  shape: ({ a, b }, { transposeA, transposeB, movesA, movesB }) => [
    tensorFact(
      commonType({ a, b }),
      productShape(moved(a.shape, movesA), moved(b.shape, movesB), transposeA, transposeB)
    )
  ]
})

/**
 * Product of matrices, or of batches of matrices, by the rules of NumPy's `matmul`; IR may transpose the factors first,
 * and the products that ONNX Runtime fuses are scaled, too. ONNX MatMul-1, -9, -13; FusedMatMul-1,
 * TransposeMatMul-1 and SparseToDenseMatMul-1 (whose first factor is dense here, with its zeros) of com.microsoft;
 * OpenVINO MatMul-1.
 */
export const matmul = /* @__PURE__ */ withKernel(matmulRules, {
  *run({ a, b }, { alpha, transposeA, transposeB, movesA, movesB }, call) {
    const out = call.output()
    const { work, finish } = workTensorOf(out)
    yield* multiply(a, b, work, { a: transposeA, b: transposeB, movesA, movesB })
    if (alpha !== 1) yield* binary(MULTIPLY, work, new Tensor(work.type, [alpha], []), work)
    yield* finish()
  }
})

/** Dim 0 before the last one, where there are more than two. */
const moved = (shape: readonly Dim[] | undefined, moves: boolean): readonly Dim[] | undefined =>
  shape && moves && shape.length > 2 ? [...shape.slice(1, -1), shape[0], shape[shape.length - 1]] : shape

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

/** Rules of {@link matmulInteger}. */
export const matmulIntegerRules = defineRules({
  name: 'MatMulInteger',
  operands: { a: 'tensor', b: 'tensor', aZero: 'optional', bZero: 'optional' },
  onnx: [
    { since: 10, bind: {} },
    { type: 'MatMulInteger16', domain: 'com.microsoft', since: 1, in: { a: 0, b: 1 }, bind: {} }
  ],

  shape({ a, b, aZero, bZero }) {
    checkZeroPoint(a.shape, aZero && rowsOf(aZero))
    checkZeroPoint(b.shape, bZero?.shape)
    return [tensorFact('int32', productShape(a.shape, b.shape))]
  }
})

/**
 * Product of matrices of 8-bit integers as int32. Zero points are subtracted first: one for the whole factor, for each
 * row of `a` or for each column of `b`. ONNX MatMulInteger-10. MatMulInteger16-1 of com.microsoft is the same for 16
 * bits, without zero points; sums wrap, and are int32 also where both factors are unsigned, as ONNX Runtime infers.
 */
export const matmulInteger = /* @__PURE__ */ withKernel(matmulIntegerRules, {
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
