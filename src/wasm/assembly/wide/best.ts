import { loadApart } from '../f32/simd'

/**
 * Position of the largest or smallest element of each line along the middle axis of [outer][size][inner]: of integers
 * of 32 and 64 bits and of float64. NaN wins against every number. A block is a line, or lines that lie side by side.
 */
@unmanaged
export class WideBestArguments {
  x: usize
  /** [outer][inner], int64. */
  y: usize
  size: u32
  inner: u32
  /** Lines of a block. */
  together: u32
  type: i32
  /** Bits that are flipped, so that signed numbers are compared and the largest one is wanted: low and high half. */
  flipLow: u32
  flipHigh: u32
  /** Whether of equal elements the last one is taken. */
  last: u32
}

const INT32: i32 = 0
const INT64: i32 = 1
/** Elements of a line up to which as many lines at once as a vector has lanes take less time than one by vectors. */
const SHORT: u32 = 32

/** @param scratch where the best of each lane and its position pass through */
export function wideBest(args: WideBestArguments, scratch: usize, from: u32, to: u32): void {
  switch (args.type) {
    case INT32:
      return bestOf<i32>(args, scratch, from, to)
    case INT64:
      return bestOf<i64>(args, scratch, from, to)
    default:
      return bestOf<f64>(args, scratch, from, to)
  }
}

function bestOf<T>(args: WideBestArguments, scratch: usize, from: u32, to: u32): void {
  if (args.last) bestBlocks<T>(true, args, scratch, from, to)
  else bestBlocks<T>(false, args, scratch, from, to)
}

// @ts-ignore: decorator
@inline
function bestBlocks<T>(last: bool, args: WideBestArguments, scratch: usize, from: u32, to: u32): void {
  const inner = args.inner
  const size = args.size
  const width = sizeof<T>()
  const bits = ((<i64>args.flipHigh) << 32) | args.flipLow
  const flip = width == 4 ? i32x4.splat(<i32>args.flipLow) : i64x2.splat(bits)
  const down = <usize>inner * width
  const across = (inner + args.together - 1) / args.together
  for (let block = from; block < to; block++) {
    const first = (block % across) * args.together
    const outer = <usize>(block / across)
    const x = args.x + (outer * size * inner + first) * width
    const y = args.y + ((outer * inner + first) << 3)
    if (inner == 1) {
      const lanes = <u32>(16 / width)
      if (size <= SHORT && block + lanes <= to) {
        walk<T>(last, x, size, width, size * width, indices<T>(false), 1, flip, scratch)
        for (let lane: u32 = 0; lane < lanes; lane++) store<i64>(y + (lane << 3), <i64>placeIn<T>(scratch, lane))
        block += lanes - 1
        continue
      }
      store<i64>(y, bestOfLine<T>(last, x, size, flip, scratch))
      continue
    }
    const count = min(args.together, inner - first)
    const lanes = <u32>(16 / width)
    let at: u32 = 0
    for (; at + lanes <= count; at += lanes) {
      walkDown<T>(last, x + at * width, size, down, flip, scratch)
      for (let lane: u32 = 0; lane < lanes; lane++) store<i64>(y + ((at + lane) << 3), <i64>placeIn<T>(scratch, lane))
    }
    if (at == count) continue
    // Up to the last row, elements of the next one fill the lanes behind the last lines.
    const own = x + at * width
    const end = size - 1
    if (end > 0) walkDown<T>(last, own, end, down, flip, scratch)
    for (let lane: u32 = 0; at < count; lane++, at++) {
      const key = keyAt<T>(own + end * down + lane * width, flip)
      const isLast = end == 0 || isBetter<T>(last, key, end, load<T>(scratch + lane * width), placeIn<T>(scratch, lane))
      store<i64>(y + (at << 3), <i64>(isLast ? end : placeIn<T>(scratch, lane)))
    }
  }
}

/** The positions that the lanes of a vector begin with. */
// @ts-ignore: decorator
@inline
function indices<T>(isLine: bool): v128 {
  if (!isLine) return i64x2.splat(0)
  return sizeof<T>() == 4 ? i32x4(0, 1, 2, 3) : i64x2(0, 1)
}

// @ts-ignore: decorator
@inline
function keyAt<T>(x: usize, flip: v128): T {
  const v = v128.xor(v128.load_splat<T>(x), flip)
  return v128.extract_lane<T>(v, 0)
}

// @ts-ignore: decorator
@inline
function placeIn<T>(scratch: usize, lane: u32): u32 {
  return load<u32>(scratch + 16 + lane * sizeof<T>())
}

