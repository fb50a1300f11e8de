import { fail } from '../../errors.ts'
import { blocksAlong, unblocked } from '../../op-kit/conversion-axis.ts'
import {
  asScalar,
  chosen,
  dimAt,
  elementwise,
  gathered,
  joined,
  knownNumbers,
  reshapedTo,
  restored,
  shapeOf,
  sliced,
  transposed,
  unsqueezed,
  upTo,
  zeroOf
} from '../../op-kit/conversion-kit.ts'
import { add } from '../../op-kit/conversion-parts.ts'
import { numberParameter, reshapedExactly } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis, productOf, sameDim } from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'
import { blockGatherRules } from './block-conversions.ts'
import { compress } from './compress.ts'
import { embeddingRules } from './embedding-conversions.ts'
import { gatherElements } from './gather-elements.ts'
import { gatherND } from './gather-nd.ts'
import { gatherTreeToOnnx } from './gather-tree-conversion.ts'
import { gatherTree } from './gather-tree.ts'
import { gather } from './gather.ts'
import { oneHotOps } from './one-hot.ts'
import { reductionOf, scatterElementsToOnnx } from './scatter-conversion.ts'
import { scatterElements } from './scatter-elements.ts'
import { scatterND } from './scatter-nd.ts'
import { scatterUpdate } from './scatter-update.ts'
import { segmentRules } from './segment-conversions.ts'

/** Whether all indices are known and within the axis, so that it does not matter what happens to others. */
function areInRange(call: SourceCall): boolean {
  const size = dimsOf(call.operand('data'))[normalizeAxis(call.param('axis'), rankOf(call.operand('data')))]
  const lowest = call.param('negative') === 'wrap' ? -Number(size) : 0
  const indices = knownNumbers(call.operand('indices'))
  return typeof size === 'number' && indices !== undefined && indices.every(index => index >= lowest && index < size)
}

/** Indices whose bad ones are 0, and which of them are good. */
function guarded(w: Writer, data: Made, indices: Made, axis: number): { indices: Made; good: Made } {
  const wide = w.cast(indices, 'int64')
  const size = asScalar(w, dimAt(w, data, axis))
  const good = elementwise(
    w,
    'And',
    elementwise(w, 'GreaterOrEqual', wide, elementwise(w, 'Neg', size)),
    elementwise(w, 'Less', wide, size)
  )
  return { indices: elementwise(w, 'Where', good, wide, w.scalar('int64', 0)), good }
}

/** Along an axis that is known only while the model runs. */
function gatheredOpen(call: SourceCall, w: Writer): readonly Made[] {
  if (call.param<number>('batchDims') !== 0) fail('unsupported-op', 'an axis that is not known and batch dims')
  const [data, indices] = [call.operand('data'), call.operand('indices')]
  const blocks = blocksAlong(call, w, data)
  const found = call.param('outOfRange') === 'zero' ? guarded(w, blocks.data, indices, 1) : undefined
  const result = gathered(w, blocks.data, found?.indices ?? indicesOf(w, indices), 1)
  const rank = rankOf(indices)
  const values = found ? chosen(w, unsqueezed(w, found.good, [0, rank + 1]), result, zeroOf(w, typeOf(data))) : result
  return [unblocked(w, values, blocks, shapeOf(w, indices), rank, rankOf(data))]
}

/** Gather-8 for ONNX: batch dims by GatherND, zeros for bad indices by a Where. */
function gatherToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  if (!call.knows('axis')) return gatheredOpen(call, w)
  const data = call.operand('data')
  const [rank, indexRank] = [rankOf(data), rankOf(call.operand('indices'))]
  const axis = normalizeAxis(call.param('axis'), rank)
  const given = call.param<number>('batchDims')
  const batch = given < 0 ? given + indexRank : given
  const isGuarded = call.param('outOfRange') === 'zero' && !areInRange(call)
  const found = isGuarded ? guarded(w, data, call.operand('indices'), axis) : undefined
  const indices = found?.indices ?? indicesOf(w, call.operand('indices'))
  const result = batch === 0 ? gathered(w, data, indices, axis) : gatheredInBatches(w, data, indices, axis, batch)
  if (found === undefined) return [result]
  const before = axis - batch
  const kept = indexRank - batch
  const mask = unsqueezed(w, found.good, [...upTo(before, batch), ...upTo(rank - axis - 1, batch + before + kept)])
  return [chosen(w, mask, result, zeroOf(w, typeOf(data)))]
}

const indicesOf = (w: Writer, indices: Made): Made => (typeOf(indices) === 'int32' ? indices : w.cast(indices, 'int64'))

