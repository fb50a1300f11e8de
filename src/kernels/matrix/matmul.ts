import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { broadcastStrides } from '../core/elementwise.ts'
import { doubles, readNumbers, targetOf } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import { type Gemm, gemm, matrix, transposed } from './gemm.ts'

/** Which factors are transposed, that is, have their last two dims swapped; a factor of rank 1 has none to swap. */
export interface Transposes {
  readonly a: boolean
  readonly b: boolean
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
  const product = productOf(a.dims, b.dims, transposes)
  if (is64BitInteger(a.type)) {
    const [x, y, sums] = [a, b, out].map(signed)
    yield* eachProduct(x, y, sums, product, pace, bigGemm)
  } else if (DTYPES[out.type].bits === 32 && DTYPES[a.type].bits === 32 && DTYPES[a.type].kind !== 'float') {
    yield* eachProduct(a.data as Int32Array, b.data as Int32Array, out.data as Int32Array, product, pace, intGemm)
  } else {
    const target = targetOf(out)
    yield* eachProduct<Numbers>(yield* readNumbers(a), yield* readNumbers(b), target.numbers, product, pace, gemm)
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
  readonly aTransposed: boolean
  readonly bTransposed: boolean
  /** Where the matrix of each factor starts, for each product of the batch. */
  readonly aStarts: Float64Array
  readonly bStarts: Float64Array
}

function productOf(aDims: readonly number[], bDims: readonly number[], transposes: Transposes): Product {
  const a = aDims.length === 1 ? [1, aDims[0]] : aDims
  const b = bDims.length === 1 ? [bDims[0], 1] : bDims
  const aTransposed = transposes.a && aDims.length > 1
  const bTransposed = transposes.b && bDims.length > 1
  const [m, k] = aTransposed ? [a[a.length - 1], a[a.length - 2]] : a.slice(-2)
  const n = bTransposed ? b[b.length - 2] : b[b.length - 1]
  const [aBatch, bBatch] = [a.slice(0, -2), b.slice(0, -2)]
  const batch = batchDims(aBatch, bBatch)
  const hasOneB = bBatch.every(dim => dim === 1)
  // The right matrix is the same for all, so the batch of left ones is multiplied as one tall matrix.
  if (hasOneB && !aTransposed && batch.length === aBatch.length) {
    return {
      m: m * aBatch.reduce((x, y) => x * y, 1),
      n,
      k,
      aTransposed,
      bTransposed,
      aStarts: Float64Array.of(0),
      bStarts: Float64Array.of(0)
    }
  }
  return {
    m,
    n,
    k,
    aTransposed,
    bTransposed,
    aStarts: startsOf(aBatch, batch, m * k),
    bStarts: startsOf(bBatch, batch, k * n)
  }
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

/** The offset under `strides` of each position of `dims`, in row-major order. */
export function offsetsOf(dims: readonly number[], strides: readonly number[]): Float64Array {
  let offsets: Float64Array = Float64Array.of(0)
  for (let i = 0; i < dims.length; i++) {
    const before = offsets
    offsets = doubles(before.length * dims[i])
    for (let at = 0; at < offsets.length; at++)
      offsets[at] = before[Math.floor(at / dims[i])] + (at % dims[i]) * strides[i]
  }
  return offsets
}

function* eachProduct<A>(a: A, b: A, out: A, product: Product, pace: Pace, multiply: Gemm<A>): Generator<void> {
  const { m, n, k, aTransposed, bTransposed, aStarts, bStarts } = product
  for (let i = 0; i < aStarts.length; i++) {
    const left = matrix(a, aStarts[i], aTransposed ? m : k)
    const right = matrix(b, bStarts[i], bTransposed ? k : n)
    yield* multiply(
      m,
      n,
      k,
      aTransposed ? transposed(left) : left,
      bTransposed ? transposed(right) : right,
      matrix(out, i * m * n, n),
      pace
    )
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
