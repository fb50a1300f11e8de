import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { broadcastStrides, offsetsOf } from '../core/elementwise.ts'
import { readNumbers, targetOf } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import { type Gemm, gemm, matrix, type Matrix } from './gemm.ts'

/** Which factors are transposed, that is, have their last two dims swapped; a factor of rank 1 has none to swap. */
export interface Transposes {
  readonly a: boolean
  readonly b: boolean
  /** Whether dim 0 of a factor is moved to the place before its last one, before it is transposed. */
  readonly movesA?: boolean
  readonly movesB?: boolean
}

const NONE: Transposes = { a: false, b: false }

/**
 * `out = a b` by NumPy's rules for `matmul`: batch dims are broadcast; a vector is a row on the left and a column on
 * the right. Floats are summed in double precision, float16 and bfloat16 rounded once, integers wrap.
 * @param out zeros, to which the products are added
 */
export function* matmul(a: Tensor, b: Tensor, out: Tensor, transposes = NONE): Generator<void> {
  if (out.data.length === 0) return
  const pace = new Pace()
  const batch = batchOf(a.dims, b.dims, transposes)
  if (is64BitInteger(a.type)) {
    const [x, y, sums] = [a, b, out].map(signed)
    yield* eachProduct(x, y, sums, batch, pace, bigGemm)
  } else if (DTYPES[out.type].bits === 32 && DTYPES[a.type].bits === 32 && DTYPES[a.type].kind !== 'float') {
    yield* eachProduct(a.data as Int32Array, b.data as Int32Array, out.data as Int32Array, batch, pace, intGemm)
  } else {
    const target = targetOf(out)
    yield* eachProduct<Numbers>(yield* readNumbers(a), yield* readNumbers(b), target.numbers, batch, pace, gemm)
    yield* target.finish()
  }
}

/** 64-bit integers seen as signed: the low 64 bits of sums and products are the same for both signs. */
const signed = ({ data }: Tensor): BigInt64Array => {
  const { buffer, byteOffset, length } = data as BigInt64Array
  return new BigInt64Array(buffer, byteOffset, length)
}

/** A batch of products of an `m x k` and a `k x n` matrix. */
interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly a: Strides
  readonly b: Strides
  /** Where the matrix of each factor starts, for each product of the batch. */
  readonly aStarts: Float64Array
  readonly bStarts: Float64Array
}

type Strides = Pick<Matrix, 'rowStride' | 'columnStride'>

/** A factor as a batch of matrices, and where they lie. */
interface Factor extends Strides {
  readonly rows: number
  readonly columns: number
  readonly batch: readonly number[]
  /** Elements from one matrix to the next, where they lie one after the other. */
  readonly step: number
}

/** @param dims two or more */
function factorOf(dims: readonly number[], isTransposed: boolean, moves: boolean): Factor {
  const [first, columns] = dims.slice(-2)
  const isMoved = moves && dims.length > 2
  const rows = isMoved ? dims[0] : first
  const batch = isMoved ? dims.slice(1, -1) : dims.slice(0, -2)
  const rowStride = isMoved ? product(batch) * columns : columns
  const step = isMoved ? columns : rows * columns
  return isTransposed
    ? { rows: columns, columns: rows, batch, step, rowStride: 1, columnStride: rowStride }
    : { rows, columns, batch, step, rowStride, columnStride: 1 }
}

function batchOf(aDims: readonly number[], bDims: readonly number[], transposes: Transposes): Product {
  const a =
    aDims.length === 1
      ? factorOf([1, aDims[0]], false, false)
      : factorOf(aDims, transposes.a, transposes.movesA === true)
  const b =
    bDims.length === 1
      ? factorOf([bDims[0], 1], false, false)
      : factorOf(bDims, transposes.b, transposes.movesB === true)
  const batch = batchDims(a.batch, b.batch)
  const sizes = { m: a.rows, n: b.columns, k: a.columns, a, b }
  const hasOneB = b.batch.every(dim => dim === 1)
  // The right matrix is the same for all, so the batch of left ones is multiplied as one tall matrix. The row of one
  // that has a single row has no stride of its own.
  if (hasOneB && a.columnStride === 1 && a.step === a.rows * a.columns && batch.length === a.batch.length) {
    const tall = { m: a.rows * product(a.batch), a: { ...a, rowStride: a.columns } }
    return { ...sizes, ...tall, aStarts: Float64Array.of(0), bStarts: Float64Array.of(0) }
  }
  return { ...sizes, aStarts: startsOf(a.batch, batch, a.step), bStarts: startsOf(b.batch, batch, b.step) }
}

function batchDims(a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length)
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a[i - rank + a.length] ?? 1, b[i - rank + b.length] ?? 1]
    return x === 1 ? y : x
  })
}

const startsOf = (own: readonly number[], dims: readonly number[], size: number): Float64Array =>
  offsetsOf(
    dims,
    broadcastStrides(own, dims).map(stride => stride * size)
  )

function* eachProduct<A>(a: A, b: A, out: A, batch: Product, pace: Pace, multiply: Gemm<A>): Generator<void> {
  const { m, n, k, aStarts, bStarts } = batch
  const within = (data: A, offset: number, { rowStride, columnStride }: Strides): Matrix<A> => ({
    data,
    offset,
    rowStride,
    columnStride
  })
  for (let i = 0; i < aStarts.length; i++) {
    const [left, right] = [within(a, aStarts[i], batch.a), within(b, bStarts[i], batch.b)]
    yield* multiply(m, n, k, left, right, matrix(out, i * m * n, n), pace)
  }
}

/** `out[o + j] += a[p] * b[q + j * stride]` for `j < n`. */
type AddScaled<A> = (a: A, p: number, b: A, q: number, stride: number, out: A, o: number, n: number) => void

/** 32-bit integers: a double does not hold their products, Math.imul keeps the low bits. */
const addScaledInts: AddScaled<Int32Array> = (a, p, b, q, stride, out, o, n) => {
  const x = a[p]
  for (let j = 0; j < n; j++, q += stride, o++) out[o] += Math.imul(x, b[q])
}

const addScaledBigInts: AddScaled<BigInt64Array> = (a, p, b, q, stride, out, o, n) => {
  const x = a[p]
  for (let j = 0; j < n; j++, q += stride, o++) out[o] += x * b[q]
}

/** {@link gemm} for integers, whose sums wrap. The rows of `out` have no gaps. */
const integerGemm = <A>(addScaled: AddScaled<A>): Gemm<A> =>
  function* (m, n, k, a, b, out, pace) {
    for (let i = 0; i < m; i++) {
      for (let p = 0; p < k; p++) {
        const factor = a.offset + i * a.rowStride + p * a.columnStride
        const row = b.offset + p * b.rowStride
        addScaled(a.data, factor, b.data, row, b.columnStride, out.data, out.offset + i * out.rowStride, n)
        if (pace.isDue((n + 1) * COST.multiplyAdd)) yield
      }
    }
  }

const intGemm = integerGemm(addScaledInts)
/** {@link gemm} for 64-bit integers, whose sums wrap. The rows of `out` have no gaps. */
export const bigGemm = integerGemm(addScaledBigInts)
