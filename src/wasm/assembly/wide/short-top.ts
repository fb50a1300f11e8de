import { storeTransposed } from '../transpose4'

/**
 * The best elements of each of many short lines, best first: both the elements and their positions. As many lines as a
 * vector has lanes are looked at side by side, each element of which moves the worse ones down by a place without a
 * branch. A block is a line.
 */
@unmanaged
export class ShortTopArguments {
  x: usize
  /** Positions, of all lines; behind them the elements, from the byte `values` on. */
  y: usize
  size: u32
  k: u32
  /** Bytes of an element, and of a position. */
  width: u32
  indexWidth: u32
  /** The bits of infinity; 0 of integers. */
  infinity: i64
  /** Bits of integers that are flipped, so that signed numbers are compared and the largest one is wanted. */
  flip: i64
  values: u32
  /** Of floats: whether the lowest are the best, and whether NaN is better than every number, else it is worse. */
  lowest: u32
  nanFirst: u32
}

/** Bytes of an item of lines side by side: their keys, and their positions. */
const ITEM: usize = 32

/** @param scratch for the best items, then for the keys of all elements */
export function shortTop(args: ShortTopArguments, scratch: usize, from: u32, to: u32): void {
  if (args.width == 1) linesOf<i8, i32>(args, scratch, from, to)
  else if (args.width == 2) linesOf<i16, i32>(args, scratch, from, to)
  else if (args.width == 4) linesOf<i32, i32>(args, scratch, from, to)
  else linesOf<i64, i64>(args, scratch, from, to)
}

/** Lines of elements `T`, whose keys are `K`. */
function linesOf<T, K>(args: ShortTopArguments, scratch: usize, from: u32, to: u32): void {
  const lanes: u32 = 16 / sizeof<K>()
  const bytes = <usize>args.size * sizeof<T>()
  const keys = scratch + args.k * ITEM
  for (let line = from; line < to; line += lanes) {
    const x = args.x + line * bytes
    // Behind the last line it takes the place of those that are not there.
    const last = min(lanes, to - line) - 1
    if (sizeof<K>() == 8) pairUp(x, x + last * bytes, args.size, keys)
    else sideBySide<T>(x, x + min(1, last) * bytes, x + min(2, last) * bytes, x + last * bytes, args.size, keys)
    toKeys<T, K>(args, keys)
    choose<K>(args, scratch, keys)
    for (let lane: u32 = 0; lane <= last; lane++)
      write<T>(args, scratch + 16 + lane * sizeof<K>(), x + lane * bytes, (line + lane) * args.k)
  }
}

/** Elements of two lines as vectors. */
// @ts-ignore: decorator
@inline
function pairUp(a: usize, b: usize, size: u32, to: usize): void {
  for (let n: u32 = 0; n < size; n++, a += 8, b += 8, to += 16)
    v128.store(to, v128.load64_lane(b, v128.load64_zero(a), 1))
}

/** Elements of four lines as vectors of 32-bit integers. */
// @ts-ignore: decorator
@inline
function sideBySide<T>(a: usize, b: usize, c: usize, d: usize, size: u32, to: usize): void {
  let n: u32 = 0
  if (sizeof<T>() == 4) {
    for (; n + 4 <= size; n += 4, to += 64) {
      const at = (<usize>n) << 2
      storeTransposed(v128.load(a + at), v128.load(b + at), v128.load(c + at), v128.load(d + at), to, 16)
    }
  }
  for (; n < size; n++, to += 16) {
    const at = <usize>n * sizeof<T>()
    store<i32>(to, load<T>(a + at))
    store<i32>(to, load<T>(b + at), 4)
    store<i32>(to, load<T>(c + at), 8)
    store<i32>(to, load<T>(d + at), 12)
  }
}

/** Makes of elements, which are as wide as their keys, the keys, higher for a better element. */
// @ts-ignore: decorator
@inline
function toKeys<T, K>(args: ShortTopArguments, keys: usize): void {
  const end = keys + ((<usize>args.size) << 4)
  if (args.infinity == 0) {
    const flip = v128.splat<K>(<K>(<T>args.flip))
    if (args.flip != 0) for (let p = keys; p < end; p += 16) v128.store(p, v128.xor(v128.load(p), flip))
    return
  }
  const infinity = v128.splat<K>(<K>args.infinity)
  const all = v128.splat<K>(<K>~((<i64>-1) << (sizeof<T>() * 8 - 1)))
  const down = v128.splat<K>(args.lowest ? -1 : 0)
  const least = (<K>1) << (<K>(sizeof<K>() * 8 - 1))
  const nan = v128.splat<K>(args.nanFirst ? ~least : least)
  for (let p = keys; p < end; p += 16) {
    const v = v128.load(p)
    const magnitude = v128.and(v, all)
    // Both zeros have the key 0.
    const sign = v128.xor(v128.gt<K>(v128.splat<K>(0), v), down)
    const key = v128.sub<K>(v128.xor(magnitude, sign), sign)
    v128.store(p, v128.bitselect(nan, key, v128.gt<K>(magnitude, infinity)))
  }
}

/** Puts the best items of lines side by side in their order. */
// @ts-ignore: decorator
@inline
function choose<K>(args: ShortTopArguments, items: usize, keys: usize): void {
  const size = args.size
  const end = items + args.k * ITEM
  let filled = items
  for (let n: u32 = 0; n < size; n++, keys += 16) {
    const own = v128.load(keys)
    let key = own
    let position = v128.splat<K>(<K>n)
    if (filled == end && !v128.any_true(v128.gt<K>(own, v128.load(end - ITEM)))) continue
    for (let p = items; p < filled; p += ITEM) {
      const other = v128.load(p)
      const place = v128.load(p, 16)
      // From the first item on that the element is better than, each moves down: the one that it meets is its equal at
      // best, which is why the element itself is compared.
      const isBetter = v128.gt<K>(own, other)
      if (sizeof<K>() == 4) {
        v128.store(p, i32x4.max_s(key, other))
        key = i32x4.min_s(key, other)
      } else {
        const change = v128.and(v128.xor(key, other), isBetter)
        v128.store(p, v128.xor(other, change))
        key = v128.xor(key, change)
      }
      const change = v128.and(v128.xor(position, place), isBetter)
      v128.store(p, v128.xor(place, change), 16)
      position = v128.xor(position, change)
    }
    if (filled == end) continue
    v128.store(filled, key)
    v128.store(filled, position, 16)
    filled += ITEM
  }
}

/** Writes the items of a line, whose positions are ITEM bytes apart. */
// @ts-ignore: decorator
@inline
function write<T>(args: ShortTopArguments, positions: usize, x: usize, first: u32): void {
  const values = args.y + args.values
  for (let n = first, end = first + args.k; n < end; n++, positions += ITEM) {
    const position = load<u32>(positions)
    if (args.indexWidth == 8) store<u64>(args.y + ((<usize>n) << 3), position)
    else store<u32>(args.y + ((<usize>n) << 2), position)
    store<T>(values + n * sizeof<T>(), load<T>(x + position * sizeof<T>()))
  }
}
