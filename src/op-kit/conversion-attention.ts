import { fail } from '../errors.ts'
import { type Dim, mulDims, sameDim } from '../shapes/dim.ts'
import { MAX_FLOAT32 } from '../tensor/dtype.ts'
import { elementwise, expanded, joined, sliced, stacked, transposed, unsqueezed } from './conversion-kit.ts'
import { add, mul, multiplied, padded, part, softmaxed, split, sub, times } from './conversion-parts.ts'
import { addSizes, counted, extremeSize, type Size, sizeAt, sizeList, subSizes } from './conversion-sizes.ts'
import { dimsOf, knownSizes, type Made, rankOf, typeOf, type Writer } from './conversion.ts'

// Attention in nodes of either dialect. Heads are `[batch, heads, rows, size]`, in the type in which it is computed.

/** The size of the heads, which must be known. */
export function sizeOf(heads: Made): number {
  const [size] = knownSizes('the size of heads', dimsOf(heads).at(-1))
  return size
}

/** `[batch, rows, heads * size]` as heads. */
export function asHeads(w: Writer, x: Made, count: number): Made {
  const columns = dimsOf(x)[2]
  const size = typeof columns === 'number' ? columns / count : -1
  return transposed(w, w.reshape(x, [0, 0, count, size]), [0, 2, 1, 3])
}

/** Heads as `[batch, rows, heads * size]`. */
export function besideEachOther(w: Writer, heads: Made): Made {
  const [, count, , size] = dimsOf(heads)
  const columns = typeof count === 'number' && typeof size === 'number' ? count * size : -1
  return w.reshape(transposed(w, heads, [0, 2, 1, 3]), [0, 0, columns])
}

/** What decides the weights of keys. */
export interface Weighing {
  readonly scale: number
  /** 0: none. */
  readonly softcap?: number
  /** Added to the scores, in dims that are broadcast to them. */
  readonly added?: readonly (Made | undefined)[]
  /** Which keys a query sees, in dims that are broadcast to the scores. */
  readonly seen?: Made | undefined
  /** Score of a hidden key of each head, in dims that are broadcast to one column of the scores. */
  readonly sink?: Made | undefined
}

/** Results of attention. */
export interface Attended {
  /** Products, scaled. */
  readonly scores: Made
  readonly capped: Made
  /** With what is added; of hidden keys the lowest number. */
  readonly biased: Made
  readonly weights: Made
  readonly values: Made
}

/** `softmax(q kᵀ * scale + added) v` */
export function attended(w: Writer, q: Made, k: Made, v: Made, how: Weighing): Attended {
  const { scale, softcap = 0, added = [], seen, sink } = how
  const scores = times(w, multiplied(w, q, k, true), scale)
  const capped = softcap > 0 ? times(w, elementwise(w, 'Tanh', times(w, scores, 1 / softcap)), softcap) : scores
  const type = typeOf(scores)
  const summed = added.reduce<Made>((sum, each) => (each ? add(w, sum, w.cast(each, type)) : sum), capped)
  const biased = seen ? elementwise(w, 'Where', seen, summed, w.scalar(type, -MAX_FLOAT32)) : summed
  const weights = sink ? withSink(w, biased, sink) : softmaxed(w, biased, rankOf(biased) - 1)
  return { scores, capped, biased, weights, values: multiplied(w, weights, v) }
}

/** Softmax with one more key, whose weight is left out. */
function withSink(w: Writer, scores: Made, sink: Made): Made {
  const last = rankOf(scores) - 1
  const column = part(w, scores, last, 0, 1)
  const own = add(w, times(w, column, 0), w.cast(sink, typeOf(scores)))
  const weights = softmaxed(w, joined(w, [scores, own], last), last)
  return part(w, weights, last, 0, -1)
}

/** Which keys causality shows: key `j` to the query of row `i` where `j <= i + past`; `[queries, keys]`. */
export function causal(w: Writer, queries: Size, keys: Size, past: Size): Made {
  const rows = w.reshape(counted(w, past, addSizes(w, past, queries)), [-1, 1])
  return elementwise(w, 'LessOrEqual', counted(w, 0, keys), rows)
}

/** Sizes of masked scores. */
export interface MaskSizes {
  readonly batch: Dim
  readonly queries: Made
  readonly keys: Made
  readonly past: Size
}

/**
 * What a padding mask of com.microsoft adds to the scores: `filter` where a key is masked.
 * @param queries heads of queries
 * @param keys heads of all keys
 */