function gatheredInBatches(w: Writer, data: Made, indices: Made, axis: number, batch: number): Made {
  const rank = rankOf(data)
  const between = upTo(axis - batch, batch)
  const after = upTo(rank - axis - 1, axis + 1)
  const moved = transposed(w, data, [...upTo(batch), axis, ...between, ...after])
  const tuples = unsqueezed(w, w.cast(indices, 'int64'), [-1])
  const found = w.node('GatherND', [moved, tuples], { batch_dims: batch })
  const kept = rankOf(indices) - batch
  const at = batch + kept
  return transposed(w, found, [
    ...upTo(batch),
    ...upTo(between.length, at),
    ...upTo(kept, batch),
    ...upTo(after.length, at + between.length)
  ])
}

/** Off the axis, whether the dims of indices and data are the same. */
function areSameOffAxis(call: SourceCall): boolean {
  const [data, indices] = [dimsOf(call.operand('data')), dimsOf(call.operand('indices'))]
  const axis = normalizeAxis(call.param('axis'), data.length)
  return data.every((dim, i) => i === axis || sameDim(dim, indices[i]))
}

/** ONNX: indices may be smaller than the data off the axis; IR: the data are cut to them. */
function gatherElementsToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [data, indices] = [call.operand('data'), call.operand('indices')]
  const axis = normalizeAxis(call.param('axis'), rankOf(data))
  const axes = upTo(rankOf(data)).filter(other => other !== axis)
  const ends = joined(
    w,
    axes.map(other => dimAt(w, indices, other)),
    0
  )
  const starts = w.constant(
    'int64',
    axes.map(() => 0)
  )
  return [w.node('GatherElements', [sliced(w, data, starts, ends, axes), indices], { axis })]
}

/** GatherND-5: several batch dims become one. */
function gatherNDToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const batch = call.param<number>('batchDims')
  const indices = w.cast(call.operand('indices'), 'int64')
  const result = w.node('GatherND', [call.operand('data'), indices], { batch_dims: batch })
  const dims = dimsOf(result)
  return [reshapedTo(w, result, [productOf(dims.slice(0, batch)), ...dims.slice(batch)])]
}

/** Indices as positions along one axis. */
const tuplesOf = (w: Writer, indices: Made): Made => unsqueezed(w, w.cast(indices, 'int64'), [-1])

/** Along an axis that is known only while the model runs. */
function scatteredOpen(call: SourceCall, w: Writer): readonly Made[] {
  const [data, indices] = [call.operand('data'), call.operand('indices')]
  const { data: blocks, shape } = blocksAlong(call, w, data)
  const [before, after] = [dimAt(w, blocks, 0), dimAt(w, blocks, 2)]
  const count = rankOf(indices)
  const dims = joined(w, [before, shapeOf(w, indices), after], 0)
  const updates = transposed(w, reshapedExactly(w, call.operand('updates'), dims), [...upTo(count, 1), 0, count + 1])
  const written = w.node('ScatterND', [transposed(w, blocks, [1, 0, 2]), tuplesOf(w, indices), updates])
  return [reshapedExactly(w, transposed(w, written, [1, 0, 2]), shape)]
}

/** The slices along an axis are written by ScatterND along the first one. */
function scatterUpdateToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  if (!call.knows('axis')) return scatteredOpen(call, w)
  const [data, indices] = [call.operand('data'), call.operand('indices')]
  const [rank, indexRank] = [rankOf(data), rankOf(indices)]
  const axis = normalizeAxis(call.param('axis'), rank)
  const order = [axis, ...upTo(rank).filter(other => other !== axis)]
  // Updates have the dims of the indices in place of the axis.
  const updates = transposed(w, call.operand('updates'), [
    ...upTo(indexRank, axis),
    ...upTo(axis),
    ...upTo(rank - axis - 1, axis + indexRank)
  ])
  const written = w.node('ScatterND', [transposed(w, data, order), tuplesOf(w, indices), updates])
  return [restored(w, written, order)]
}

/** A single update may have any rank in IR. */
function scatterNDToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const [data, updates] = [call.operand('data'), call.operand('updates')]
  const indices = w.cast(call.operand('indices'), 'int64')
  const indexDims = dimsOf(indices)
  const width = indexDims.at(-1)
  if (typeof width !== 'number') return undefined
  const rank = indexDims.length - 1 + rankOf(data) - width
  const reduction = call.param<string>('reduction')
  const isSub = reduction === 'sub'
  const given = isSub ? elementwise(w, 'Neg', updates) : updates
  const shaped =
    rankOf(updates) === rank
      ? given
      : w.reshape(
          given,
          upTo(rank).map(() => 1)
        )
  return [w.node('ScatterND', [data, indices, shaped], reductionOf(isSub ? 'add' : reduction))]
}

