import { fma, splat } from './simd'

/** Reduces the middle axis of [outer][n][inner]. */
@unmanaged
export class ReduceArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  kind: i32
  /** Multiplied at the end: 1 / n for means. */
  factor: f32
}

const SUM: i32 = 0
const MAX: i32 = 1
const MIN: i32 = 2
const SQUARES: i32 = 3
const MAGNITUDES: i32 = 4

// @ts-ignore: decorator
@inline
function combine(kind: i32, sum: v128, x: v128): v128 {
  switch (kind) {
    case MAX: return f32x4.max(sum, x)
    case MIN: return f32x4.min(sum, x)
    case SQUARES: return fma(sum, x, x)
    case MAGNITUDES: return f32x4.add(sum, f32x4.abs(x))
    default: return f32x4.add(sum, x)
  }
}

// @ts-ignore: decorator
@inline
function merge(kind: i32, a: v128, b: v128): v128 {
  return kind == MAX ? f32x4.max(a, b) : kind == MIN ? f32x4.min(a, b) : f32x4.add(a, b)
}

// @ts-ignore: decorator
@inline
function neutral(kind: i32): v128 {
  return splat(kind == MAX ? -Infinity : kind == MIN ? Infinity : 0)
}

/** Reduces outer indices `from … to - 1`. */
export function reduce(args: ReduceArguments, from: u32, to: u32): void {
  switch (args.kind) {
    case MAX: return reduceBy(MAX, args, from, to)
    case MIN: return reduceBy(MIN, args, from, to)
    case SQUARES: return reduceBy(SQUARES, args, from, to)
    case MAGNITUDES: return reduceBy(MAGNITUDES, args, from, to)
    default: return reduceBy(SUM, args, from, to)
  }
}

// @ts-ignore: decorator
@inline
function reduceBy(kind: i32, args: ReduceArguments, from: u32, to: u32): void {
  const bytes = <usize>args.inner << 2, n = <usize>args.n
  if (args.inner == 1) for (let i = from; i < to; i++) line(kind, args.x + ((i * n) << 2), n << 2, args.y + (i << 2), args.factor)
  else for (let i = from; i < to; i++) columns(kind, args.x + i * n * bytes, n, bytes, args.y + i * bytes, args.factor)
}

/** One number of elements side by side, in sixteen sums. */
// @ts-ignore: decorator
@inline
function line(kind: i32, x: usize, bytes: usize, y: usize, factor: f32): void {
  let a = neutral(kind), b = a, c = a, d = a
  const end = x + bytes, fours = x + (bytes & ~63), vectors = x + (bytes & ~15)
  for (; x < fours; x += 64) {
    a = combine(kind, a, v128.load(x)); b = combine(kind, b, v128.load(x, 16))
    c = combine(kind, c, v128.load(x, 32)); d = combine(kind, d, v128.load(x, 48))
  }
  for (; x < vectors; x += 16) a = combine(kind, a, v128.load(x))
  a = merge(kind, merge(kind, a, b), merge(kind, c, d))
  a = merge(kind, a, i8x16.shuffle(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  a = merge(kind, a, i8x16.shuffle(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
  for (; x < end; x += 4) a = combine(kind, a, v128.load32_splat(x))
  f32.store(y, f32x4.extract_lane(a, 0) * factor)
}

/** Sums of lines, four columns at once down all of them. */
// @ts-ignore: decorator
@inline
function columns(kind: i32, x: usize, n: usize, bytes: usize, y: usize, factor: f32): void {
  const f = splat(factor)
  let at: usize = 0
  for (; at + 64 <= bytes; at += 64) {
    let a = neutral(kind), b = a, c = a, d = a
    let p = x + at
    for (let i: usize = 0; i < n; i++, p += bytes) {
      a = combine(kind, a, v128.load(p)); b = combine(kind, b, v128.load(p, 16))
      c = combine(kind, c, v128.load(p, 32)); d = combine(kind, d, v128.load(p, 48))
    }
    v128.store(y + at, f32x4.mul(a, f)); v128.store(y + at, f32x4.mul(b, f), 16)
    v128.store(y + at, f32x4.mul(c, f), 32); v128.store(y + at, f32x4.mul(d, f), 48)
  }
  for (; at + 16 <= bytes; at += 16) {
    let a = neutral(kind), p = x + at
    for (let i: usize = 0; i < n; i++, p += bytes) a = combine(kind, a, v128.load(p))
    v128.store(y + at, f32x4.mul(a, f))
  }
  for (; at < bytes; at += 4) {
    let a = neutral(kind), p = x + at
    for (let i: usize = 0; i < n; i++, p += bytes) a = combine(kind, a, v128.load32_splat(p))
    f32.store(y + at, f32x4.extract_lane(a, 0) * factor)
  }
}
