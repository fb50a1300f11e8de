import type { Numbers } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { COST, type Pace } from '../core/pace.ts'
import type { Matrix } from '../matrix/gemm.ts'

/** Heads in an array: for each entry of a batch, `count` matrices of `length` rows and `size` columns. */
export interface Heads<A = Numbers> {
  readonly numbers: A
  readonly count: number
  readonly length: number
  readonly size: number
  /** Where the first element of the first head lies. */
  readonly offset: number
  readonly batchStride: number
  readonly headStride: number
  readonly rowStride: number
}

/** The matrix of one head. */
export const headOf = <A>(heads: Heads<A>, batch: number, head: number): Matrix<A> => ({
  data: heads.numbers,
  offset: heads.offset + batch * heads.batchStride + head * heads.headStride,
  rowStride: heads.rowStride,
  columnStride: 1
})

/** Heads one after the other: `[batch, count, length, size]`. */
export const headsInBlocks = <A>(numbers: A, count: number, length: number, size: number): Heads<A> => ({
  numbers,
  count,
  length,
  size,
  offset: 0,
  batchStride: count * length * size,
  headStride: length * size,
  rowStride: size
})

/**
 * Heads side by side in the rows of `[batch, length, columns]`.
 * @param first column where the first head begins
 * @param spacing columns from one head to the next
 */
export const headsInRows = <A>(
  numbers: A,
  count: number,
  length: number,
  size: number,
  columns = count * size,
  first = 0,
  spacing = size
): Heads<A> => ({
  numbers,
  count,
  length,
  size,
  offset: first,
  batchStride: length * columns,
  headStride: spacing,
  rowStride: columns
})

/**
 * Copies heads into others of the same count and size.
 * @param at row of the target where row 0 goes, for each entry of the batch
 * @param bias added to each row, head after head
 */
export function* copyHeads(
  from: Heads,
  to: Heads,
  batches: number,
  at: (batch: number) => number,
  pace: Pace,
  bias?: Numbers
): Generator<void> {
  const { size } = from
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < from.count; head++) {
      const [source, target] = [headOf(from, batch, head), headOf(to, batch, head)]
      for (let row = 0; row < from.length; row++) {
        const start = source.offset + row * source.rowStride
        const end = target.offset + (at(batch) + row) * target.rowStride
        if (bias) for (let i = 0; i < size; i++) target.data[end + i] = source.data[start + i] + bias[head * size + i]
        else for (let i = 0; i < size; i++) target.data[end + i] = source.data[start + i]
        if (pace.isDue(size * COST.element)) yield
      }
    }
  }
}

/**
 * Keys or values as `[batch, heads, past + length, size]`. Elements are only moved, so all typed arrays are handled
 * alike.
 * @param x `[batch, heads, length, size]`, or `[batch, length, heads * size]`
 * @param past the keys or values before, `[batch, heads, past, size]`
 */
export function headsOf(x: Tensor, headCount: number | undefined, past: Tensor | undefined): Tensor {
  const flat = x.dims.length === 3
  if (!flat && past === undefined) return x
  const [batch] = x.dims
  const heads = flat ? (headCount ?? 1) : x.dims[1]
  const [length, last] = x.dims.slice(-2)
  const size = flat ? last / heads : last
  const before = past?.dims[2] ?? 0
  const result = allocate(x.type, [batch, heads, before + length, size])
  if (result.data.length === 0) return result
  const to = result.data as Uint8Array
  const from = x.data as Uint8Array
  for (let b = 0, target = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      const pastStart = (b * heads + h) * before * size
      if (past) to.set((past.data as Uint8Array).subarray(pastStart, pastStart + before * size), target)
      target += before * size
      for (let row = 0; row < length; row++, target += size) {
        const start = flat ? ((b * length + row) * heads + h) * size : ((b * heads + h) * length + row) * size
        to.set(from.subarray(start, start + size), target)
      }
    }
  }
  return result
}
