import { AttentionArguments, BIASED, CAPPED, PRODUCTS, WEIGHTS } from './attention-arguments'
import { weighShown } from './attention-shown'
import { EDGE } from './gemm'
import { exponential, exponentialsBy } from './exponential'
import { fma, highestLane, splat, sumOf } from './simd'
import { capSpan } from './tanh'

/**
 * {@link attendPanels} for few queries: keys and values are read where they lie, since packing them would cost more.
 */
export function attendRows(
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
  // Highest score so far and sum of weights of each row, then scores.
  const states = scratch + EDGE
  const scores = states + ((<usize>rows) << 3)
  const step = (<usize>args.chunk) << 2
  const shownStep = (<usize>args.keys) << 2
  for (let row: u32 = 0; row < rows; row++) {
    f32.store(states + (row << 3), sink)
    f32.store(states + (row << 3), sumOfSink(sink), 4)
  }
  for (let start = from; start < keys; start += args.chunk) {
    const count = min(args.chunk, keys - start)
    scoreRows(args, q, k + <usize>start * args.kRow, scores, step, rows, count)
    for (let row: u32 = 0; row < rows; row++) {
      const s = scores + row * step
      const maskRow = mask + row * args.maskRow
      const to = shown + row * shownStep + ((<usize>start) << 2)
      finishScores(args, s, maskRow, further + row * args.furtherRow, start, count, <i32>(first + row), to)
      weigh(s, count, states + (row << 3), start == from ? 0 : y + row * args.yRow, args.width)
    }
    addRows(args, scores, step, v + <usize>start * args.vRow, y, rows, count, start > from)
  }
  for (let row: u32 = 0; row < rows; row++) {
    const state = states + (row << 3)
    if (args.stage == WEIGHTS) weighShown(shown + row * shownStep, keys, f32.load(state), f32.load(state, 4))
    divideRow(args, y + row * args.yRow, f32.load(state, 4), from >= keys)
  }
}

/** e^(sink - sink): 1, 0 where there is no sink, which -Infinity says, and NaN where the weights are NaN. */
// @ts-ignore: decorator
@inline
export function sumOfSink(sink: f32): f32 {
  return sink == -Infinity ? 0 : 1 + (sink - sink)
}

/** Scores of a chunk of keys: each is a sum along a key where it lies. */
function scoreRows(
  args: AttentionArguments,
  q: usize,
  k: usize,
  scores: usize,
  step: usize,
  rows: u32,
  count: u32
): void {
  const bytes = (<usize>args.depth) << 2
  const whole = bytes & ~31
  for (let row: u32 = 0; row < rows; row++, q += args.qRow, scores += step) {
    let key = k
    for (let j: u32 = 0; j < count; j++, key += args.kRow) {
      let a = splat(0)
      let b = a
      let at: usize = 0
      for (; at < whole; at += 32) {
        a = fma(a, v128.load(q + at), v128.load(key + at))
        b = fma(b, v128.load(q + at, 16), v128.load(key + at, 16))
      }
      let sum = sumOf(f32x4.add(a, b))
      for (; at < bytes; at += 4) sum += f32.load(q + at) * f32.load(key + at)
      f32.store(scores + ((<usize>j) << 2), sum)
    }
  }
}

/**
 * Scales the scores of a row and hides keys by -Infinity. What lies between `count` and a multiple of four is hidden.
 * @param shown where scores go that are shown
 */
function finishScores(
  args: AttentionArguments,
  s: usize,
  mask: usize,
  further: usize,
  start: u32,
  count: u32,
  row: i32,
  shown: usize
): void {
  const bytes = (<usize>count) << 2
  const end = s + bytes
  const padded = s + ((bytes + 15) & ~15)
  const scale = splat(args.scale)
  for (let at = s; at < padded; at += 16) v128.store(at, f32x4.mul(v128.load(at), scale))
  if (args.stage == PRODUCTS) memory.copy(shown, s, bytes)
  if (args.softcap != 0) capSpan(s, padded - s, args.softcap)
  if (args.stage == CAPPED) memory.copy(shown, s, bytes)
  addMask(args, args.maskKind, s, end, mask + <usize>start * args.maskKey, args.maskKey)
  addMask(args, args.furtherKind, s, end, further + <usize>start * args.furtherKey, args.furtherKey)
  if (args.isCausal) {
    const seen = max<i32>(0, min<i32>(<i32>count, row + args.offset + 1 - <i32>start))
    for (let at = s + ((<usize>seen) << 2); at < end; at += 4) f32.store(at, -Infinity)
  }
  if (args.isWindowed) {
    const hidden = max<i32>(0, min<i32>(<i32>count, row + args.before - <i32>start))
    for (let at = s; at < s + ((<usize>hidden) << 2); at += 4) f32.store(at, -Infinity)
  }
  if (args.stage >= BIASED) memory.copy(shown, s, bytes)
  for (let at = end; at < padded; at += 4) f32.store(at, -Infinity)
}

