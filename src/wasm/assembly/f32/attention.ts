import { transpose4 } from '../transpose4'
import { AttentionArguments, BIASED, CAPPED, PRODUCTS, WEIGHTS } from './attention-arguments'
import { maskPanel } from './attention-mask'
import { attendRows, sumOfSink } from './attention-rows'
import { showPanel, weighShown } from './attention-shown'
import { FACTOR, MAGIC, polynomial, powerOf2 } from './exponential'
import { EDGE, rowsByPanel } from './gemm'
import { packPanel, packStrips } from './panels'
import { hidden, splat } from './simd'
import { capSpan } from './tanh'

/** Rows below which keys and values are read where they lie: packing them would cost more than it gains. */
const FEW_ROWS: u32 = 4
/** Bytes of what is known of the eight queries of a panel: the highest score so far and the sum of weights of each. */
const STATE: usize = 64

/**
 * Computes blocks `from … to - 1` of `rows` queries, counted over those of a head, then over heads, then over batches.
 * Keys come in chunks: the weights of a chunk are e^(score - highest so far), and when a higher score comes, what has
 * been summed is scaled down (online softmax). So a block needs the same memory for any number of keys.
 */
export function attention(args: AttentionArguments, scratch: usize, from: u32, to: u32): void {
  const perHead = (args.queries + args.rows - 1) / args.rows
  for (let block = from; block < to; block++) {
    const at = block / perHead
    const first = (block % perHead) * args.rows
    attendBlock(args, scratch, at, first, min(args.rows, args.queries - first))
  }
}

/** @param at number of the head, counted over those of all batches */
function attendBlock(args: AttentionArguments, scratch: usize, at: u32, first: u32, rows: u32): void {
  const batch = <usize>(at / args.heads)
  const head = <usize>(at % args.heads)
  const shared = head / args.group
  const q = args.q + batch * args.qBatch + head * args.qHead + <usize>first * args.qRow
  const k = args.k + batch * args.kBatch + shared * args.kHead
  const v = args.v + batch * args.vBatch + shared * args.vHead
  const y = args.y + batch * args.yBatch + head * args.yHead + <usize>first * args.yRow
  const mask = args.mask + batch * args.maskBatch + head * args.maskHead + <usize>first * args.maskRow
  const further = args.further + batch * args.furtherBatch + head * args.furtherHead + <usize>first * args.furtherRow
  let keys = args.keys
  // No row of the block sees a key after the position of the last one.
  // Where scores are shown, those of hidden keys are, too.
  const isShown = args.stage != 0
  if (args.isCausal && !isShown) keys = <u32>max<i32>(0, min<i32>(<i32>keys, args.offset + <i32>(first + rows)))
  let from: u32 = 0
  // Nor a key before the window of the first one.
  if (args.isWindowed && !isShown) from = <u32>max<i32>(0, min<i32>(<i32>keys, args.before + <i32>first))
  const sink: f32 = args.hasSinks ? f32.load(args.sinks + (head << 2)) : -Infinity
  const shown = args.shown + (((<usize>at * args.queries + first) * args.keys) << 2)
  if (rows < FEW_ROWS && args.kElement == 4)
    attendRows(args, scratch, q, k, v, mask, further, sink, shown, y, first, rows, from, keys)
  else attendPanels(args, scratch, q, k, v, mask, further, sink, shown, y, first, rows, from, keys)
}

/**
 * Eight queries are a panel of columns. Keys and columns of values, in strips of four, are multiplied by it, so scores
 * [keys][8], weights and results [width][8] are panels as well, and what is done to scores is done to vectors.
 */
