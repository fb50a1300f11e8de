import { orderOfLines } from '../int8/extremes'

/**
 * Position of the largest or smallest element of each line along the middle axis of [outer][size][inner]: of integers
 * and floats of 8 and 16 bits. NaN wins against every number. A block is a line, or lines that lie side by side. The
 * best element is looked for first, then where it stands: positions would not fit into its lanes.
 */
@unmanaged
export class NarrowBestArguments {
  x: usize
  /** [outer][inner], int64. */
  y: usize
  size: u32
  inner: u32
  /** Lines of a block. */
  together: u32
  /** 0 integers of 8 bits, 1 those of 16 bits, 2 float16, 3 bfloat16. */
  type: u32
  /** Bits of integers that are flipped, so that signed ones are compared; all bits where floats change signs. */
  flip: i32
  /** Whether of equal elements the last one is taken. */
  last: u32
}

/** From there on floats are no numbers; 0: elements are integers. */
let infinity: i32 = 0

export function narrowBest(args: NarrowBestArguments, from: u32, to: u32): void {
  infinity = args.type < 2 ? 0 : args.type == 2 ? 0x7c00 : 0x7f80
  if (args.type == 0) bestBlocks<i8>(args, from, to)
  else bestBlocks<i16>(args, from, to)
}

// @ts-ignore: decorator
@inline
function bestBlocks<T>(args: NarrowBestArguments, from: u32, to: u32): void {
  const inner = args.inner
  const size = args.size
  const last = args.last != 0
  const flip = v128.splat<T>(<T>args.flip)
  const lanes = <u32>(16 / sizeof<T>())
  const down = <usize>inner * sizeof<T>()
  if (inner == 1) {
    let x = args.x + <usize>from * size * sizeof<T>()
    let y = args.y + ((<usize>from) << 3)
    const stop = args.x + <usize>to * size * sizeof<T>()
    const end = args.y + ((<usize>to) << 3)
    if (size > 1 && size < lanes) {
      const together = (lanes - 1) / size + 1
      const order = orderOfLines(size, <u8>sizeof<T>())
      for (; y + 64 <= end && x + (size - 1) * sizeof<T>() + 16 <= stop; y += together << 3) {
        bestOfStarts<T>(last, x, size, flip, order, y)
        x += together * size * sizeof<T>()
      }
    }
    for (; y < end; y += 8, x += size * sizeof<T>()) store<i64>(y, bestOfLine<T>(last, x, size, flip))
    return
  }
  const across = (inner + args.together - 1) / args.together
  for (let block = from; block < to; block++) {
    const first = (block % across) * args.together
    const outer = <usize>(block / across)
    const x = args.x + (outer * size * inner + first) * sizeof<T>()
    const y = args.y + ((outer * inner + first) << 3)
    const count = min(args.together, inner - first)
    let at: u32 = 0
    for (; at + lanes <= count; at += lanes) bestOfLanes<T>(last, x + at * sizeof<T>(), size, down, flip, y + (at << 3))
    for (; at < count; at++) store<i64>(y + (at << 3), bestOfOne<T>(last, x + at * sizeof<T>(), size, down, flip))
  }
}

/** Elements as signed integers, of which the largest is wanted: floats are those of their magnitudes. */
// @ts-ignore: decorator
@inline
function keysOf<T>(v: v128, flip: v128): v128 {
  if (sizeof<T>() == 1 || infinity == 0) return v128.xor(v, flip)
  const magnitude = v128.and(v, i16x8.splat(0x7fff))
  const sign = v128.xor(i16x8.shr_s(v, 15), flip)
  const key = i16x8.sub(v128.xor(magnitude, sign), sign)
  return v128.bitselect(i16x8.splat(0x7fff), key, i16x8.gt_s(magnitude, i16x8.splat(<i16>infinity)))
}

// @ts-ignore: decorator
@inline
function keyAt<T>(x: usize, flip: v128): T {
  return v128.extract_lane<T>(keysOf<T>(v128.load_splat<T>(x), flip), 0)
}

function bestOfOne<T>(last: bool, x: usize, size: u32, step: usize, flip: v128): u32 {
  let sofar = keyAt<T>(x, flip)
  let place: u32 = 0
  for (let i: u32 = 1; i < size; i++) {
    x += step
    const key = keyAt<T>(x, flip)
    if (last ? key < sofar : key <= sofar) continue
    sofar = key
    place = i
  }
  return place
}

