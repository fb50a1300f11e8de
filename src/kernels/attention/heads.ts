import type { DType } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocateRaw, product, type Tensor } from '../../tensor/tensor.ts'
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

/** Which rows are copied; each may differ between the entries of a batch. */
export interface CopiedRows {
  /** First row that is copied; 0 when left out. */
  from?(batch: number): number
  /** Row of the target where it goes; 0 when left out. */
  to?(batch: number): number
  /** Number of rows; all when left out. */
  count?(batch: number): number
  /** Added to each row, head after head. */
  readonly bias?: Numbers | undefined
}

/** Copies rows of heads into others of the same count and size. */
export function* copyHeads(
  source: Heads,
  target: Heads,
  batches: number,
  pace: Pace,
  rows: CopiedRows = {}
): Generator<void> {
  const { size } = source
  const { bias } = rows
  if (size === 0 || (source.length === 0 && !rows.count)) return
  const isBlock = !bias && source.rowStride === size && target.rowStride === size
  for (let batch = 0; batch < batches; batch++) {
    const [first, to, count] = [rows.from?.(batch) ?? 0, rows.to?.(batch) ?? 0, rows.count?.(batch) ?? source.length]
    for (let head = 0; head < source.count; head++) {
      const [x, out] = [headOf(source, batch, head), headOf(target, batch, head)]
      if (isBlock && count > 0) {
        const [at, end] = [x.offset + first * size, out.offset + to * size]
        // Rows that are in their place already stay.
        if (x.data !== out.data || at !== end) out.data.set(x.data.subarray(at, at + count * size), end)
        if (pace.isDue((count * size * COST.element) / 4)) yield
        continue
      }
      for (let row = 0; row < count; row++) {
        const at = x.offset + (first + row) * x.rowStride
        const end = out.offset + (to + row) * out.rowStride
        if (bias) for (let i = 0; i < size; i++) out.data[end + i] = x.data[at + i] + bias[head * size + i]
        else for (let i = 0; i < size; i++) out.data[end + i] = x.data[at + i]
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
 * @param make makes the result, whose elements may be anything, where it is not `x` itself
 */
export function headsOf(
  x: Tensor,
  headCount: number | undefined,
  past: Tensor | undefined,
  make: (type: DType, dims: readonly number[]) => Tensor = allocateRaw
): Tensor {
  const flat = x.dims.length === 3
  if (!flat && past === undefined) return x
  const [batch] = x.dims
  const heads = flat ? (headCount ?? 1) : x.dims[1]
  const [length, last] = x.dims.slice(-2)
  const size = flat ? last / heads : last
  const before = past?.dims[2] ?? 0
  const result = make(x.type, [batch, heads, before + length, size])
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

/** Batch dims, the last of them heads, of what `group` heads side by side share. */
export const sharedBatch = (batch: readonly number[], group: number): readonly number[] =>
  group === 1 ? batch : batch.with(-1, batch[batch.length - 1] / group)

/** Rows that keys, values and the columns of a mask have in common, where one may stand for all. */
export const commonRows = (...counts: readonly number[]): number => counts.find(count => count !== 1) ?? 1

/** Operands of attention whose rows come before heads, `[batch, rows, heads, size]`, and whether the result's do. */
export type RowsFirst = Readonly<Partial<Record<'query' | 'key' | 'value' | 'result', true>>>

/** Dims or strides with rows and heads in the other order, where they are to be changed. */
export const swapHeads = <T>(of: readonly T[], isMeant: boolean | undefined = true): readonly T[] =>
  isMeant === true ? [of[0], of[2], of[1], of[3]] : of

/** Where heads of one operand of attention lie in a projection that has others, too, `[batch, rows, ...columns]`. */
export interface Part {
  readonly heads: number
  readonly size: number
  /** Column where the first head begins, and columns from one head to the next. */
  readonly first: number
  readonly spacing: number
}

/** Operands of attention that are parts of a projection. */
export type Parts = Readonly<Partial<Record<'query' | 'key' | 'value', Part>>>

/** `[batch, heads, rows, size]` of a part, from the dims of the projection. */
export const partDims = <D>(of: readonly D[], { heads, size }: Part): readonly (D | number)[] => [
  of[0],
  heads,
  of[1],
  size
]

/** Dims with heads first of an operand: of a part of a projection, or of a tensor whose rows may come before heads. */
export const headsFirstDims = <D>(
  of: readonly D[],
  rowsFirst: boolean | undefined,
  part: Part | undefined
): readonly (D | number)[] => (part ? partDims(of, part) : swapHeads(of, rowsFirst === true))

/** Its strides, in elements. */
export function partStrides(dims: readonly number[], { spacing }: Part): readonly number[] {
  const columns = product(dims, 2)
  return [dims[1] * columns, spacing, columns, 1]
}
