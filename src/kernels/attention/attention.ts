import { changeLine, softmaxLineWith } from '../core/lines.ts'
import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix, rowsFrom, transposed } from '../matrix/gemm.ts'
import { headOf, type Heads } from './heads.ts'

/** Keys `[from, to)` of a head. */
export type Keys = readonly [from: number, to: number]

/** One head of attention, `weights(q kᵀ) v`. */
export interface Head {
  /** Number of queries, the rows of `q` and `out`. */
  readonly queries: number
  /** Number of keys, the rows of `k` and `v`. */
  readonly keys: number
  /** Columns of `q` and `k`. */
  readonly depth: number
  /** Columns of `v` and `out`. */
  readonly width: number
  readonly q: Matrix
  readonly k: Matrix
  readonly v: Matrix
  readonly out: Matrix
  /** The keys that query `row` may have weights for; all when left out. Products with others are not computed. */
  seen?(row: number): Keys
  /** Replaces the products of query `row` with the keys from `from` on by the weights of their values, in place. */
  weigh(row: number, scores: Float64Array, from: number): void
}

/** Scores that are held at once: half a megabyte. */
const MAX_SCORES = 1 << 16
/** Nanoseconds that weighing one score takes. */
const WEIGH_COST = COST.element + COST.transcendental

/** `out += weights(q kᵀ) v`, for a block of queries at a time, so that memory does not grow with their number. */
export function* attend(head: Head, pace: Pace): Generator<void> {
  const { queries, keys, depth, width, q, k, v, out } = head
  const rows = Math.max(1, Math.min(queries, Math.max(4, Math.floor(MAX_SCORES / Math.max(1, keys)))))
  const block = doubles(rows * keys)
  for (let first = 0; first < queries; first += rows) {
    const count = Math.min(rows, queries - first)
    const [from, to] = seenBy(head, first, first + count)
    const seen = to - from
    block.fill(0, 0, count * seen)
    yield* gemm(count, seen, depth, rowsFrom(q, first), transposed(rowsFrom(k, from)), matrix(block, 0, seen), pace)
    for (let row = 0; row < count; row++) {
      head.weigh(first + row, block.subarray(row * seen, (row + 1) * seen), from)
      if (pace.isDue(seen * WEIGH_COST + COST.allocation)) yield
    }
    yield* gemm(count, width, seen, matrix(block, 0, seen), rowsFrom(v, from), rowsFrom(out, first), pace)
  }
}

/** The keys between the first and the last that any of the queries `[first, end)` may see. */
function seenBy(head: Head, first: number, end: number): Keys {
  if (!head.seen) return [0, head.keys]
  let [from, to] = [head.keys, 0]
  for (let row = first; row < end; row++) {
    const [start, stop] = head.seen(row)
    if (start >= stop) continue
    from = Math.min(from, start)
    to = Math.max(to, stop)
  }
  return from < to ? [from, to] : [0, 0]
}

/** Softmax of the scores in place; those at -Infinity get the weight 0. Where all are at -Infinity, so do all. */
export function maskedSoftmax(scores: Float64Array, sink = -Infinity): void {
  let seen = 0
  while (seen < scores.length && scores[seen] === -Infinity) seen++
  if (seen < scores.length || sink !== -Infinity) changeLine(softmaxLineWith(sink), scores)
  else scores.fill(0)
}

/** A stage of the scores of one query: scaled products, also after softcap, also with the bias, the weights. */
export type Stage = 'products' | 'capped' | 'biased' | 'weights'

/** How the scores of one head become weights, in the order of the members. */
export interface Weighing {
  readonly factor: number
  /** Scores become `softcap * tanh(score / softcap)`; 0: they stay. */
  readonly softcap?: number
  /** Adds to the scores of query `row` with the keys from `from` on; -Infinity hides a key. */
  addBias?(row: number, scores: Float64Array, from: number): void
  /** The keys that query `row` may see; all when left out. */
  seen?(row: number): Keys
  /** Score of one more key that takes its share of the weights and has no value. */
  readonly sink?: number
  /** Is shown the scores of query `row` with all keys after each stage. */
  show?(stage: Stage, row: number, scores: Float64Array): void
}

/** Attention of the queries of all heads of a batch over keys and values, which several heads may share in groups. */
export interface Attention {
  readonly batches: number
  readonly q: Heads
  readonly k: Heads
  readonly v: Heads
  /** Where results are added. */
  readonly out: Heads
  /** How the scores of a head of the queries become weights. */
  weighing(batch: number, head: number): Weighing
}

/** `out += weights(q kᵀ) v` for every head. A query that sees no key gives zeros. */
export function* attendHeads({ batches, q, k, v, out, weighing }: Attention, pace: Pace): Generator<void> {
  for (let batch = 0; batch < batches; batch++) {
    for (let head = 0; head < q.count; head++) {
      const shared = Math.floor((head * k.count) / q.count)
      const how = weighing(batch, head)
      yield* attend(
        {
          queries: q.length,
          keys: k.length,
          depth: q.size,
          width: v.size,
          q: headOf(q, batch, head),
          k: headOf(k, batch, shared),
          v: headOf(v, batch, shared),
          out: headOf(out, batch, head),
          ...(how.seen && !how.show && { seen: how.seen }),
          weigh: weigher(how)
        },
        pace
      )
    }
  }
}

function weigher(how: Weighing): Head['weigh'] {
  const { factor, softcap = 0, sink } = how
  return (row, scores, from) => {
    const [start, stop] = how.seen?.(row) ?? [from, from + scores.length]
    const [first, end] = [Math.max(0, start - from), Math.max(0, Math.min(scores.length, stop - from))]
    const view = how.show ? scores : scores.subarray(first, Math.max(first, end))
    for (let j = 0; j < view.length; j++) view[j] *= factor
    how.show?.('products', row, scores)
    if (softcap !== 0) for (let j = 0; j < view.length; j++) view[j] = softcap * Math.tanh(view[j] / softcap)
    how.show?.('capped', row, scores)
    how.addBias?.(row, view, how.show ? from : from + first)
    scores.fill(-Infinity, 0, first)
    scores.fill(-Infinity, Math.max(first, end))
    how.show?.('biased', row, scores)
    maskedSoftmax(scores, sink)
    how.show?.('weights', row, scores)
  }
}
