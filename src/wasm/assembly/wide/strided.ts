import { firstOffset, secondOffset, unravel } from '../loops'
/** Lines of elements that lie some bytes apart, forwards or backwards, or that are one element, side by side. */
@unmanaged
export class StridedArguments {
  x: usize
  y: usize
  /** Bytes of an element. */
  width: u32
  /** Elements of a line, and bytes from one to the next in x. */
  count: u32
  step: i32
  /** Bytes from x to the first element. */
  start: u32
  /** Loops over lines, the innermost first; they follow: size, bytes that x and y move by, three words each. */
  rank: u32
}

/** Copies lines `from … to - 1`, counted over all loops. */
export function copyStrided(args: StridedArguments, from: u32, to: u32): void {
  switch (args.width) {
    case 1:
      return copyOf<u8>(args, from, to)
    case 2:
      return copyOf<u16>(args, from, to)
    case 4:
      return copyOf<u32>(args, from, to)
    default:
      return copyOf<u64>(args, from, to)
  }
}

// @ts-ignore: decorator
@inline
function copyOf<T>(args: StridedArguments, from: u32, to: u32): void {
  const loops = changetype<usize>(args) + offsetof<StridedArguments>()
  const bytes = <usize>args.count * sizeof<T>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    const x = args.x + args.start + firstOffset
    const y = args.y + secondOffset
    if (args.step == 0) fill<T>(x, y, y + bytes)
    else if (args.step == -(<i32>sizeof<T>())) turn<T>(x, y, y + bytes)
    else pick<T>(x, args.step, y, y + bytes)
  }
}

/** One element many times. */
// @ts-ignore: decorator
@inline
function fill<T>(x: usize, y: usize, end: usize): void {
  const v = sizeof<T>() == 8 ? v128.load64_splat(x) : sizeof<T>() == 4 ? v128.load32_splat(x) : narrowSplat<T>(x)
  const one = load<T>(x)
  for (const vectors = end - ((end - y) & 15); y < vectors; y += 16) v128.store(y, v)
  for (; y < end; y += sizeof<T>()) store<T>(y, one)
}

// @ts-ignore: decorator
@inline
function narrowSplat<T>(x: usize): v128 {
  return sizeof<T>() == 2 ? v128.load16_splat(x) : v128.load8_splat(x)
}

/** Neighbours in the other order. */
// @ts-ignore: decorator
@inline
function turn<T>(x: usize, y: usize, end: usize): void {
  for (const vectors = end - ((end - y) & 15); y < vectors; y += 16, x -= 16) {
    v128.store(y, turned<T>(v128.load(x - 16 + sizeof<T>())))
  }
  for (; y < end; y += sizeof<T>(), x -= sizeof<T>()) store<T>(y, load<T>(x))
}

// @ts-ignore: decorator
@inline
function turned<T>(v: v128): v128 {
  if (sizeof<T>() == 8) return i64x2.shuffle(v, v, 1, 0)
  if (sizeof<T>() == 4) return i32x4.shuffle(v, v, 3, 2, 1, 0)
  if (sizeof<T>() == 2) return i16x8.shuffle(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
  return i8x16.shuffle(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

// @ts-ignore: decorator
@inline
function pick<T>(x: usize, step: i32, y: usize, end: usize): void {
  for (const fours = end - ((end - y) & (4 * sizeof<T>() - 1)); y < fours; y += 4 * sizeof<T>(), x += 4 * step) {
    store<T>(y, load<T>(x))
    store<T>(y, load<T>(x + step), sizeof<T>())
    store<T>(y, load<T>(x + 2 * step), 2 * sizeof<T>())
    store<T>(y, load<T>(x + 3 * step), 3 * sizeof<T>())
  }
  for (; y < end; y += sizeof<T>(), x += step) store<T>(y, load<T>(x))
}