function attendPanels(
  args: AttentionArguments,
  scratch: usize,
  q: usize,
  k: usize,
  v: usize,
  mask: usize,
  further: usize,
  sink: f32,
  shown: usize,
  y: usize,
  first: u32,
  rows: u32,
  from: u32,
  keys: u32
): void {
  const depth = <usize>args.depth
  const panels = (<usize>rows + 7) >> 3
  const width = (args.width + 3) & ~3
  const states = scratch + EDGE
  const queries = states + panels * STATE
  const results = queries + panels * (depth << 5)
  const scores = results + panels * ((<usize>width) << 5)
  const keyStrips = scores + ((<usize>args.chunk) << 5)
  const valueStrips = keyStrips + ((<usize>args.chunk * depth) << 2)
  const shownStep = (<usize>args.keys) << 2
  packQueries(args, q, rows, sink, states, queries)
  for (let start = from; start < keys; start += args.chunk) {
    const count = min(args.chunk, keys - start)
    packStrips(k + <usize>start * args.kRow, args.kRow, args.kElement, count, depth, keyStrips)
    packStrips(v + <usize>start * args.vRow, 4, args.vRow, args.width, count, valueStrips)
    for (let p: usize = 0; p < panels; p++) {
      const row = (<u32>p) << 3
      const seen = args.offset + <i32>(first + row)
      // A panel from which all keys of the chunk are hidden stays as it is.
      if (args.isCausal && start > from && seen + 7 < <i32>start && args.stage == 0) continue
      const state = states + p * STATE
      const result = results + p * ((<usize>width) << 5)
      rowsByPanel(
        keyStrips,
        4,
        16,
        depth << 4,
        queries + p * (depth << 5),
        scores,
        32,
        (count + 3) & ~3,
        8,
        depth,
        false,
        scratch
      )
      const lanes = min(8, rows - row)
      const to = shown + row * shownStep + ((<usize>start) << 2)
      if (args.stage == PRODUCTS) showPanel(scores, count, to, shownStep, lanes)
      if (args.softcap != 0) capSpan(scores, (<usize>count) << 5, args.softcap)
      if (args.stage == CAPPED) showPanel(scores, count, to, shownStep, lanes)
      maskPanel(
        args.maskKind,
        mask + row * args.maskRow + <usize>start * args.maskKey,
        args.maskRow,
        args.maskKey,
        args.hidden,
        scores,
        count,
        lanes
      )
      maskPanel(
        args.furtherKind,
        further + row * args.furtherRow + <usize>start * args.furtherKey,
        args.furtherRow,
        args.furtherKey,
        args.hidden,
        scores,
        count,
        lanes
      )
      if (args.isCausal) hideLater(scores, start, count, seen)
      if (args.isWindowed) hideEarlier(scores, start, count, args.before + <i32>(first + row))
      if (args.stage >= BIASED) showPanel(scores, count, to, shownStep, lanes)
      weigh(scores, count, state, start == from ? 0 : result, width)
      rowsByPanel(valueStrips, 4, 16, (<usize>count) << 4, scores, result, 32, width, 8, count, start > from, scratch)
    }
  }
  for (let row: u32 = 0; row < rows; row += 8) {
    const p = <usize>(row >> 3)
    const state = states + p * STATE
    const lanes = min(8, rows - row)
    if (args.stage == WEIGHTS) {
      for (let j: usize = 0; j < <usize>lanes; j++) {
        const one = state + (j << 2)
        weighShown(shown + (<usize>row + j) * shownStep, keys, f32.load(one), f32.load(one, 32))
      }
    }
    writeResults(args, results + p * ((<usize>width) << 5), state, y + row * args.yRow, lanes, from >= keys)
  }
}

/** Queries in panels, scaled; none has seen a key yet but the sink. */
function packQueries(args: AttentionArguments, q: usize, rows: u32, sink: f32, states: usize, to: usize): void {
  const bytes = (<usize>args.depth) << 5
  const scale = splat(args.scale)
  for (let row: u32 = 0; row < rows; row += 8, states += STATE) {
    v128.store(states, splat(sink))
    v128.store(states, splat(sink), 16)
    v128.store(states, splat(sumOfSink(sink)), 32)
    v128.store(states, splat(sumOfSink(sink)), 48)
    packPanel(q + row * args.qRow, 4, args.qRow, args.depth, min(8, rows - row), to)
    for (const end = to + bytes; to < end; to += 16) v128.store(to, f32x4.mul(v128.load(to), scale))
  }
}

