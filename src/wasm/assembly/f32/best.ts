import { loadApart } from './simd'

/**
 * Position of the largest or smallest float of each line along an axis. NaN wins against every number. A block is a
 * line where elements of a line lie side by side, else sixteen lines that do.
 */
@unmanaged
export class BestArguments {
  /** [outer][size][inner]. */
  x: usize
  /** [outer][inner], int64. */
  y: usize
  size: u32
  inner: u32
  /** -2^31 where the smallest is wanted, else 0: changes signs. */
  flip: i32
  /** Whether of equal elements the last one is taken. */
  last: u32
}

/** Lines of a block where they lie side by side: those of a cache line. */
const TOGETHER: u32 = 16
/** Elements of a line up to which four lines at once take less time than one by vectors. */
const SHORT: u32 = 32

export function best(args: BestArguments, from: u32, to: u32): void {
  const size = args.size
  const inner = args.inner
  const flip = i32x4.splat(args.flip)
  if (inner == 1) {
    let i = from
    if (size <= SHORT) {
      for (; i + 4 <= to; i += 4)
        bestOfLines(args.x + ((<usize>i * size) << 2), size, flip, args.last != 0, args.y + ((<usize>i) << 3))
    }
    for (; i < to; i++)
      store<i64>(args.y + ((<usize>i) << 3), bestOfLine(args.x + ((<usize>i * size) << 2), size, flip, args.last != 0))
    return
  }
  const across = (inner + TOGETHER - 1) / TOGETHER
  for (let i = from; i < to; i++) {
    const outer = i / across
    const first = (i % across) * TOGETHER
    const x = args.x + ((<usize>outer * size * inner + first) << 2)
    const y = args.y + ((<usize>outer * inner + first) << 3)
    const count = min(TOGETHER, inner - first)
    let at: u32 = 0
    for (; at + 4 <= count; at += 4) bestOfFour(x + (at << 2), size, inner << 2, flip, args.last != 0, y + (at << 3))
    if (at < count) bestOfFew(x + (at << 2), size, inner << 2, count - at, flip, args.last != 0, y + (at << 3))
  }
}

/** Where `key` takes the place of the best: it is larger, or NaN while the best is none, or equal and the last wins. */
// @ts-ignore: decorator
@inline
function wins(key: v128, sofar: v128, last: bool): v128 {
  const isNan = f32x4.ne(key, key)
  if (last) return v128.or(isNan, f32x4.ge(key, sofar))
  return v128.or(v128.and(isNan, f32x4.eq(sofar, sofar)), f32x4.gt(key, sofar))
}

/** Four lines side by side; rows are `step` bytes apart. */
function bestOfFour(x: usize, size: u32, step: usize, flip: v128, last: bool, y: usize): void {
  let sofar = v128.xor(v128.load(x), flip)
  let at = i32x4.splat(0)
  for (let i: u32 = 1; i < size; i++) {
    x += step
    const key = v128.xor(v128.load(x), flip)
    const mask = wins(key, sofar, last)
    sofar = v128.bitselect(key, sofar, mask)
    at = v128.bitselect(i32x4.splat(i), at, mask)
  }
  v128.store(y, i64x2.extend_low_i32x4_s(at))
  v128.store(y, i64x2.extend_high_i32x4_s(at), 16)
}

/**
 * One to three lines side by side, which are the last ones of their rows: up to the last row, elements of the next one
 * fill the other lanes.
 */
function bestOfFew(x: usize, size: u32, step: usize, count: u32, flip: v128, last: bool, y: usize): void {
  let at = i32x4.splat(0)
  if (size > 1) {
    let sofar = v128.xor(v128.load(x), flip)
    for (let i: u32 = 1; i < size; i++) {
      x += step
      const key = v128.xor(i + 1 < size ? v128.load(x) : loadFew(x, count), flip)
      const mask = wins(key, sofar, last)
      sofar = v128.bitselect(key, sofar, mask)
      at = v128.bitselect(i32x4.splat(i), at, mask)
    }
  }
  store<i64>(y, i32x4.extract_lane(at, 0))
  if (count > 1) store<i64>(y, i32x4.extract_lane(at, 1), 8)
  if (count > 2) store<i64>(y, i32x4.extract_lane(at, 2), 16)
}