/**
 * Short lines one behind the other, at most eight of which begin in a vector: for each lane, the place of the best of
 * the `size` elements from it on. Those of the lanes at which a line begins are written, and others behind them.
 */
// @ts-ignore: decorator
@inline
function bestOfStarts<T>(last: bool, x: usize, size: u32, flip: v128, order: v128, y: usize): void {
  let best = keysOf<T>(v128.load(x), flip)
  let places = i8x16.splat(0)
  for (let i: u32 = 1; i < size; i++) {
    const keys = keysOf<T>(v128.load(x + i * sizeof<T>()), flip)
    const wins = last ? v128.ge<T>(keys, best) : v128.gt<T>(keys, best)
    best = v128.max<T>(best, keys)
    places = v128.bitselect(v128.splat<T>(<T>i), places, wins)
  }
  places = v128.swizzle(places, order)
  if (sizeof<T>() == 1) places = i16x8.extend_low_i8x16_u(places)
  const low = i32x4.extend_low_i16x8_u(places)
  const high = i32x4.extend_high_i16x8_u(places)
  v128.store(y, i64x2.extend_low_i32x4_u(low))
  v128.store(y, i64x2.extend_high_i32x4_u(low), 16)
  v128.store(y, i64x2.extend_low_i32x4_u(high), 32)
  v128.store(y, i64x2.extend_high_i32x4_u(high), 48)
}

/** Lines side by side; rows are `step` bytes apart. */
// @ts-ignore: decorator
@inline
function bestOfLanes<T>(last: bool, x: usize, size: u32, step: usize, flip: v128, y: usize): void {
  let best = keysOf<T>(v128.load(x), flip)
  for (let i: u32 = 1, at = x + step; i < size; i++, at += step)
    best = v128.max<T>(best, keysOf<T>(v128.load(at), flip))
  // One bit for each line that has not been found.
  let open: i32 = (1 << (16 / sizeof<T>())) - 1
  for (let i: u32 = 0; open != 0; i++) {
    const row = last ? size - 1 - i : i
    const here = v128.bitmask<T>(v128.eq<T>(keysOf<T>(v128.load(x + row * step), flip), best))
    for (let found = here & open; found != 0; found &= found - 1) store<i64>(y + (ctz(found) << 3), <i64>row)
    open &= ~here
  }
}

// @ts-ignore: decorator
@inline
function bestOfLine<T>(last: bool, x: usize, size: u32, flip: v128): u32 {
  const lanes = <u32>(16 / sizeof<T>())
  const whole = size & ~(lanes - 1)
  if (whole == 0) return bestOfOne<T>(last, x, size, sizeof<T>(), flip)
  let best = keysOf<T>(v128.load(x), flip)
  let other = best
  let i = lanes
  for (; i + 2 * lanes <= whole; i += 2 * lanes) {
    best = v128.max<T>(best, keysOf<T>(v128.load(x + i * sizeof<T>()), flip))
    other = v128.max<T>(other, keysOf<T>(v128.load(x + i * sizeof<T>(), 16), flip))
  }
  if (i < whole) best = v128.max<T>(best, keysOf<T>(v128.load(x + i * sizeof<T>()), flip))
  best = v128.max<T>(best, other)
  for (i = whole; i < size; i++) best = v128.max<T>(best, v128.splat<T>(keyAt<T>(x + i * sizeof<T>(), flip)))
  // Each lane becomes the highest of all.
  best = v128.max<T>(best, i64x2.shuffle(best, best, 1, 0))
  best = v128.max<T>(best, i32x4.shuffle(best, best, 1, 0, 3, 2))
  best = v128.max<T>(best, i16x8.shuffle(best, best, 1, 0, 3, 2, 5, 4, 7, 6))
  if (sizeof<T>() == 1)
    best = v128.max<T>(best, i8x16.shuffle(best, best, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))
  const wanted = v128.extract_lane<T>(best, 0)
  if (last) for (i = size; i > whole; i--) if (keyAt<T>(x + (i - 1) * sizeof<T>(), flip) == wanted) return i - 1
  for (let n: u32 = 0; n < whole; n += lanes) {
    const start = last ? whole - lanes - n : n
    const here = v128.bitmask<T>(v128.eq<T>(keysOf<T>(v128.load(x + start * sizeof<T>()), flip), best))
    if (here != 0) return start + (last ? 31 - clz(here) : ctz(here))
  }
  for (i = whole; i < size - 1 && keyAt<T>(x + i * sizeof<T>(), flip) != wanted;) i++
  return i
}