/**
 * Hides keys that come later than a query by -Infinity in the scores [count][8] of a panel.
 * @param seen the last key that causality shows to the first query of the panel
 */
function hideLater(s: usize, start: u32, count: u32, seen: i32): void {
  const left = i32x4.add(i32x4(0, 1, 2, 3), i32x4.splat(seen))
  const right = i32x4.add(i32x4(4, 5, 6, 7), i32x4.splat(seen))
  const hidden = splat(-Infinity)
  for (let key = max<i32>(0, seen + 1 - <i32>start); key < <i32>count; key++) {
    const at = s + ((<usize>key) << 5)
    const position = i32x4.splat(<i32>start + key)
    v128.store(at, v128.bitselect(hidden, v128.load(at), i32x4.gt_s(position, left)))
    v128.store(at, v128.bitselect(hidden, v128.load(at, 16), i32x4.gt_s(position, right)), 16)
  }
}

/**
 * Hides keys that come before the window of a query by -Infinity in the scores [count][8] of a panel.
 * @param seen the first key that the window shows to the first query of the panel
 */
function hideEarlier(s: usize, start: u32, count: u32, seen: i32): void {
  const left = i32x4.add(i32x4(0, 1, 2, 3), i32x4.splat(seen))
  const right = i32x4.add(i32x4(4, 5, 6, 7), i32x4.splat(seen))
  const hidden = splat(-Infinity)
  const end = min<i32>(<i32>count, seen + 7 - <i32>start)
  for (let key: i32 = 0; key < end; key++) {
    const at = s + ((<usize>key) << 5)
    const position = i32x4.splat(<i32>start + key)
    v128.store(at, v128.bitselect(hidden, v128.load(at), i32x4.lt_s(position, left)))
    v128.store(at, v128.bitselect(hidden, v128.load(at, 16), i32x4.lt_s(position, right)), 16)
  }
}

/**
 * Scores of a panel become weights, e^(score - highest so far). Where the highest has risen, the sum of weights and the
 * results so far are scaled down.
 * @param y 0: there are none yet
 */
