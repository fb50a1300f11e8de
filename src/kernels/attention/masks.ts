import { type Numbers, toDoubles } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { broadcastStrides, offsetsOf } from '../core/elementwise.ts'

/** Adds the row of a mask for query `row` of batch `at` to the query's scores with the keys from `from` on. */
export type MaskReader = (at: number, row: number, scores: Float64Array, from?: number) => void

/** What a boolean mask does: a key where it has this value gets this score. */
export interface Hidden {
  readonly where: 0 | 1
  readonly score: number
}

/** Keys where a mask is false get no weight. */
export const HIDDEN: Hidden = { where: 0, score: -Infinity }

/** Reads a mask that is broadcast to `[...batch, queries, keys]`; false in a boolean mask hides the key. */
export function maskReader(
  mask: Tensor,
  batch: readonly number[],
  queries: number,
  keys: number,
  hidden: Hidden = HIDDEN
): MaskReader {
  const strides = broadcastStrides(mask.dims, [...batch, queries, keys])
  const starts = offsetsOf(batch, strides.slice(0, -2))
  const [rowStride, step] = strides.slice(-2)
  const numbers: Numbers = toDoubles(mask)
  const hides = mask.type === 'bool'
  return (at, row, scores, from = 0) => {
    const count = Math.min(scores.length, keys - from)
    for (let j = 0, p = starts[at] + row * rowStride + from * step; j < count; j++, p += step) {
      if (!hides) scores[j] += numbers[p]
      else if (numbers[p] === hidden.where) scores[j] = hidden.score
    }
  }
}

/**
 * Reads a padding mask of com.microsoft, which adds `filter` to the scores of masked keys. By its dims, a batch of `B`
 * and `S` queries: the number of valid keys, `[B]` or the first `B` of `[3 * B + 2]`; ends and starts of valid keys,
 * `[2 * B]`; 0 for each masked key, `[B, keys]` or `[B, S, keys]`, of the last keys where there are fewer; a square,
 * `[B, 1, M, M]`, of which a query has the row of its position.
 * @param past number of keys before the one of the first query
 * @returns a reader whose `at` is the entry of the batch
 */
export function paddingReader(
  { dims, data }: Tensor,
  batches: number,
  keys: number,
  past: number,
  filter: number
): MaskReader {
  const mask = data as Int32Array
  if (dims.length === 1) {
    return (at, _row, scores, from = 0) => {
      const begin = dims[0] === 2 * batches ? mask[batches + at] : 0
      for (let j = 0; j < scores.length; j++) if (from + j < begin || from + j >= mask[at]) scores[j] += filter
    }
  }
  const columns = dims[dims.length - 1]
  const [batchStride, rowStride, first] =
    dims.length === 2
      ? [columns, 0, keys - columns]
      : dims.length === 3
        ? [dims[1] * columns, columns, keys - columns]
        : [columns * columns, columns, 0]
  const skipped = dims.length === 4 ? past : 0
  return (at, row, scores, from = 0) => {
    const start = at * batchStride + (row + skipped) * rowStride + from - first
    for (let j = Math.max(0, first - from); j < scores.length; j++) if (!(mask[start + j] > 0)) scores[j] += filter
  }
}
