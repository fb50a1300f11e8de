import { splat } from './simd'

/**
 * The best elements of each line along the middle axis of [outer][size][inner], best first or by position. A block is
 * what there is for an outer index.
 */
@unmanaged
export class TopArguments {
  x: usize
  /** Positions along the axis, [outer][k][inner]. */
  y: usize
  size: u32
  inner: u32
  k: u32
  /** Whether the lowest are the best. */
  lowest: u32
  /** Whether NaN is better than every number, else it is worse. */
  nanFirst: u32
  byIndex: u32
}

/** Bytes of the items of a line, of which there are sixteen at most. */
const LINE: usize = 128
/** Below the keys of all numbers. */
const BELOW_ALL: i64 = <i64>i32.MIN_VALUE
/** Lines that are looked at together. */
const TOGETHER: u32 = 4

/** @param scratch for the best items of four lines, and the elements that others must be better than */
export function topLines(args: TopArguments, scratch: usize, from: u32, to: u32): void {
  const step = (<usize>args.inner) << 2
  for (let outer = from; outer < to; outer++) {
    const x = args.x + <usize>outer * args.size * step
    const y = args.y + <usize>outer * args.k * step
    let line: u32 = 0
    for (; line + TOGETHER <= args.inner; line += TOGETHER) {
      group(args, scratch, x + (line << 2), step)
      for (let lane: u32 = 0; lane < TOGETHER; lane++) {
        write(args, scratch + lane * LINE, y + ((line + lane) << 2), step)
      }
    }
    for (; line < args.inner; line++) {
      single(args, scratch, x + (line << 2), step)
      write(args, scratch, y + (line << 2), step)
    }
  }
}

/** One line of elements `step` bytes apart. */
function single(args: TopArguments, items: usize, x: usize, step: usize): void {
  const k = args.k
  for (let n: u32 = 0; n < k; n++) insert(items, n, itemOf(args, load<i32>(x + n * step), n))
  let n = k
  let p = x + n * step
  if (step == 4) {
    let bound = splat(boundOf(args, items, x, step))
    for (; n + 16 <= args.size; n += 16, p += 64) {
      const a = passes(args, v128.load(p), bound)
      const b = passes(args, v128.load(p, 16), bound)
      const c = passes(args, v128.load(p, 32), bound)
      const d = passes(args, v128.load(p, 48), bound)
      const ab = i16x8.narrow_i32x4_s(a, b)
      const cd = i16x8.narrow_i32x4_s(c, d)
      let left = i8x16.bitmask(i8x16.narrow_i16x8_s(ab, cd)) ^ 0xffff
      if (left == 0) continue
      for (; left != 0; left &= left - 1) {
        const i = <u32>ctz(left)
        take(args, items, load<i32>(p + (i << 2)), n + i)
      }
      bound = splat(boundOf(args, items, x, step))
    }
  }
  for (; n < args.size; n++, p += step) take(args, items, load<i32>(p), n)
}

/** Four lines whose elements lie side by side, `step` bytes before the next ones. */
function group(args: TopArguments, scratch: usize, x: usize, step: usize): void {
  const k = args.k
  const bounds = scratch + TOGETHER * LINE
  for (let lane: u32 = 0; lane < TOGETHER; lane++) {
    const items = scratch + lane * LINE
    const own = x + (lane << 2)
    for (let n: u32 = 0; n < k; n++) insert(items, n, itemOf(args, load<i32>(own + n * step), n))
    store<f32>(bounds + (lane << 2), boundOf(args, items, own, step))
  }
  let bound = v128.load(bounds)
  let p = x + k * step
  for (let n = k; n < args.size; n++, p += step) {
    const passed = passes(args, v128.load(p), bound)
    if (i32x4.all_true(passed)) continue
    const mask = i32x4.bitmask(passed)
    for (let lane: u32 = 0; lane < TOGETHER; lane++) {
      if ((mask >> lane) & 1) continue
      const items = scratch + lane * LINE
      take(args, items, load<i32>(p + (lane << 2)), n)
      store<f32>(bounds + (lane << 2), boundOf(args, items, x + (lane << 2), step))
    }
    bound = v128.load(bounds)
  }
}

/** All bits of elements that come after the last item, whose element is `bound`; of those with NaN none. */
// @ts-ignore: decorator
@inline
function passes(args: TopArguments, v: v128, bound: v128): v128 {
  return args.lowest ? f32x4.ge(v, bound) : f32x4.le(v, bound)
}

/** The element of the last item. */
// @ts-ignore: decorator
@inline
function boundOf(args: TopArguments, items: usize, x: usize, step: usize): f32 {
  return load<f32>(x + <usize>positionIn(items + ((args.k - 1) << 3)) * step)
}

/**
 * An element above its position, as one number: lower for a better element, and of equal ones for a lower position.
 * Keys are of 33 bits, that of NaN included, and positions of 31.
 */
// @ts-ignore: decorator
@inline
function itemOf(args: TopArguments, bits: i32, position: u32): i64 {
  const magnitude = bits & 0x7fffffff
  const sign = bits >> 31
  let key = <i64>((magnitude ^ sign) - sign)
  if (magnitude > 0x7f800000) key = args.nanFirst ? -BELOW_ALL : BELOW_ALL
  else if (args.lowest) key = -key
  return <i64>position - (key << 31)
}

/** The lowest 31 bits of an item. */
// @ts-ignore: decorator
@inline
function positionIn(item: usize): u32 {
  return load<u32>(item) & 0x7fffffff
}

/** Takes an element where it comes before the last item. */
// @ts-ignore: decorator
@inline
function take(args: TopArguments, items: usize, bits: i32, position: u32): void {
  const item = itemOf(args, bits, position)
  if (item < load<i64>(items + ((args.k - 1) << 3))) insert(items, args.k - 1, item)
}

/** Puts an item in its place among `count` ones that ascend; what lies behind them is written over. */
function insert(items: usize, count: u32, item: i64): void {
  let at = items + (count << 3)
  for (; at > items && load<i64>(at - 8) > item; at -= 8) store<i64>(at, load<i64>(at - 8))
  store<i64>(at, item)
}

/** Writes the positions of the items of a line. */
function write(args: TopArguments, items: usize, y: usize, step: usize): void {
  if (args.byIndex) for (let j: u32 = 0; j < args.k; j++) insert(items, j, <i64>positionIn(items + (j << 3)))
  for (let j: u32 = 0; j < args.k; j++) store<u32>(y + j * step, positionIn(items + (j << 3)))
}
