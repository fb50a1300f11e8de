import { fail } from '../../errors.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** Hides keys: sets the scores of the query at `position` with the keys from `from` on to -Infinity. */
export type HideBlocks = (head: number, position: number, scores: Float64Array, from: number) => void

/**
 * Hides the keys of blocks that are not set. Layouts of blocks are in compressed rows; heads use them in turn.
 * @param rows offsets into `columns` where each row of blocks begins, `[layouts, blocks + 1]`
 * @param columns positions of the blocks that are set, `[layouts, entries]`
 * @param size keys, and queries, of a block
 * @throws NodewiseError `value-out-of-range` for a query beyond the rows, and for offsets that are none
 */
export function blockMask(rows: Tensor, columns: Tensor, size: number): HideBlocks {
  const [layouts, ends] = rows.dims
  const [offsets, entries] = [rows.data as Int32Array, columns.data as Int32Array]
  const count = columns.dims[1]
  const setOf = (layout: number, row: number): ReadonlySet<number> => {
    if (row + 1 >= ends) fail('value-out-of-range', `the query is in row ${row} of blocks; there are ${ends - 1}`)
    const [from, to] = [offsets[layout * ends + row], offsets[layout * ends + row + 1]]
    if (!(from >= 0 && from <= to && to <= count))
      fail('value-out-of-range', `row ${row} of blocks has the entries from ${from} to ${to}; there are ${count}`)
    return new Set(entries.subarray(layout * count + from, layout * count + to))
  }
  let key = -1
  let set: ReadonlySet<number> = new Set()
  return (head, position, scores, from) => {
    const layout = head % layouts
    const row = Math.floor(position / size)
    if (key !== layout * ends + row) {
      key = layout * ends + row
      set = setOf(layout, row)
    }
    for (let start = from - (from % size); start < from + scores.length; start += size) {
      if (!set.has(start / size)) scores.fill(-Infinity, Math.max(0, start - from), Math.max(0, start + size - from))
    }
  }
}
