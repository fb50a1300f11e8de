/** The highest or lowest integer along the middle axis of [outer][n][inner]. */
@unmanaged
export class ExtremesArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** Columns of a block. */
  panel: u32
  /** log2 of the bytes of an element. */
  shift: u32
  isMax: u32
  isUnsigned: u32
}

/**
 * Reduces blocks `from … to - 1`: panels of columns, those of an outer index side by side. Elements are turned into
 * signed integers of which the highest is taken: their bits are flipped but for the sign, or all, or only the sign.
 */
export function extremes(args: ExtremesArguments, from: u32, to: u32): void {
  switch (args.shift) {
    case 0:
      return extremesOf<i8>(args, from, to)
    case 1:
      return extremesOf<i16>(args, from, to)
    case 2:
      return extremesOf<i32>(args, from, to)
    default:
      return extremesOf<i64>(args, from, to)
  }
}

/** The order that moves the first elements of the lines of `n`, of `width` bytes each, to the begin of a vector. */
export function orderOfLines(n: usize, width: u8): v128 {
  const bytes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  const starts = v128.and(bytes, i8x16.splat(-(<i8>width)))
  let order = v128.and(bytes, i8x16.splat(<i8>(width - 1)))
  for (; n > 0; n--) order = i8x16.add_sat_u(order, starts)
  return order
}

// @ts-ignore: decorator
@inline
function higher<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 1) return i8x16.max_s(a, b)
  if (sizeof<T>() == 2) return i16x8.max_s(a, b)
  if (sizeof<T>() == 4) return i32x4.max_s(a, b)
  return v128.bitselect(a, b, i64x2.gt_s(a, b))
}

// @ts-ignore: decorator
@inline
function extremesOf<T>(args: ExtremesArguments, from: u32, to: u32): void {
  const lowest = (<T>1) << (<T>(sizeof<T>() * 8 - 1))
  const flip = (args.isUnsigned != 0 ? lowest : <T>0) ^ (args.isMax != 0 ? <T>0 : <T>-1)
  const flips = v128.splat<T>(flip)
  const n = <usize>args.n
  const inner = <usize>args.inner
  if (inner == 1) {
    const stop = args.x + to * n * sizeof<T>()
    let x = args.x + from * n * sizeof<T>()
    let y = args.y + from * sizeof<T>()
    const end = args.y + to * sizeof<T>()
    if (n * sizeof<T>() < 16) {
      // Each lane becomes the highest of the `n` from it on. Those at which a line begins are results.
      const together = 15 / sizeof<T>() / n + 1
      const order = orderOfLines(n, <u8>sizeof<T>())
      for (; y + 16 <= end && x + (n - 1) * sizeof<T>() + 16 <= stop; y += together * sizeof<T>()) {
        let best = v128.xor(v128.load(x), flips)
        for (let i: usize = 1; i < n; i++) best = higher<T>(best, v128.xor(v128.load(x + i * sizeof<T>()), flips))
        v128.store(y, v128.swizzle(v128.xor(best, flips), order))
        x += together * n * sizeof<T>()
      }
    }
    for (; y < end; y += sizeof<T>(), x += n * sizeof<T>()) line<T>(x, n, flip, flips, y)
    return
  }
  const panels = (args.inner + args.panel - 1) / args.panel
  for (let block = from; block < to; block++) {
    const outer = <usize>(block / panels)
    const first = <usize>((block % panels) * args.panel)
    const x = args.x + (outer * n * inner + first) * sizeof<T>()
    const y = args.y + (outer * inner + first) * sizeof<T>()
    columns<T>(x, n, inner * sizeof<T>(), min<usize>(args.panel, inner - first) * sizeof<T>(), flip, flips, y)
  }
}

/**
 * One result for `n` elements side by side. The last vector takes in elements again where the line is no multiple of
 * it.
 */
// @ts-ignore: decorator
@inline
function line<T>(x: usize, n: usize, flip: T, flips: v128, y: usize): void {
  const end = x + n * sizeof<T>()
  if (end - x >= 16) {
    let a = v128.xor(v128.load(x), flips)
    let b = v128.xor(v128.load(end - 16), flips)
    for (x += 16; x + 32 <= end; x += 32) {
      a = higher<T>(a, v128.xor(v128.load(x), flips))
      b = higher<T>(b, v128.xor(v128.load(x, 16), flips))
    }
    if (x + 16 < end) b = higher<T>(b, v128.xor(v128.load(x), flips))
    store<T>(y, highestLane<T>(higher<T>(a, b)) ^ flip)
  } else {
    let best = load<T>(x) ^ flip
    for (; x < end; x += sizeof<T>()) best = max<T>(best, load<T>(x) ^ flip)
    store<T>(y, best ^ flip)
  }
}

// @ts-ignore: decorator
@inline
function highestLane<T>(a: v128): T {
  a = higher<T>(a, i8x16.shuffle(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  if (sizeof<T>() < 8) a = higher<T>(a, i8x16.shuffle(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
  if (sizeof<T>() < 4) a = higher<T>(a, i8x16.shuffle(a, a, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13))
  if (sizeof<T>() < 2) a = higher<T>(a, i8x16.shuffle(a, a, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))
  return v128.extract_lane<T>(a, 0)
}

/** A result for each of the columns in `bytes` bytes. */
// @ts-ignore: decorator
@inline
function columns<T>(x: usize, n: usize, step: usize, bytes: usize, flip: T, flips: v128, y: usize): void {
  const end = n * step
  let at: usize = 0
  for (; at + 64 <= bytes; at += 64) {
    let p = x + at
    let a = v128.xor(v128.load(p), flips)
    let b = v128.xor(v128.load(p, 16), flips)
    let c = v128.xor(v128.load(p, 32), flips)
    let d = v128.xor(v128.load(p, 48), flips)
    for (const stop = p + end; (p += step), p != stop;) {
      a = higher<T>(a, v128.xor(v128.load(p), flips))
      b = higher<T>(b, v128.xor(v128.load(p, 16), flips))
      c = higher<T>(c, v128.xor(v128.load(p, 32), flips))
      d = higher<T>(d, v128.xor(v128.load(p, 48), flips))
    }
    v128.store(y + at, v128.xor(a, flips))
    v128.store(y + at, v128.xor(b, flips), 16)
    v128.store(y + at, v128.xor(c, flips), 32)
    v128.store(y + at, v128.xor(d, flips), 48)
  }
  for (; at < bytes; at += sizeof<T>()) {
    let p = x + at
    let best = load<T>(p) ^ flip
    for (const stop = p + end; (p += step), p != stop;) best = max<T>(best, load<T>(p) ^ flip)
    store<T>(y + at, best ^ flip)
  }
}
