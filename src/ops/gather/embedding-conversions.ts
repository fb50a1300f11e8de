import { fail } from '../../errors.ts'
import { elementwise, expanded, gathered, reduced, unsqueezed, upTo, zeroOf } from '../../op-kit/conversion-kit.ts'
import { div, mul, part } from '../../op-kit/conversion-parts.ts'
import {
  addSizes,
  counted,
  type Size,
  sizeAt,
  sizeList,
  sizeParameter,
  sizesOf
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { embeddingBagOffsets } from './embedding-bag-offsets.ts'
import { embeddingBagPacked } from './embedding-bag-packed.ts'
import { embeddingSegmentsSum } from './embedding-segments-sum.ts'

/** Rows of the table that the indices name, times their weights. */
function weightedRows(call: SourceCall, w: Writer): Made {
  const table = call.operand('table')
  const rows = gathered(w, table, w.cast(call.operand('indices'), 'int64'), 0)
  const weights = call.optional('weights')
  if (weights === undefined) return rows
  return mul(w, rows, unsqueezed(w, weights, upTo(rankOf(table) - 1, rankOf(weights))))
}

const isMean = (call: SourceCall): boolean => call.param('reduction') === 'mean'

function checkMean(call: SourceCall): void {
  if (isMean(call) && !isFloat(typeOf(call.operand('table')))) fail('unsupported-op', 'means of rows of integers')
}

function packedToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  checkMean(call)
  const sums = reduced(w, 'ReduceSum', weightedRows(call, w), [1], false)
  if (!isMean(call)) return [sums]
  const count = sizeList(w, [sizeAt(w, call.operand('indices'), 1)])
  return [div(w, sums, w.cast(count, typeOf(sums)))]
}

/** The bag of a row is the number of offsets up to it, where 0 stands for no bag. */
function offsetsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  checkMean(call)
  const offsets = w.cast(call.operand('offsets'), 'int64')
  const places = counted(w, 0, sizeAt(w, call.operand('indices'), 0))
  const isPassed = w.cast(
    elementwise(w, 'LessOrEqual', unsqueezed(w, offsets, [0]), unsqueezed(w, places, [1])),
    'int64'
  )
  const bags = addSizes(w, sizeAt(w, call.operand('offsets'), 0), 1)
  const [sums, counts] = sumsOf(call, w, reduced(w, 'ReduceSum', isPassed, [1], false), bags).map(one =>
    part(w, one, 0, 1, bags)
  )
  const most = isMean(call) ? w.node('Max', [counts, w.scalar('int64', 1)]) : undefined
  const result = most ? div(w, sums, w.cast(most, typeOf(sums))) : sums
  return [filled(call, w, result, counts, -1)]
}

function segmentsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const ids = w.cast(call.operand('segmentIds'), 'int64')
  const [sums, counts] = sumsOf(call, w, ids, sizeParameter(call, 'segments', w))
  return [filled(call, w, sums, counts, undefined)]
}

/** Sums of the rows of each bag, and the numbers of rows with dims of 1 behind, by adding each row to its bag. */
function sumsOf(call: SourceCall, w: Writer, ids: Made, bags: Size): [Made, Made] {
  const table = call.operand('table')
  const rows = weightedRows(call, w)
  const behind = sizesOf(w, table).slice(1)
  const ones = behind.map(() => 1)
  const at = unsqueezed(w, ids, [1])
  const added = (type: Parameters<typeof zeroOf>[1], dims: readonly Size[], updates: Made): Made =>
    w.node('ScatterND', [expanded(w, zeroOf(w, type), sizeList(w, dims)), at, updates], { reduction: 'add' })
  const each = expanded(w, w.scalar('int64', 1), sizeList(w, [sizeAt(w, ids, 0), ...ones]))
  return [added(typeOf(table), [bags, ...behind], rows), added('int64', [bags, ...ones], each)]
}

/** Empty bags hold the row of the default index, or zeros where there is none. */
function filled(call: SourceCall, w: Writer, sums: Made, counts: Made, none: number | undefined): Made {
  const index = call.param<number | undefined>('defaultIndex')
  if (index === undefined || index === none) return sums
  const row = gathered(w, call.operand('table'), w.constant('int64', [index]), 0)
  return elementwise(w, 'Where', elementwise(w, 'Equal', counts, w.scalar('int64', 0)), row, sums)
}

/** Bags of rows of a table, which ONNX adds up one by one. */
export const embeddingRules: readonly Conversion[] = [
  toOnnx(embeddingBagPacked, packedToOnnx),
  toOnnx(embeddingBagOffsets, offsetsToOnnx),
  toOnnx(embeddingSegmentsSum, segmentsToOnnx)
]
