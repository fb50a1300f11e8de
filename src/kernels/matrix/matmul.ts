import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { broadcastStrides } from '../core/elementwise.ts'
import { doubles, readNumbers, targetOf } from '../core/numbers.ts'
import { gemm, type Matrix, type Pace, transposed } from './gemm.ts'

/** Which factor's last two dims are swapped; a factor of rank 1 has none to swap. */
export interface Transposes {
  readonly a: boolean
  readonly b: boolean
}

const NONE: Transposes = { a: false, b: false }

/**
 * `out += a b`, batches broadcast, by NumPy's rules for `matmul`: a list is a row on the left and a column on the
 * right. `out` starts as
 * zeros. Floats are summed in double precision, float16 and bfloat16 rounded once, integers wrap.
 */
export function* matmul(a: Tensor, b: Tensor, out: Tensor, transposes = NONE): Generator<void> {
  if (out.data.length === 0) return
  const pace = { work: 0 }
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

/** Low 64 bits of sums and products do not depend on the sign. */
const signed = ({ data }: Tensor): BigInt64Array => {
  const { buffer, byteOffset, length } = data as BigInt64Array
  return new BigInt64Array(buffer, byteOffset, length)
}

interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly aSwapped: boolean
  readonly bSwapped: boolean
  /** Position of each factor's matrix for each product of the batch. */
  readonly aStarts: Float64Array
  readonly bStarts: Float64Array
}

function productOf(aDims: readonly number[], bDims: readonly number[], transposes: Transposes): Product {
  const a = aDims.length === 1 ? [1, aDims[0]] : aDims
  const b = bDims.length === 1 ? [bDims[0], 1] : bDims
  const aSwapped = transposes.a && aDims.length > 1
  const bSwapped = transposes.b && bDims.length > 1
  const [m, k] = aSwapped ? [a[a.length - 1], a[a.length - 2]] : a.slice(-2)
  const n = bSwapped ? b[b.length - 2] : b[b.length - 1]
  const [aBatch, bBatch] = [a.slice(0, -2), b.slice(0, -2)]
  const batch = batchDims(aBatch, bBatch)
  const sizeOfOneB = bBatch.every(dim => dim === 1)
  // One right matrix for all: the batch of left ones is one tall matrix.
  if (sizeOfOneB && !aSwapped && batch.length === aBatch.length) {
    return {
      m: m * aBatch.reduce((x, y) => x * y, 1),
      n,
      k,
      aSwapped,
      bSwapped,
      aStarts: Float64Array.of(0),
      bStarts: Float64Array.of(0)
    }
  }
  return {
    m,
    n,
    k,
    aSwapped,
    bSwapped,
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

/** Where each element of `dims`, in row-major order, lies under these strides. */
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

type Gemm<A> = (
  m: number,
  n: number,
  k: number,
  a: Matrix<A>,
  b: Matrix<A>,
  out: Matrix<A>,
  pace: Pace
) => Generator<void>

function* eachProduct<A>(a: A, b: A, out: A, product: Product, pace: Pace, multiply: Gemm<A>): Generator<void> {
  const { m, n, k, aSwapped, bSwapped, aStarts, bStarts } = product
  for (let i = 0; i < aStarts.length; i++) {
    const left = matrix(a, aStarts[i], aSwapped ? m : k)
    const right = matrix(b, bStarts[i], bSwapped ? k : n)
    yield* multiply(
      m,
      n,
      k,
      aSwapped ? transposed(left) : left,
      bSwapped ? transposed(right) : right,
      matrix(out, i * m * n, n),
      pace
    )
  }
}

/** A row-major matrix. */
export const matrix = <A>(data: A, offset: number, columns: number): Matrix<A> => ({
  data,
  offset,
  rowStride: columns,
  columnStride: 1
})

const INTEGER_WORK_PER_YIELD = 1 << 22

/** 32-bit integers: doubles do not hold their products, Math.imul keeps the low bits. */
function* intGemm(
  m: number,
  n: number,
  k: number,
  a: Matrix<Int32Array>,
  b: Matrix<Int32Array>,
  out: Matrix<Int32Array>,
  pace: Pace
): Generator<void> {
  for (let i = 0; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const x = a.data[a.offset + i * a.rowStride + p * a.columnStride]
      let at = b.offset + p * b.rowStride
      let target = out.offset + i * out.rowStride
      for (let j = 0; j < n; j++, at += b.columnStride, target++) out.data[target] += Math.imul(x, b.data[at])
      if (isDue(pace, n)) yield
    }
  }
}

/** {@link gemm} for 64-bit integers: low bits of the sums. */
export function* bigGemm(
  m: number,
  n: number,
  k: number,
  a: Matrix<BigInt64Array>,
  b: Matrix<BigInt64Array>,
  out: Matrix<BigInt64Array>,
  pace: Pace
): Generator<void> {
  for (let i = 0; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const x = a.data[a.offset + i * a.rowStride + p * a.columnStride]
      let at = b.offset + p * b.rowStride
      let target = out.offset + i * out.rowStride
      for (let j = 0; j < n; j++, at += b.columnStride, target++) out.data[target] += x * b.data[at]
      if (isDue(pace, n)) yield
    }
  }
}

function isDue(pace: Pace, work: number): boolean {
  pace.work += work
  if (pace.work < INTEGER_WORK_PER_YIELD) return false
  pace.work = 0
  return true
}
