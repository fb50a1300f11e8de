/**
 * The best elements of each line along the middle axis of [outer][size][inner], best first or by position: any number
 * of them, of integers and of floats by their bits. A block is what there is for an outer index.
 */
@unmanaged
export class WideTopArguments {
  x: usize
  /** Positions along the axis, [outer][k][inner], int32. */
  y: usize
  size: u32
  inner: u32
  k: u32
  /** Bytes of an element. */
  width: u32
  /** The bits of infinity; 0 of integers. */
  infinity: i64
  /** Bits of integers that are flipped, so that signed numbers are compared and the largest one is wanted. */
  flip: i64
  /** Of floats: whether the lowest are the best, and whether NaN is better than every number, else it is worse. */
  lowest: u32
  nanFirst: u32
  byIndex: u32
  /**
   * Lines that are looked at together where they lie side by side: as many as a vector has lanes, or one. 0 where all
   * elements of a line are sorted, best first.
   */
  together: u32
}

/** Bytes of an item: a key as int64, higher for a better element, and a position. */
const ITEM: usize = 16

/** Bytes of the counters of a byte's values. */
const COUNTS: usize = 1024

/**
 * @param scratch for keys of a vector, then for the items of the lines that are looked at together; for counters of the
 *   values of each byte, then for two lists of the items of a line, where all of it are sorted
 */
export function wideTop(args: WideTopArguments, scratch: usize, from: u32, to: u32): void {
  if (args.width == 1) topOf<i8>(args, scratch, from, to)
  else if (args.width == 2) topOf<i16>(args, scratch, from, to)
  else if (args.width == 4) topOf<i32>(args, scratch, from, to)
  else topOf<i64>(args, scratch, from, to)
}

function topOf<T>(args: WideTopArguments, scratch: usize, from: u32, to: u32): void {
  const inner = args.inner
  const step = <usize>inner * sizeof<T>()
  const lanes: u32 = 16 / sizeof<T>()
  const heaps = scratch + 16
  for (let outer = from; outer < to; outer++) {
    const x = args.x + <usize>outer * args.size * step
    const y = args.y + ((<usize>(outer * args.k * inner)) << 2)
    let line: u32 = 0
    for (; args.together > 1 && line + lanes <= inner; line += lanes) {
      group<T>(args, scratch, x + line * sizeof<T>(), step)
      for (let lane: u32 = 0; lane < lanes; lane++) write(args, heaps + lane * args.k * ITEM, y + ((line + lane) << 2))
    }
    for (; line < inner; line++) {
      if (args.together == 0) {
        sort<T>(args, scratch, x + line * sizeof<T>(), step, y + (line << 2))
        continue
      }
      single<T>(args, scratch, x + line * sizeof<T>(), step)
      write(args, heaps, y + (line << 2))
    }
  }
}

/** Keys of a vector of elements. */
// @ts-ignore: decorator
@inline
function keysOf<T>(args: WideTopArguments, v: v128): v128 {
  if (sizeof<T>() == 1 || args.infinity == 0) return v128.xor(v, v128.splat<T>(<T>args.flip))
  const infinity = v128.splat<T>(<T>args.infinity)
  const magnitude = v128.and(v, v128.splat<T>(<T>~((<i64>1) << (sizeof<T>() * 8 - 1))))
  const sign = v128.gt<T>(v128.splat<T>(0), v)
  // Both zeros have the key 0.
  const key = v128.sub<T>(v128.xor(magnitude, sign), sign)
  const wanted = args.lowest ? v128.neg<T>(key) : key
  const least = (<T>1) << (<T>(sizeof<T>() * 8 - 1))
  const nan = v128.splat<T>(args.nanFirst ? ~least : least)
  return v128.bitselect(nan, wanted, v128.gt<T>(magnitude, infinity))
}

// @ts-ignore: decorator
@inline
function keyAt<T>(args: WideTopArguments, x: usize): i64 {
  const keys = keysOf<T>(args, v128.load_splat<T>(x))
  return <i64>v128.extract_lane<T>(keys, 0)
}

