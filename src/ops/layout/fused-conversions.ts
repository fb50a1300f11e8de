import { fail } from '../../errors.ts'
import { asScalar, elementwise, gathered, unsqueezed, upTo, zeroOf } from '../../op-kit/conversion-kit.ts'
import { add, part } from '../../op-kit/conversion-parts.ts'
import { counted, sizeAt, sizeParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { crop } from './crop.ts'
import { range } from './range.ts'
import { trilu } from './trilu.ts'
import { unfoldTensor } from './unfold.ts'
import { unsqueeze } from './unsqueeze.ts'

/** Elements on one side of a diagonal; the others are zero. */
function triluToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('data')
  const rank = rankOf(x)
  const [rows, columns] = [rank - 2, rank - 1].map(axis => counted(w, 0, sizeAt(w, x, axis)))
  const k = sizeParameter(call, 'k', w)
  const diagonal = add(w, w.reshape(rows, [-1, 1]), typeof k === 'number' ? w.scalar('int64', k) : asScalar(w, k))
  const isKept = elementwise(w, call.param<boolean>('upper') ? 'GreaterOrEqual' : 'LessOrEqual', columns, diagonal)
  return [elementwise(w, 'Where', isKept, x, zeroOf(w, typeOf(x)))]
}

/** An axis that an input gives, as an attribute or a constant. */
function expandDims(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.node.type !== 'ExpandDims') return undefined
  const [axis] = call.param<readonly number[]>('axes')
  const x = call.operand('data')
  return [unsqueezed(w, x, [axis < 0 ? axis + rankOf(x) + 1 : axis])]
}

/** A range whose step is left out. */
function rangeByOne(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.has('delta')) return undefined
  const [start, limit] = ['start', 'limit'].map(name => asScalar(w, call.operand(name)))
  return w.standard('Range', [start, limit, w.scalar(typeOf(start), 1)])
}

function expandCrop(call: SourceCall, w: Writer): readonly Made[] {
  const [left, top, right, bottom] = call.param<readonly number[]>('border')
  const scale = call.param<readonly number[] | undefined>('scale') ?? []
  const x = call.operand('data')
  const ends = (axis: number, first: number, last: number, size: number | undefined): number => {
    const dim = dimsOf(x)[axis]
    if (size !== undefined) return first + size
    if (last === 0) return 2 ** 31 - 1
    return typeof dim === 'number' ? dim - last : -last
  }
  const rows = part(w, x, 2, top, ends(2, top, bottom, scale[0]))
  return [part(w, rows, 3, left, ends(3, left, right, scale[1]))]
}

/** The most elements of a list of indices, which is a constant of the model. */
const MAX_INDICES = 2 ** 22

/** Windows along an axis, gathered; their elements are a new last axis. */
function expandUnfold(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('data')
  const rank = rankOf(x)
  const at = normalizeAxis(call.param('axis'), rank)
  const [dim] = knownSizes('the number of windows', dimsOf(x)[at])
  const [size, step] = [call.param<number>('size'), call.param<number>('step')]
  const count = Math.floor((dim - size) / step) + 1
  if (count * size > MAX_INDICES) fail('unsupported-op', `${count} windows of ${size} elements`)
  const index = upTo(count).flatMap(i => upTo(size, i * step))
  const windows = gathered(w, x, w.constant('int64', index, [count, size]), at)
  const order = [...upTo(rank + 1).filter(axis => axis !== at + 1), at + 1]
  return w.standard('Transpose', [windows], { perm: order })
}

/** Movements of com.microsoft, and of operators that ONNX removed, expanded. */
export const fusedLayoutRules: readonly Conversion[] = [
  toOpenvino(trilu, triluToOpenvino),
  ...expands(unsqueeze, expandDims),
  ...expands(range, rangeByOne),
  ...expands(crop, expandCrop),
  ...expands(unfoldTensor, expandUnfold)
]
