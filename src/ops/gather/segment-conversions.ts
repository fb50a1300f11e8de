import {
  asScalar,
  elementwise,
  expanded,
  extreme,
  gathered,
  joined,
  picked,
  reduced,
  shapeOf,
  squeezed,
  unsqueezed,
  upTo
} from '../../op-kit/conversion-kit.ts'
import { add, mul, part } from '../../op-kit/conversion-parts.ts'
import { counted, listParameter, sizeAt, sizeList, sizeParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { DTYPES, isFloat, MAX_FLOAT32 } from '../../tensor/dtype.ts'
import { segmentMax } from './segment-max.ts'
import { sparseFillEmptyRows } from './sparse-fill-empty-rows.ts'

/** The lowest value of a type. */
function lowestOf(w: Writer, type: ReturnType<typeof typeOf>): Made {
  if (isFloat(type))
    return w.scalar(type, type === 'float16' ? -65504 : type === 'float64' ? -Number.MAX_VALUE : -MAX_FLOAT32)
  const { kind, bits } = DTYPES[type]
  return w.scalar(type, kind === 'int' ? -(2n ** BigInt(bits - 1)) : 0n)
}

/** The number of segments, as a list of one: given, or one more than the last id. */
function countOf(call: SourceCall, w: Writer, ids: Made): Made {
  if (!call.knows('count') || call.param('count') !== undefined) return sizeList(w, [sizeParameter(call, 'count', w)])
  const last = reduced(w, 'ReduceMax', joined(w, [w.constant('int64', [-1]), ids], 0), [0], true)
  return add(w, last, w.constant('int64', [1]))
}

/** Slices are scattered by their segments, those beyond the last one to a row that is cut off. */
function segmentMaxToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const own = typeOf(data)
  const type = own === 'bfloat16' || own === 'float16' ? 'float32' : own
  const x = w.cast(data, type)
  const ids = w.cast(call.operand('segmentIds'), 'int64')
  const count = countOf(call, w, ids)
  const held = extreme(w, 'Min', ids, count)
  const rank = rankOf(data)
  const inner = upTo(rank - 1, 1)
  const rows = add(w, count, w.constant('int64', [1]))
  const shape = inner.length > 0 ? joined(w, [rows, picked(w, shapeOf(w, x), inner)], 0) : rows
  const lowest = lowestOf(w, isFloat(own) ? own : type)
  const index = expanded(w, unsqueezed(w, held, inner), shapeOf(w, x))
  const first = expanded(w, w.cast(lowest, type), shape)
  const best = w.node('ScatterElements', [first, index, x], { axis: 0, reduction: 'max' })
  const kept = part(w, best, 0, 0, count)
  if (call.param('fill') === 'lowest') return [w.cast(kept, own)]
  const none = expanded(w, w.scalar('int64', 0), rows)
  const ones = expanded(w, w.scalar('int64', 1), shapeOf(w, held))
  const hits = w.node('ScatterElements', [none, held, ones], { axis: 0, reduction: 'max' })
  const isHit = unsqueezed(w, w.cast(part(w, hits, 0, 0, count), 'bool'), inner)
  return [w.cast(elementwise(w, 'Where', isHit, kept, w.scalar(type, 0)), own)]
}

/** Rows without values get one; all are sorted by their place, equal ones in their order. */
function fillToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [values, given, fallback] = ['values', 'indices', 'fallback'].map(name => call.operand(name))
  const indices = w.cast(given, 'int64')
  const dims = listParameter(call, 'dims', w)
  const [height, width] = [0, 1].map(at => part(w, dims, 0, at, at + 1))
  const own = part(w, indices, 1, 0, 1)
  const isEmpty = elementwise(
    w,
    'Equal',
    w.node(
      'ScatterElements',
      [
        expanded(w, w.scalar('int64', 0), height),
        squeezed(w, own, [1]),
        expanded(w, w.scalar('int64', 1), sizeList(w, [sizeAt(w, indices, 0)]))
      ],
      { axis: 0 }
    ),
    w.scalar('int64', 0)
  )
  const rows = w.node('Transpose', [w.node('NonZero', [isEmpty])], { perm: [1, 0] })
  const added = joined(w, [rows, mul(w, rows, w.scalar('int64', 0))], 1)
  const all = joined(w, [indices, added], 0)
  const total = sizeList(w, [sizeAt(w, all, 0)])
  const filling = expanded(w, asScalar(w, fallback), sizeList(w, [sizeAt(w, rows, 0)]))
  const places = add(w, mul(w, part(w, all, 1, 0, 1), width), part(w, all, 1, 1, 2))
  const keys = add(w, mul(w, squeezed(w, places, [1]), total), counted(w, 0, total))
  const [, order] = w.nodes('TopK', [keys, total], { axis: 0, largest: 0 }, { outputs: 2 })
  const filled = gathered(w, joined(w, [values, filling], 0), order, 0)
  return [w.cast(gathered(w, all, order, 0), typeOf(given)), filled, isEmpty].slice(0, call.outputCount)
}

/** Segments and sparse rows in ONNX. */
export const segmentRules: readonly Conversion[] = [
  toOnnx(segmentMax, segmentMaxToOnnx),
  toOnnx(sparseFillEmptyRows, fillToOnnx)
]