/** One line of elements `step` bytes apart. */
function single<T>(args: WideTopArguments, scratch: usize, x: usize, step: usize): void {
  const heap = scratch + 16
  const lanes: u32 = 16 / sizeof<T>()
  begin<T>(args, heap, x, step)
  let n = args.k
  let p = x + n * step
  if (step == sizeof<T>()) {
    let bound = v128.splat<T>(<T>load<i64>(heap))
    for (; n + lanes <= args.size; n += lanes, p += 16) {
      const keys = keysOf<T>(args, v128.load(p))
      let left = i8x16.bitmask(v128.gt<T>(keys, bound))
      if (left == 0) continue
      v128.store(scratch, keys)
      for (; left != 0; left = withoutFirst<T>(left)) {
        const at = <u32>ctz(left)
        take(heap, args.k, <i64>load<T>(scratch + at), n + at / sizeof<T>())
      }
      bound = v128.splat<T>(<T>load<i64>(heap))
    }
  }
  for (; n < args.size; n++, p += step) take(heap, args.k, keyAt<T>(args, p), n)
}

/** As many lines as a vector has lanes, whose elements lie side by side. */
function group<T>(args: WideTopArguments, scratch: usize, x: usize, step: usize): void {
  const lanes: u32 = 16 / sizeof<T>()
  const heapBytes = args.k * ITEM
  const heaps = scratch + 16
  for (let lane: u32 = 0; lane < lanes; lane++) {
    begin<T>(args, heaps + lane * heapBytes, x + lane * sizeof<T>(), step)
    store<T>(scratch + lane * sizeof<T>(), <T>load<i64>(heaps + lane * heapBytes))
  }
  let bound = v128.load(scratch)
  let p = x + args.k * step
  for (let n = args.k; n < args.size; n++, p += step) {
    let left = i8x16.bitmask(v128.gt<T>(keysOf<T>(args, v128.load(p)), bound))
    if (left == 0) continue
    for (; left != 0; left = withoutFirst<T>(left)) {
      const at = <u32>ctz(left)
      const heap = heaps + (at / sizeof<T>()) * heapBytes
      take(heap, args.k, keyAt<T>(args, p + at), n)
      store<T>(scratch + at, <T>load<i64>(heap))
    }
    bound = v128.load(scratch)
  }
}

/** A mask of bytes without its first element. */
// @ts-ignore: decorator
@inline
function withoutFirst<T>(mask: i32): i32 {
  for (let i: u32 = 0; i < sizeof<T>(); i++) mask &= mask - 1
  return mask
}

/** Makes a heap of the first elements of a line, with the worst one on top. */
// @ts-ignore: decorator
@inline
function begin<T>(args: WideTopArguments, heap: usize, x: usize, step: usize): void {
  for (let n: u32 = 0; n < args.k; n++, x += step) {
    store<i64>(heap + n * ITEM, keyAt<T>(args, x))
    store<i64>(heap + n * ITEM, n, 8)
  }
  build(heap, args.k)
}

function build(heap: usize, count: u32): void {
  for (let n = count >> 1; n > 0; n--) {
    const at = heap + <usize>(n - 1) * ITEM
    sink(heap, count, n - 1, load<i64>(at), load<i64>(at, 8))
  }
}

/** Whether an item is worse than another: of equal elements that behind the other one. */
// @ts-ignore: decorator
@inline
function isWorse(key: i64, position: i64, other: i64, otherPosition: i64): bool {
  return key < other || (key == other && position > otherPosition)
}

/** Puts an item at place `at` of a heap, or below, where better ones stand above worse ones. */
function sink(heap: usize, count: u32, at: u32, key: i64, position: i64): void {
  for (let child: u32 = 2 * at + 1; child < count; child = 2 * at + 1) {
    let p = heap + <usize>child * ITEM
    if (child + 1 < count && isWorse(load<i64>(p + ITEM), load<i64>(p + ITEM, 8), load<i64>(p), load<i64>(p, 8))) {
      child++
      p += ITEM
    }
    if (!isWorse(load<i64>(p), load<i64>(p, 8), key, position)) break
    store<i64>(heap + <usize>at * ITEM, load<i64>(p))
    store<i64>(heap + <usize>at * ITEM, load<i64>(p, 8), 8)
    at = child
  }
  store<i64>(heap + <usize>at * ITEM, key)
  store<i64>(heap + <usize>at * ITEM, position, 8)
}