/** Whether an element at one position comes before another at another position. */
// @ts-ignore: decorator
@inline
function isBetter<T>(last: bool, key: T, at: u32, other: T, otherAt: u32): bool {
  const isLater = last ? at > otherAt : at < otherAt
  if (isFloat<T>()) {
    const isNan = key != key
    if (isNan || other != other) return isNan && (other == other || isLater)
  }
  return key > other || (key == other && isLater)
}

/** Lanes where a key takes the place of the best so far, which stood before it. */
// @ts-ignore: decorator
@inline
function wins<T>(last: bool, key: v128, sofar: v128): v128 {
  if (!isFloat<T>()) return last ? v128.ge<T>(key, sofar) : v128.gt<T>(key, sofar)
  const isNan = f64x2.ne(key, key)
  if (last) return v128.or(isNan, f64x2.ge(key, sofar))
  return v128.or(v128.and(isNan, f64x2.eq(sofar, sofar)), f64x2.gt(key, sofar))
}

/**
 * The best of each lane over `count` vectors, `step` bytes apart, and its position are written to `scratch`.
 * @param apart bytes between the elements of a vector; 0 where they lie side by side
 * @param start positions of the first vector
 * @param by what positions grow by from vector to vector
 */
// @ts-ignore: decorator
@inline
function walk<T>(
  last: bool,
  x: usize,
  count: u32,
  step: usize,
  apart: usize,
  start: v128,
  by: i32,
  flip: v128,
  scratch: usize
): void {
  let sofar = v128.xor(loadLanes<T>(x, apart), flip)
  let best = start
  let place = start
  const next = sizeof<T>() == 4 ? i32x4.splat(by) : i64x2.splat(by)
  for (let i: u32 = 1; i < count; i++) {
    x += step
    place = sizeof<T>() == 4 ? i32x4.add(place, next) : i64x2.add(place, next)
    const key = v128.xor(loadLanes<T>(x, apart), flip)
    const mask = wins<T>(last, key, sofar)
    sofar = v128.bitselect(key, sofar, mask)
    best = v128.bitselect(place, best, mask)
  }
  v128.store(scratch, sofar)
  v128.store(scratch, best, 16)
}

/** {@link walk} over lines that lie side by side, in functions of their own, which keep what they need in registers. */
// @ts-ignore: decorator
@inline
function walkDown<T>(last: bool, x: usize, count: u32, step: usize, flip: v128, scratch: usize): void {
  if (last) lastDown<T>(x, count, step, flip, scratch)
  else firstDown<T>(x, count, step, flip, scratch)
}

function firstDown<T>(x: usize, count: u32, step: usize, flip: v128, scratch: usize): void {
  walk<T>(false, x, count, step, 0, indices<T>(false), 1, flip, scratch)
}

function lastDown<T>(x: usize, count: u32, step: usize, flip: v128, scratch: usize): void {
  walk<T>(true, x, count, step, 0, indices<T>(false), 1, flip, scratch)
}

// @ts-ignore: decorator
@inline
function loadLanes<T>(x: usize, apart: usize): v128 {
  if (apart == 0) return v128.load(x)
  if (sizeof<T>() == 8) return v128.load64_lane(x + apart, v128.load64_zero(x), 1)
  return loadApart(x, apart)
}

// @ts-ignore: decorator
@inline
function bestOfLine<T>(last: bool, x: usize, size: u32, flip: v128, scratch: usize): i64 {
  const lanes = <u32>(16 / sizeof<T>())
  const vectors = size / lanes
  let sofar = keyAt<T>(x, flip)
  let place: u32 = 0
  let rest: u32 = 1
  if (vectors > 0) {
    walk<T>(last, x, vectors, 16, 0, indices<T>(true), <i32>lanes, flip, scratch)
    sofar = load<T>(scratch)
    place = placeIn<T>(scratch, 0)
    for (let lane: u32 = 1; lane < lanes; lane++) {
      const key = load<T>(scratch + lane * sizeof<T>())
      const at = placeIn<T>(scratch, lane)
      if (!isBetter<T>(last, key, at, sofar, place)) continue
      sofar = key
      place = at
    }
    rest = vectors * lanes
  }
  for (; rest < size; rest++) {
    const key = keyAt<T>(x + <usize>rest * sizeof<T>(), flip)
    if (!isBetter<T>(last, key, rest, sofar, place)) continue
    sofar = key
    place = rest
  }
  return place
}
