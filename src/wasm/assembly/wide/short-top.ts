import { storeTransposed } from '../transpose4'

/**
 * The best elements of each of many short lines along the middle axis of [outer][size][inner], best first: both the
 * elements and their positions. As many lines as a vector has lanes are looked at side by side, each element of which
 * moves the worse ones down by a place without a branch. A block is what there is for an outer index.
 */
@unmanaged
export class ShortTopArguments {
  x: usize
  /** Positions, [outer][k][inner]; behind them the elements, from the byte `values` on. */
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
  inner: u32
}

/** Bytes of an item of lines side by side: their keys, and their positions. */
const ITEM: usize = 32
/** Vectors of lines that are read together where lines lie side by side: for the most part, a cache line. */
const TOGETHER: u32 = 4

/** @param scratch for the best items, then for the keys of all elements */
export function shortTop(args: ShortTopArguments, scratch: usize, from: u32, to: u32): void {
  if (args.width == 1) linesOf<i8, i32>(args, scratch, from, to)
  else if (args.width == 2) linesOf<i16, i32>(args, scratch, from, to)
  else if (args.width == 4) linesOf<i32, i32>(args, scratch, from, to)
  else linesOf<i64, i64>(args, scratch, from, to)
}

/** Lines of elements `T`, whose keys are `K`. */
// @ts-ignore: decorator
@inline
function linesOf<T, K>(args: ShortTopArguments, scratch: usize, from: u32, to: u32): void {
  const lanes: u32 = 16 / sizeof<K>()
  const inner = args.inner
  const row = <usize>inner * sizeof<T>()
  const bytes = args.size * row
  const keys = scratch + args.k * ITEM
  const length = (<usize>args.size) << 4
  if (inner == 1) {
    for (let line = from; line < to; line += lanes) {
      const x = args.x + line * bytes
      // Behind the last line it takes the place of those that are not there.
      const last = min(lanes, to - line) - 1
      gather<T, K>(x, bytes, last, row, args.size, keys)
      selectOf<T, K>(args, scratch, keys, x, bytes, last, line * args.k, args.k)
    }
    return
  }
  for (let outer = from; outer < to; outer++) {
    const first = args.x + outer * bytes
    const place = outer * args.k * inner
    for (let line: u32 = 0; line < inner;) {
      const x = first + line * sizeof<T>()
      const whole = min((inner - line) / lanes, TOGETHER)
      if (whole == 0) {
        const last = inner - line - 1
        gather<T, K>(x, sizeof<T>(), last, row, args.size, keys)
        selectOf<T, K>(args, scratch, keys, x, sizeof<T>(), last, place + line, 1)
        break
      }
      copyRows<T, K>(x, row, args.size, whole, keys)
      for (let i: u32 = 0; i < whole; i++, line += lanes)
        selectOf<T, K>(
          args,
          scratch,
          keys + i * length,
          first + line * sizeof<T>(),
          sizeof<T>(),
          lanes - 1,
          place + line,
          1
        )
    }
  }
}

/** Rows of so many vectors of elements, as vectors of integers, those of each place one behind the other. */
// @ts-ignore: decorator
@inline
function copyRows<T, K>(x: usize, row: usize, size: u32, vectors: u32, to: usize): void {
  const length = (<usize>size) << 4
  const step = (16 / sizeof<K>()) * sizeof<T>()
  for (let n: u32 = 0; n < size; n++, x += row, to += 16) {
    let at = to
    for (let p = x, end = x + vectors * step; p < end; p += step, at += length) {
      if (sizeof<T>() == 1) v128.store(at, i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v128.load32_zero(p))))
      else v128.store(at, sizeof<T>() == 2 ? v128.load16x4_s(p) : v128.load(p))
    }
  }
}

/** Elements of lines that are `apart` bytes apart, of which the one numbered `last` stands for those behind it. */
// @ts-ignore: decorator
@inline
function gather<T, K>(x: usize, apart: usize, last: u32, row: usize, size: u32, to: usize): void {
  if (sizeof<K>() == 8) pairUp(x, x + last * apart, row, size, to)
  else sideBySide<T>(x, min(1, last) * apart, min(2, last) * apart, last * apart, row, size, to)
}

/**
 * Writes the best of lines whose elements are in `keys`.
 * @param next places between the first results of lines
 */
function selectOf<T, K>(
  args: ShortTopArguments,
  items: usize,
  keys: usize,
  x: usize,
  apart: usize,
  last: u32,
  first: u32,
  next: u32
): void {
  toKeys<T, K>(args, keys)
  choose<K>(args, items, keys)
  for (let lane: u32 = 0; lane <= last; lane++)
    write<T>(args, items + 16 + lane * sizeof<K>(), x + lane * apart, first + lane * next)
}

/** Elements of two lines as vectors; `row` bytes lie between those of a line. */
// @ts-ignore: decorator
@inline
function pairUp(a: usize, b: usize, row: usize, size: u32, to: usize): void {
  for (let n: u32 = 0; n < size; n++, a += row, b += row, to += 16)
    v128.store(to, v128.load64_lane(b, v128.load64_zero(a), 1))
}

/** Elements of four lines, which begin so many bytes behind the first one, as vectors of 32-bit integers. */
// @ts-ignore: decorator
@inline
function sideBySide<T>(x: usize, b: usize, c: usize, d: usize, row: usize, size: u32, to: usize): void {
  let n: u32 = 0
  if (sizeof<T>() == 4 && row == 4) {
    for (; n + 4 <= size; n += 4, to += 64, x += 16)
      storeTransposed(v128.load(x), v128.load(x + b), v128.load(x + c), v128.load(x + d), to, 16)
  }
  for (; n < size; n++, to += 16, x += row) {
    store<i32>(to, load<T>(x))
    store<i32>(to, load<T>(x + b), 4)
    store<i32>(to, load<T>(x + c), 8)
    store<i32>(to, load<T>(x + d), 12)
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

/** Writes the items of a line, whose positions are ITEM bytes apart, from the place `n` on. */
// @ts-ignore: decorator
@inline
function write<T>(args: ShortTopArguments, positions: usize, x: usize, n: u32): void {
  const inner = args.inner
  const row = <usize>inner * sizeof<T>()
  const values = args.y + args.values
  for (const end = positions + args.k * ITEM; positions < end; n += inner, positions += ITEM) {
    const position = load<u32>(positions)
    if (args.indexWidth == 8) store<u64>(args.y + ((<usize>n) << 3), position)
    else store<u32>(args.y + ((<usize>n) << 2), position)
    store<T>(values + n * sizeof<T>(), load<T>(x + position * row))
  }
}