function weigh(s: usize, count: u32, state: usize, y: usize, width: u32): void {
  const end = s + ((<usize>count) << 5)
  const before0 = v128.load(state)
  const before1 = v128.load(state, 16)
  // NaN is passed over here, and becomes a weight below.
  let high0 = before0
  let high1 = before1
  for (let at = s; at < end; at += 32) {
    high0 = f32x4.pmax(high0, v128.load(at))
    high1 = f32x4.pmax(high1, v128.load(at, 16))
  }
  // Where no key has been seen, there is nothing to weigh, and -Infinity - -Infinity would be NaN.
  const none = splat(-Infinity)
  const base0 = v128.andnot(high0, f32x4.eq(high0, none))
  const base1 = v128.andnot(high1, f32x4.eq(high1, none))
  // Elements lie at multiples of four bytes.
  const zero = <i32>(s & 3)
  const lowest = hidden(LOWEST, zero)
  const magic = hidden(MAGIC, zero)
  const factor = hidden(FACTOR, zero)
  const one = hidden(1, zero)
  const c1 = hidden(C1, zero)
  const c2 = hidden(C2, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  let sum0 = splat(0)
  let sum1 = sum0
  do {
    const d0 = f32x4.sub(v128.load(s), base0)
    const d1 = f32x4.sub(v128.load(s, 16), base1)
    const e0 = shortExponential(d0, lowest, magic, factor, one, c1, c2, c3, c4, c5)
    const e1 = shortExponential(d1, lowest, magic, factor, one, c1, c2, c3, c4, c5)
    v128.store(s, e0)
    v128.store(s, e1, 16)
    sum0 = f32x4.add(sum0, e0)
    sum1 = f32x4.add(sum1, e1)
    s += 32
  } while (s < end)
  if (v128.any_true(v128.or(f32x4.ne(high0, before0), f32x4.ne(high1, before1)))) {
    const factor0 = shortExponential(f32x4.sub(before0, base0))
    const factor1 = shortExponential(f32x4.sub(before1, base1))
    const last: usize = y == 0 ? 0 : y + ((<usize>width) << 5)
    for (; y < last; y += 32) {
      v128.store(y, f32x4.mul(v128.load(y), factor0))
      v128.store(y, f32x4.mul(v128.load(y, 16), factor1), 16)
    }
    v128.store(state, f32x4.mul(v128.load(state, 32), factor0), 32)
    v128.store(state, f32x4.mul(v128.load(state, 48), factor1), 48)
  }
  v128.store(state, high0)
  v128.store(state, high1, 16)
  v128.store(state, f32x4.add(v128.load(state, 32), sum0), 32)
  v128.store(state, f32x4.add(v128.load(state, 48), sum1), 48)
}

// Of the polynomial of degree 5 for 2^r with |r| <= 1/2, which begins with 1.
const C1: f32 = 0.693146978
const C2: f32 = 0.240222421
const C3: f32 = 0.0555073375
const C4: f32 = 0.00967151272
const C5: f32 = 0.0013264726
/** From there on down n + 127 is 0, as is the number with these bits. */
const LOWEST: f32 = -127

/**
 * e^x for x <= 0, in fewer steps than ./exponential.ts: 2^n 2^r with |r| at most 1/2, where a polynomial errs by 1e-7,
 * and x log2(e) is rounded, which matters the less the smaller the result. What is below 2^-126 becomes 0. NaN stays
 * NaN, since it is not below the bound. A loop passes constants that it has made once.
 */
// @ts-ignore: decorator
@inline
function shortExponential(
  x: v128,
  lowest: v128 = splat(LOWEST),
  magic: v128 = splat(MAGIC),
  factor: v128 = splat(FACTOR),
  one: v128 = splat(1),
  c1: v128 = splat(C1),
  c2: v128 = splat(C2),
  c3: v128 = splat(C3),
  c4: v128 = splat(C4),
  c5: v128 = splat(C5)
): v128 {
  const c = f32x4.pmax(f32x4.mul(x, factor), lowest)
  const z = f32x4.add(c, magic)
  const r = f32x4.sub(c, f32x4.sub(z, magic))
  return f32x4.mul(polynomial(r, one, c1, c2, c3, c4, c5), powerOf2(z))
}

/**
 * Divides results [width][8] by the sums of weights, as rows of y; a query that saw no key gives `unseen`.
 * @param isUnwritten whether there are no results, since no query of the block sees any key
 */
function writeResults(
  args: AttentionArguments,
  results: usize,
  state: usize,
  y: usize,
  lanes: u32,
  isUnwritten: bool
): void {
  const unseen = splat(args.unseen)
  for (let lane: u32 = 0; lane < lanes; lane += 4, results += 16, state += 16, y += args.yRow << 2) {
    const sum = v128.load(state, 32)
    const factor = f32x4.div(splat(1), sum)
    // Sums are not negative: what is not greater than 0 is 0 or NaN.
    let isUnseen = args.isSafe ? v128.not(f32x4.gt(sum, splat(0))) : f32x4.eq(sum, splat(0))
    if (isUnwritten) isUnseen = i32x4.splat(-1)
    const end = results + ((<usize>args.width) << 5)
    for (let at = results; at < end; at += 32)
      v128.store(at, v128.bitselect(unseen, f32x4.mul(v128.load(at), factor), isUnseen))
    let at = results
    let to = y
    if (lanes - lane >= 4) for (; at + 128 <= end; at += 128, to += 16) transpose4(at, 32, to, args.yRow)
    const left = min<u32>(4, lanes - lane)
    for (; at < end; at += 32, to += 4)
      for (let j: usize = 0; j < left; j++) f32.store(to + j * args.yRow, f32.load(at + (j << 2)))
  }
}
