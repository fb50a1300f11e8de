import { elementwise, gathered, staticDims, transposed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { div, multiplied } from '../../op-kit/conversion-parts.ts'
import { counted, sizeAt } from '../../op-kit/conversion-sizes.ts'
import type { Made, SourceCall, Writer } from '../../op-kit/conversion.ts'

/**
 * Which keys the layouts of a block mask show: `[batch, heads, queries, keys]`. The blocks of a row are listed one
 * after the other (CSR), padded with -1.
 * @param rows positions of the queries, `[batch, queries]`
 * @param columns positions of the keys, `[keys]`
 */
export function blockSeen(call: SourceCall, w: Writer, rows: Made, columns: Made, size: number, heads: number): Made {
  const [starts, listed] = ['blockRows', 'blockColumns'].map(name => w.cast(call.operand(name), 'int64'))
  const [layouts, bounds] = staticDims(starts, 'the block mask')
  const blocks = bounds - 1
  const at = counted(w, 0, sizeAt(w, listed, 1))
  const bound = (index: number): Made =>
    unsqueezed(w, gathered(w, starts, w.constant('int64', upTo(blocks, index)), 1), [2])
  const isOfRow = elementwise(
    w,
    'And',
    elementwise(w, 'GreaterOrEqual', at, bound(0)),
    elementwise(w, 'Less', at, bound(1))
  )
  const isOfColumn = elementwise(w, 'Equal', unsqueezed(w, listed, [2]), w.constant('int64', upTo(blocks)))
  const counts = multiplied(w, w.cast(isOfRow, 'float32'), w.cast(isOfColumn, 'float32'))
  const blockOf = (positions: Made): Made => div(w, positions, w.scalar('int64', size))
  const byKey = gathered(w, counts, blockOf(columns), 2)
  // [layouts, batch, queries, keys]
  const byQuery = transposed(w, gathered(w, byKey, blockOf(rows), 1), [1, 0, 2, 3])
  const byHead = gathered(
    w,
    byQuery,
    w.constant(
      'int64',
      upTo(heads).map(head => head % layouts)
    ),
    1
  )
  return elementwise(w, 'Greater', byHead, w.scalar('float32', 0))
}