const [oneHotOnnx, oneHotOpenvino] = oneHotOps

/** Types that hold the values of others, and of which ONNX Runtime has OneHot. */
const WITH_ONE_HOT: Readonly<Partial<Record<DType, DType>>> = {
  float16: 'float32',
  bfloat16: 'float32',
  int8: 'int64',
  int16: 'int64',
  int32: 'int64',
  uint8: 'int64',
  uint16: 'int64',
  uint32: 'int64',
  bool: 'int64'
}

function oneHotToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [on, off] = [call.operand('on'), call.operand('off')]
  const depth = numberParameter(call, 'depth', w)
  let indices = w.cast(call.operand('indices'), 'int64')
  // ONNX counts negative indices from the end: those of IR are moved beyond all classes.
  if (call.param('negative') === 'error') {
    const isNegative = elementwise(w, 'Less', indices, w.scalar('int64', 0))
    indices = elementwise(w, 'Where', isNegative, w.cast(asScalar(w, depth), 'int64'), indices)
  }
  // ONNX Runtime has few types of values.
  const type = typeOf(on)
  const wide = WITH_ONE_HOT[type] ?? type
  const values = w.cast(joined(w, [w.reshape(off, [1]), w.reshape(on, [1])], 0), wide)
  return [w.cast(w.node('OneHot', [indices, depth, values], { axis: call.param<number>('axis') }), type)]
}

function oneHotToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const values = call.operand('values')
  const [off, on] = [0, 1].map(i => gathered(w, values, w.scalar('int64', i), 0))
  const given = typeOf(call.operand('indices'))
  const indices = w.cast(call.operand('indices'), given === 'int32' ? 'int32' : 'int64')
  const depth = call.knows('depth')
    ? w.scalar('int64', Math.trunc(call.param<number>('depth')))
    : numberParameter(call, 'depth', w)
  const wraps = call.param('negative') === 'wrap'
  const wide = w.cast(depth, typeOf(indices))
  const positive = wraps
    ? elementwise(
        w,
        'Where',
        elementwise(w, 'Less', indices, w.scalar(typeOf(indices), 0)),
        add(w, indices, wide),
        indices
      )
    : indices
  return [w.node('OneHot', [positive, depth, on, off], { axis: call.param<number>('axis') }, { since: 1 })]
}

/** The positions where the condition holds, gathered. */
function compressToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [data, condition] = [call.operand('data'), call.operand('condition')]
  const axis = call.param<number | undefined>('axis')
  const positions = w.node('NonZero', [condition], { output_type: { dtype: 'int64' } })
  const flat = axis === undefined ? w.reshape(data, [-1]) : data
  const at = axis === undefined ? 0 : normalizeAxis(axis, rankOf(data))
  return [gathered(w, flat, w.reshape(positions, [-1]), at)]
}

/** Gathers and scatters of one dialect in words of the other. */
export const gatherConversions: Conversions = {
  rules: [
    ...blockGatherRules,
    ...segmentRules,
    toOnnx(gather, gatherToOnnx),
    toOpenvino(gatherElements, gatherElementsToOpenvino),
    toOnnx(gatherTree, gatherTreeToOnnx),
    toOnnx(gatherND, gatherNDToOnnx),
    toOnnx(scatterUpdate, scatterUpdateToOnnx),
    toOnnx(scatterElements, scatterElementsToOnnx),
    toOnnx(scatterND, scatterNDToOnnx),
    toOnnx(oneHotOpenvino, oneHotToOnnx),
    toOpenvino(oneHotOnnx, oneHotToOpenvino),
    toOpenvino(compress, compressToOpenvino),
    ...embeddingRules
  ],
  leniencies: [
    { op: gather, parameter: 'batchDimsMayBeRank', allows: () => true },
    { op: gather, parameter: 'outOfRange', allows: (from, _to, call) => from === 'error' || areInRange(call) },
    { op: gatherElements, parameter: 'offAxis', allows: (from, _to, call) => from === 'equal' || areSameOffAxis(call) },
    // Fewer than two batch dims are kept in either form.
    { op: gatherND, parameter: 'batchOutput', allows: (_from, _to, call) => call.param<number>('batchDims') < 2 },
    { op: scatterND, parameter: 'scalarUpdates', allows: from => from === 'exact' }
  ]
}
