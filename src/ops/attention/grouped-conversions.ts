import { fail } from '../../errors.ts'
import {
  asHeads,
  attended,
  besideEachOther,
  rotated,
  sizeOf,
  type Weighing
} from '../../op-kit/conversion-attention.ts'
import { elementwise, expanded, gathered, joined, unsqueezed } from '../../op-kit/conversion-kit.ts'
import {
  add,
  byRootMeanSquare,
  div,
  mul,
  padded,
  part,
  plus,
  split,
  sub,
  widened
} from '../../op-kit/conversion-parts.ts'
import {
  counted,
  extremeSize,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  sizeParameter
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { blockSeen } from './block-mask-conversion.ts'
import { asCodes, decoded, encoded, fromCodes } from './cache-conversion.ts'
import { groupQueryAttention } from './group-query-attention.ts'

/** How many keys there are: lists of int64 with one number for each entry of the batch, `[batch, 1]`. */
interface KeyCounts {
  /** Number of valid keys after this call. */
  readonly valid: Made
  /** Number of keys before the fresh ones. */
  readonly past: Made
  /** Rows of the past that are kept; the fresh ones follow. */
  readonly kept: Made
  /** Whether all keys are fresh. */
  readonly isPrompt: Made
}

const int = (w: Writer, value: number): Made => w.scalar('int64', value)

function keyCountsOf(call: SourceCall, w: Writer, fresh: Size, total: Size, capacity: Size): KeyCounts {
  const lengths = w.reshape(w.cast(call.operand('lengths'), 'int64'), [-1, 1])
  const valid = plus(w, lengths, call.param<number>('counted'))
  const [rows, all] = [fresh, total].map(size => sizeList(w, [size]))
  const isPrompt = elementwise(w, 'Equal', rows, all)
  const past = elementwise(w, 'Where', isPrompt, int(w, 0), sub(w, valid, rows))
  const kept = call.param<boolean>('slides') ? resident(call, w, past, capacity) : past
  return { valid, past, kept, isPrompt }
}

/** Rows of a sliding cache that hold positions, where so many keys have been seen. */
function resident(call: SourceCall, w: Writer, count: Made, capacity: Size): Made {
  const [rows] = knownSizes('the rows of a sliding cache', capacity)
  const step = rows - call.param<number>('window') + 1
  const beyond = plus(w, count, step - 1 - rows)
  const steps = div(
    w,
    elementwise(w, 'Where', elementwise(w, 'Greater', beyond, int(w, 0)), beyond, int(w, 0)),
    int(w, step)
  )
  return sub(w, count, mul(w, steps, int(w, step)))
}

/** Queries, keys and values as heads, normalized and rotated. */
function headsOf(call: SourceCall, w: Writer, keyCounts: KeyCounts, fresh: Size): Made[] {
  const [heads, shared] = [call.param<number>('heads'), call.param<number>('shared')]
  const query = widened(w, call.operand('query'))
  const key = call.optional('key')
  const [columns] = knownSizes('the size of heads', dimsOf(query)[2])
  const size = columns / (key ? heads : heads + 2 * shared)
  const parts = key
    ? [query, widened(w, key), widened(w, call.operand('value'))]
    : split(w, query, 2, [heads * size, shared * size, shared * size])
  const counts = [heads, shared, shared]
  const norms = ['queryNorm', 'keyNorm'].map(name => call.optional(name))
  const rotate = rotationOf(call, w, keyCounts, fresh)
  return parts.map((x, i) => {
    const own = asHeads(w, x, counts[i])
    const factors = norms.at(i)
    const scaled = i < 2 && factors ? normalized(call, w, own, factors) : own
    return i < 2 && rotate ? rotate(scaled) : scaled
  })
}

const normalized = (call: SourceCall, w: Writer, heads: Made, factors: Made): Made =>
  mul(w, byRootMeanSquare(w, heads, 3, call.param('epsilon')), w.cast(factors, typeOf(heads)))

function rotationOf(
  call: SourceCall,
  w: Writer,
  { past, isPrompt }: KeyCounts,
  fresh: Size
): ((x: Made) => Made) | undefined {
  if (!call.param<boolean>('rotates')) return undefined
  const rows = counted(w, 0, fresh)
  const given = call.optional('positions')
  const ids = given && w.cast(given, 'int64')
  // In a first prompt the first position alone counts.
  const positions = ids
    ? elementwise(w, 'Where', isPrompt, add(w, part(w, part(w, ids, 0, 0, 1), 1, 0, 1), rows), ids)
    : add(w, past, rows)
  const [cos, sin] = ['cos', 'sin'].map(name => unsqueezed(w, gathered(w, call.operand(name), positions, 0), [1]))
  const [half] = knownSizes('the columns of cos_cache', dimsOf(cos)[3])
  return x => rotated(w, x, { cos, sin, half, interleaved: call.param('interleaved') })
}

/** Rows of a tensor `[batch, heads, rows, size]`, other ones for each entry of the batch: `[batch, rows]`. */
function rowsAt(w: Writer, x: Made, rows: Made): Made {
  if (w.dialect === 'openvino')
    return w.node('Gather', [x, rows, w.scalar('int64', 2)], { batch_dims: 1 }, { since: 8 })
  const index = expanded(w, unsqueezed(w, rows, [1, 3]), sizeList(w, [1, sizeAt(w, x, 1), 1, sizeAt(w, x, 3)]))
  return w.node('GatherElements', [x, index], { axis: 2 })
}

/** Rows of an extended cache. */
interface CacheRows {
  /** Rows of what is attended to, one for each of `count` positions. */
  readonly attended: Made
  /** Rows of the present. */
  readonly present: Made
}

/** Which rows of the past, followed by the fresh rows and a row of zeros, an extended cache has. */
function rowsOf(
  call: SourceCall,
  w: Writer,
  keyCounts: KeyCounts,
  sizes: { fresh: Size; total: Size; capacity: Size }
): CacheRows {
  const { fresh, total, capacity } = sizes
  const [own, end] = [sizeList(w, [fresh]), sizeList(w, [capacity])]
  const zeros = add(w, own, end)
  const { kept } = keyCounts
  const isBefore = (at: Made): Made => elementwise(w, 'Less', at, kept)
  const isSparse = call.param<number>('block') > 0
  // A row of fresh ones; beyond them zeros, or what the past has there.
  const rowOf = (at: Made): Made => {
    const inFresh = sub(w, at, kept)
    const beyond = isSparse ? at : zeros
    const behind = elementwise(w, 'Where', elementwise(w, 'Less', inFresh, own), add(w, inFresh, end), beyond)
    return elementwise(w, 'Where', isBefore(at), at, behind)
  }
  if (call.param<boolean>('slides')) {
    const left = resident(call, w, keyCounts.valid, capacity)
    const first = sub(w, add(w, kept, sub(w, keyCounts.valid, keyCounts.past)), left)
    const at = counted(w, 0, capacity)
    const present = elementwise(w, 'Where', elementwise(w, 'Less', at, left), rowOf(add(w, at, first)), zeros)
    return { attended: rowOf(counted(w, 0, sizeList(w, [add(w, own, end)]))), present }
  }
  const rows = extremeSize(w, 'Max', total, capacity)
  const present = rowOf(counted(w, 0, rows))
  return { attended: present, present }
}

/** Which keys the queries see, and what is added to their scores, with an axis for the heads that share keys. */
function weighingOf(call: SourceCall, w: Writer, keyCounts: KeyCounts, q: Made, keys: Made): Weighing {
  const [heads, shared] = [call.param<number>('heads'), call.param<number>('shared')]
  const [fresh, total] = [sizeAt(w, q, 2), sizeAt(w, keys, 2)]
  const rows = add(w, keyCounts.past, counted(w, 0, fresh))
  const at = counted(w, 0, total)
  const slides = call.param<boolean>('slides')
  const columns = slides ? unsqueezed(w, add(w, sub(w, keyCounts.past, keyCounts.kept), at), [1]) : at
  const position = unsqueezed(w, rows, [2])
  const isValid = elementwise(w, 'Less', columns, unsqueezed(w, keyCounts.valid, [2]))
  const window = call.param<number>('window')
  const conditions = [
    ...(call.param<boolean>('causal') ? [elementwise(w, 'LessOrEqual', columns, position)] : []),
    ...(window > 0 ? [elementwise(w, 'Greater', columns, plus(w, position, -window))] : [])
  ]
  const own = unsqueezed(
    w,
    conditions.reduce((a, b) => elementwise(w, 'And', a, b), isValid),
    [1, 2]
  )
  const apart = (x: Made): Made =>
    reshapedBy(w, x, [sizeAt(w, x, 0), shared, heads / shared, sizeAt(w, x, 2), sizeAt(w, x, 3)])
  const block = call.param<number>('block')
  const seen = block > 0 ? elementwise(w, 'And', own, apart(blockSeen(call, w, rows, at, block, heads))) : own
  const bias = call.optional('bias')
  if (bias && slides) fail('unsupported-op', 'a bias by position over a sliding cache')
  const sinks = call.optional('sinks')
  const smooth = call.param<boolean>('smooth')
  return {
    scale: call.param<number>('scale') || 1 / Math.sqrt(sizeOf(q)),
    softcap: call.param('softcap'),
    added: [bias && (dimsOf(bias)[1] === 1 ? unsqueezed(w, bias, [2]) : apart(bias))],
    seen,
    sink: sinks ? w.reshape(sinks, [1, shared, heads / shared, 1, 1]) : smooth ? w.scalar('float32', 0) : undefined
  }
}

function expandGrouped(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const query = call.operand('query')
  const [heads, shared] = [call.param<number>('heads'), call.param<number>('shared')]
  const fresh = sizeAt(w, query, 1)
  const total = sizeParameter(call, 'total', w)
  const pasts = ['pastKey', 'pastValue'].map(name => call.optional(name))
  const capacity: Size = pasts[0] ? sizeAt(w, pasts[0], 2) : 0
  const keyCounts = keyCountsOf(call, w, fresh, total, capacity)
  const [q, k, v] = headsOf(call, w, keyCounts, fresh)
  const rows = rowsOf(call, w, keyCounts, { fresh, total, capacity })
  const slides = call.param<boolean>('slides')
  const presents: Made[] = []
  const [keys, values] = [k, v].map((own, i) => {
    const past = pasts[i]
    const codes = encoded(call, w, own, i)
    const before = past && decoded(call, w, past, codes)
    const all = padded(w, before ? joined(w, [before, codes], 2) : codes, 2, 0, 1)
    const present = rowsAt(w, all, rows.present)
    presents.push(asCodes(call, w, present))
    const stored = slides ? rowsAt(w, all, rows.attended) : part(w, present, 2, 0, total)
    return fromCodes(call, w, stored, i)
  })
  const group = heads / shared
  // Keys that query heads share are broadcast along an axis of their own.
  const apart = (x: Made, per: number): Made =>
    reshapedBy(w, x, [sizeAt(w, x, 0), shared, per, sizeAt(w, x, 2), sizeAt(w, x, 3)])
  const spread = (x: Made): Made => unsqueezed(w, x, [2])
  const how = weighingOf(call, w, keyCounts, q, keys)
  const result = attended(w, apart(q, group), spread(keys), spread(values), how)
  const joinedHeads = (x: Made): Made => reshapedBy(w, x, [sizeAt(w, x, 0), heads, sizeAt(w, x, 3), sizeAt(w, x, 4)])
  const results: (Made | undefined)[] = [
    w.cast(besideEachOther(w, joinedHeads(result.values)), typeOf(query)),
    ...presents
  ]
  if (call.outputCount > 3 && call.param('shown') !== 'nothing') {
    const shown = call.param('shown') === 'weights' ? result.weights : result.biased
    const seen = how.seen
    const clean = seen ? elementwise(w, 'Where', seen, shown, w.scalar(typeOf(shown), 0)) : shown
    results.push(w.cast(joinedHeads(clean), typeOf(query)))
  }
  return results.slice(0, call.outputCount)
}

/** Attention whose query heads share keys and values. */
export const groupedRules: readonly Conversion[] = expands(groupQueryAttention, expandGrouped)