/** Takes an element, which comes after all others, where it is better than the worst one. */
// @ts-ignore: decorator
@inline
function take(heap: usize, count: u32, key: i64, position: u32): void {
  if (key > load<i64>(heap)) sink(heap, count, 0, key, position)
}

/** Writes the positions of the items of a line, best first or by position. */
function write(args: WideTopArguments, heap: usize, y: usize): void {
  const k = args.k
  if (args.byIndex) {
    for (let n: u32 = 0; n < k; n++) store<i64>(heap + n * ITEM, -load<i64>(heap + n * ITEM, 8))
    build(heap, k)
  }
  // The worst one goes to the end, again and again.
  for (let n = k - 1; n > 0; n--) {
    const last = heap + <usize>n * ITEM
    const key = load<i64>(last)
    const position = load<i64>(last, 8)
    store<i64>(last, load<i64>(heap, 8), 8)
    sink(heap, n, 0, key, position)
  }
  const step = (<usize>args.inner) << 2
  for (let n: u32 = 0; n < k; n++, y += step) store<i32>(y, <i32>load<i64>(heap + n * ITEM, 8))
}

/** Bytes of the key of an item that is sorted, which its position follows, and of the item. */
// @ts-ignore: decorator
@inline
function keyBytes<T>(): usize {
  return sizeof<T>() == 8 ? 8 : 4
}

/**
 * Sorts all elements of a line by one byte of their keys after the other, the least significant one first, and writes
 * the positions of the best ones. A byte that all keys share is passed over.
 */
function sort<T>(args: WideTopArguments, scratch: usize, x: usize, step: usize, y: usize): void {
  const size = <usize>args.size
  const item = 2 * keyBytes<T>()
  const bytes = size * item
  let items = scratch + COUNTS * sizeof<T>()
  let sorted = items + bytes
  memory.fill(scratch, 0, COUNTS * sizeof<T>())
  for (let n: u32 = 0, p = items; n < args.size; n++, p += item, x += step) {
    // Unsigned, and lower for a better element.
    const key = keyAt<T>(args, x) ^ ~((<i64>-1) << (sizeof<T>() * 8 - 1))
    store<T>(p, <T>key)
    store<u32>(p + keyBytes<T>(), n)
    for (let byte: usize = 0; byte < sizeof<T>(); byte++) {
      const counter = scratch + byte * COUNTS + ((<usize>((key >> ((<i64>byte) << 3)) & 255)) << 2)
      store<u32>(counter, load<u32>(counter) + 1)
    }
  }
  for (let byte: usize = 0; byte < sizeof<T>(); byte++) {
    const counters = scratch + byte * COUNTS
    if (load<u32>(counters + ((<usize>load<u8>(items + byte)) << 2)) == args.size) continue
    let before: usize = sorted
    for (let p = counters, end = counters + COUNTS; p < end; p += 4) {
      const count = <usize>load<u32>(p)
      store<u32>(p, <u32>before)
      before += count * item
    }
    for (let p = items, end = items + bytes; p < end; p += item) {
      const counter = counters + ((<usize>load<u8>(p + byte)) << 2)
      const place = <usize>load<u32>(counter)
      store<u32>(counter, <u32>(place + item))
      if (sizeof<T>() == 8) v128.store(place, v128.load(p))
      else store<i64>(place, load<i64>(p))
    }
    const other = items
    items = sorted
    sorted = other
  }
  const down = (<usize>args.inner) << 2
  for (let n: u32 = 0; n < args.k; n++, items += item, y += down) store<i32>(y, load<i32>(items + keyBytes<T>()))
}