export function paddingAdded(w: Writer, mask: Made, filter: number, { batch, queries, keys, past }: MaskSizes): Made {
  const type = typeOf(queries)
  const rank = rankOf(mask)
  const isSeen = rank === 1 ? seenByLength(w, mask, batch, keys) : elementwise(w, 'Greater', mask, w.scalar('int32', 0))
  const own = elementwise(w, 'Where', isSeen, w.scalar(type, 0), w.scalar(type, filter))
  if (rank === 1) return unsqueezed(w, own, [1, 2])
  const total = sizeAt(w, keys, 2)
  if (rank === 4) {
    const rows = sizeList(w, [past, 0])
    return sliced(w, own, rows, sizeList(w, [addSizes(w, past, sizeAt(w, queries, 2)), total]), [2, 3])
  }
  const wide = unsqueezed(w, own, rank === 2 ? [1, 2] : [1])
  // A mask of the fresh keys alone hides none of the past.
  if (sameDim(dimsOf(wide)[3], dimsOf(keys)[2]) || past === 0) return wide
  return behind(w, wide, extremeSize(w, 'Max', subSizes(w, total, sizeAt(w, wide, 3)), 0))
}

/** Zeros for keys of the past before what is added to the others. */
function behind(w: Writer, added: Made, past: Size): Made {
  if (typeof past === 'number') return padded(w, added, 3, past, 0)
  const none = times(w, part(w, added, 3, 0, 1), 0)
  const shape = sizeList(w, [1, 1, 1, past])
  return joined(w, [expanded(w, none, shape), added], 3)
}

/** By lengths, or by ends and starts: `[batch, keys]`. */
function seenByLength(w: Writer, mask: Made, batch: Dim, keys: Made): Made {
  const [count] = dimsOf(mask)
  const columns = w.cast(counted(w, 0, sizeAt(w, keys, 2)), 'int32')
  const column = (list: Made): Made => w.reshape(list, [-1, 1])
  if (sameDim(count, batch)) return elementwise(w, 'Less', columns, column(mask))
  if (typeof count !== 'number' || typeof batch !== 'number')
    fail('unsupported-op', 'it is not known before the model runs whether the mask has lengths or ends and starts')
  const [ends, starts] = split(w, mask, 0, count > 2 * batch ? [batch, count - batch] : [batch, batch])
  const before = elementwise(w, 'Less', columns, column(ends))
  if (!sameDim(count, mulDims(batch, 2))) return before
  return elementwise(w, 'And', before, elementwise(w, 'GreaterOrEqual', columns, column(starts)))
}

/** Keys or values behind those of the past. */
export interface Extended {
  /** What is attended to. */
  readonly all: Made
  /** The cache with the fresh rows. */
  readonly present: Made
}

/**
 * Fresh rows behind those of the past, or, where a number of rows is kept, in its place in a buffer.
 * @param kept rows of the past that are valid; undefined: all
 */
export function behindPast(w: Writer, fresh: Made, past: Made | undefined, kept: Size | undefined): Extended {
  if (past === undefined) return { all: fresh, present: fresh }
  const before = w.cast(past, typeOf(fresh))
  if (kept === undefined) {
    const all = joined(w, [before, fresh], 2)
    return { all, present: all }
  }
  const first = part(w, before, 2, 0, kept)
  const rest = part(w, before, 2, addSizes(w, kept, sizeAt(w, fresh, 2)), 2 ** 31 - 1)
  const all = joined(w, [first, fresh], 2)
  return { all, present: joined(w, [all, rest], 2) }
}

/** Cosines and sines of the angles of each row, `[batch or 1, 1, rows, half]`. */
export interface Rotation {
  readonly cos: Made
  readonly sin: Made
  readonly half: number
  readonly interleaved: boolean
}

/** Heads whose pairs are rotated; elements beyond the pairs stay. */
export function rotated(w: Writer, heads: Made, { cos, sin, half, interleaved }: Rotation): Made {
  const size = sizeOf(heads)
  const last = rankOf(heads) - 1
  const [own, rest] = size > 2 * half ? split(w, heads, last, [2 * half, size - 2 * half]) : [heads]
  const type = typeOf(heads)
  const [c, s] = [w.cast(cos, type), w.cast(sin, type)]
  let [a, b] = interleaved ? [] : split(w, own, last, [half, half])
  if (interleaved) {
    const pairs = w.reshape(own, [0, 0, 0, half, 2])
    ;[a, b] = [0, 1].map(at => w.reshape(part(w, pairs, 4, at, at + 1), [0, 0, 0, half]))
  }
  const turned = [sub(w, mul(w, a, c), mul(w, b, s)), add(w, mul(w, b, c), mul(w, a, s))]
  const joinedPairs = interleaved ? w.reshape(stacked(w, turned, 4), [0, 0, 0, 2 * half]) : joined(w, turned, last)
  return rest === undefined ? joinedPairs : joined(w, [joinedPairs, rest], last)
}