// @ts-ignore: decorator
@inline
function loadFew(x: usize, count: u32): v128 {
  if (count == 1) return v128.load32_zero(x)
  return count == 2 ? v128.load64_zero(x) : v128.load32_lane(x + 8, v128.load64_zero(x), 2)
}

/** Four short lines one behind the other. */
function bestOfLines(x: usize, size: u32, flip: v128, last: bool, y: usize): void {
  const step = (<usize>size) << 2
  let sofar = v128.xor(loadApart(x, step), flip)
  let at = i32x4.splat(0)
  for (let i: u32 = 1; i < size; i++) {
    x += 4
    const key = v128.xor(loadApart(x, step), flip)
    const mask = wins(key, sofar, last)
    sofar = v128.bitselect(key, sofar, mask)
    at = v128.bitselect(i32x4.splat(i), at, mask)
  }
  v128.store(y, i64x2.extend_low_i32x4_s(at))
  v128.store(y, i64x2.extend_high_i32x4_s(at), 16)
}

function bestOfOne(x: usize, size: u32, step: usize, flip: i32, last: bool): i64 {
  let sofar = reinterpret<f32>(load<i32>(x) ^ flip)
  let at: u32 = 0
  for (let i: u32 = 1; i < size; i++) {
    x += step
    const key = reinterpret<f32>(load<i32>(x) ^ flip)
    const isNan = key != key
    if (last ? isNan || key >= sofar : key > sofar || (isNan && sofar == sofar)) {
      sofar = key
      at = i
    }
  }
  return at
}

/** A line whose elements lie side by side: the best number first, then where it stands. */
function bestOfLine(x: usize, size: u32, flip: v128, last: bool): i64 {
  const whole = size & ~15
  if (whole == 0) return bestOfOne(x, size, 4, i32x4.extract_lane(flip, 0), last)
  // Four of them, so that a maximum need not wait for the one before. The maximum with NaN is NaN.
  let a = v128.xor(v128.load(x), flip)
  let b = v128.xor(v128.load(x, 16), flip)
  let c = v128.xor(v128.load(x, 32), flip)
  let d = v128.xor(v128.load(x, 48), flip)
  for (let i: u32 = 16; i < whole; i += 16) {
    const at = x + (i << 2)
    a = f32x4.max(a, v128.xor(v128.load(at), flip))
    b = f32x4.max(b, v128.xor(v128.load(at, 16), flip))
    c = f32x4.max(c, v128.xor(v128.load(at, 32), flip))
    d = f32x4.max(d, v128.xor(v128.load(at, 48), flip))
  }
  a = f32x4.max(f32x4.max(a, b), f32x4.max(c, d))
  let largest = max(
    max(f32x4.extract_lane(a, 0), f32x4.extract_lane(a, 1)),
    max(f32x4.extract_lane(a, 2), f32x4.extract_lane(a, 3))
  )
  const sign = i32x4.extract_lane(flip, 0)
  for (let i = whole; i < size; i++) largest = max(largest, reinterpret<f32>(load<i32>(x + (i << 2)) ^ sign))
  return last ? lastPlace(x, size, sign, largest) : firstPlace(x, size, flip, largest)
}

// @ts-ignore: decorator
@inline
function isAt(x: usize, sign: i32, largest: f32): bool {
  const key = reinterpret<f32>(load<i32>(x) ^ sign)
  return key == largest || (key != key && largest != largest)
}

function firstPlace(x: usize, size: u32, flip: v128, largest: f32): i64 {
  const wanted = f32x4.splat(largest)
  const sign = i32x4.extract_lane(flip, 0)
  let i: u32 = 0
  if (largest == largest)
    while (i + 4 <= size && !v128.any_true(f32x4.eq(v128.xor(v128.load(x + (i << 2)), flip), wanted))) i += 4
  while (i < size && !isAt(x + (i << 2), sign, largest)) i++
  return i
}

function lastPlace(x: usize, size: u32, sign: i32, largest: f32): i64 {
  let i = size - 1
  while (i > 0 && !isAt(x + (i << 2), sign, largest)) i--
  return i
}