function addMask(args: AttentionArguments, kind: u32, s: usize, end: usize, mask: usize, step: usize): void {
  if (kind == 0) return
  let at = s
  if (kind == 1) {
    if (step == 4) {
      for (; at + 16 <= end; at += 16, mask += 16) v128.store(at, f32x4.add(v128.load(at), v128.load(mask)))
    }
    for (; at < end; at += 4, mask += step) f32.store(at, f32.load(at) + f32.load(mask))
    return
  }
  const hides = kind == 3
  for (; at < end; at += 4, mask += step) if ((load<u8>(mask) != 0) == hides) f32.store(at, args.hidden)
}

/**
 * Scores of a chunk become weights, e^(score - highest so far). Where the highest has risen, the sum of weights and the
 * row y of results so far are scaled down.
 * @param y 0: there are none yet
 */
function weigh(s: usize, count: u32, state: usize, y: usize, width: u32): void {
  const padded = s + ((((<usize>count) << 2) + 15) & ~15)
  const before = f32.load(state)
  // NaN is passed over here, and becomes a weight below.
  const highest = max<f32>(before, highestLane(s, padded - s))
  // Where no key has been seen, -Infinity - -Infinity would be NaN.
  const base = splat(highest == -Infinity ? 0 : highest)
  let sum: f32 = s == padded ? 0 : sumOf(exponentialsBy(16, s, s, padded - s, base))
  if (highest != before && before != -Infinity) {
    const factor = exponential(splat(before - highest))
    if (y != 0) scaleRow(y, width, factor)
    f32.store(state, f32.load(state, 4) * f32x4.extract_lane(factor, 0), 4)
  }
  sum += f32.load(state, 4)
  f32.store(state, highest)
  f32.store(state, sum, 4)
}

/** Adds the values of a chunk by their weights to y: sixteen columns at a time, then four, then one. */
function addRows(
  args: AttentionArguments,
  weights: usize,
  step: usize,
  v: usize,
  y: usize,
  rows: u32,
  count: u32,
  add: bool
): void {
  const bytes = (<usize>args.width) << 2
  const end = weights + ((<usize>count) << 2)
  for (let row: u32 = 0; row < rows; row++, weights += step, y += args.yRow) {
    let at: usize = 0
    const last = end + row * step
    for (; at + 64 <= bytes; at += 64) {
      let a = add ? v128.load(y + at) : splat(0)
      let b = add ? v128.load(y + at, 16) : splat(0)
      let c = add ? v128.load(y + at, 32) : splat(0)
      let d = add ? v128.load(y + at, 48) : splat(0)
      let value = v + at
      for (let w = weights; w < last; w += 4, value += args.vRow) {
        const x = v128.load32_splat(w)
        a = fma(a, x, v128.load(value))
        b = fma(b, x, v128.load(value, 16))
        c = fma(c, x, v128.load(value, 32))
        d = fma(d, x, v128.load(value, 48))
      }
      v128.store(y + at, a)
      v128.store(y + at, b, 16)
      v128.store(y + at, c, 32)
      v128.store(y + at, d, 48)
    }
    for (; at + 16 <= bytes; at += 16) {
      let a = add ? v128.load(y + at) : splat(0)
      let value = v + at
      for (let w = weights; w < last; w += 4, value += args.vRow) a = fma(a, v128.load32_splat(w), v128.load(value))
      v128.store(y + at, a)
    }
    for (; at < bytes; at += 4) {
      let a: f32 = add ? f32.load(y + at) : 0
      let value = v + at
      for (let w = weights; w < last; w += 4, value += args.vRow) a += f32.load(w) * f32.load(value)
      f32.store(y + at, a)
    }
  }
}

/** Divides a row by the sum of its weights; a row that saw no key is filled with `unseen`. */
function divideRow(args: AttentionArguments, y: usize, sum: f32, isUnwritten: bool): void {
  if (isUnwritten || sum == 0 || (args.isSafe && sum != sum)) {
    const bytes = (<usize>args.width) << 2
    for (let at: usize = 0; at < bytes; at += 4) f32.store(y + at, args.unseen)
    return
  }
  scaleRow(y, args.width, splat(1 / sum))
}

function scaleRow(y: usize, width: u32, factor: v128): void {
  const end = y + ((<usize>width) << 2)
  for (; y + 16 <= end; y += 16) v128.store(y, f32x4.mul(v128.load(y), factor))
  for (; y < end; y += 4) f32.store(y, f32.load(y) * f32x4.extract_lane(factor, 0))
}
