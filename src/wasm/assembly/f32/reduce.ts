import { fma, loadApart, splat, sumOf } from './simd'

/** Reduces the middle axis of [outer][n][inner]. */
@unmanaged
export class ReduceArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** Columns of a block: a multiple of 16, or `inner`. */
  panel: u32
  kind: i32
  /** Sums are divided by it: n for means, else 1. */
  divisor: f32
  /** Whether the result is the square root. */
  isRoot: u32
}

const SUM: i32 = 0
const MAX: i32 = 1
const MIN: i32 = 2
const SQUARES: i32 = 3
const MAGNITUDES: i32 = 4

/** Bytes of a line that are summed in float32; the sums of such spans are added in double precision. */
const SPAN: usize = 4096
/** Elements of a line below which four at once do not pay, and those for extremes. */
const SHORT: usize = 12
const SHORT_EXTREMES: usize = 33
/** Lines that are summed before their sum is added to the total, so that errors grow with n / LINES + LINES. */
const LINES: usize = 64

// @ts-ignore: decorator
@inline
function combine(kind: i32, sum: v128, x: v128): v128 {
  switch (kind) {
    case MAX:
      return f32x4.max(sum, x)
    case MIN:
      return f32x4.min(sum, x)
    case SQUARES:
      return fma(sum, x, x)
    case MAGNITUDES:
      return f32x4.add(sum, f32x4.abs(x))
    default:
      return f32x4.add(sum, x)
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

/** Reduces blocks `from … to - 1`: panels of columns, those of an outer index side by side. */
export function reduce(args: ReduceArguments, from: u32, to: u32): void {
  switch (args.kind) {
    case MAX:
      return highest(args, from, to)
    case MIN:
      return lowest(args, from, to)
    case SQUARES:
      return sumsOfSquares(args, from, to)
    case MAGNITUDES:
      return sumsOfMagnitudes(args, from, to)
    default:
      return sums(args, from, to)
  }
}

// Each in a function of its own, so that V8 compiles no more than what a model uses.

function sums(args: ReduceArguments, from: u32, to: u32): void {
  reduceBy(SUM, args, from, to)
}

function highest(args: ReduceArguments, from: u32, to: u32): void {
  reduceBy(MAX, args, from, to)
}

function lowest(args: ReduceArguments, from: u32, to: u32): void {
  reduceBy(MIN, args, from, to)
}

function sumsOfSquares(args: ReduceArguments, from: u32, to: u32): void {
  reduceBy(SQUARES, args, from, to)
}

function sumsOfMagnitudes(args: ReduceArguments, from: u32, to: u32): void {
  reduceBy(MAGNITUDES, args, from, to)
}

// @ts-ignore: decorator
@inline
function reduceBy(kind: i32, args: ReduceArguments, from: u32, to: u32): void {
  const n = <usize>args.n
  const inner = <usize>args.inner
  if (inner == 1 && n < (kind == MAX || kind == MIN ? SHORT_EXTREMES : SHORT)) return shortLines(kind, args, from, to)
  if (inner == 1) {
    for (let i = from; i < to; i++) line(kind, args, args.x + ((i * n) << 2), n << 2, args.y + (i << 2))
    return
  }
  const panels = (args.inner + args.panel - 1) / args.panel
  for (let block = from; block < to; block++) {
    const outer = block / panels
    const first = (block % panels) * args.panel
    const bytes = (<usize>min(args.panel, args.inner - first)) << 2
    columns(kind, args, args.x + ((outer * n * inner + first) << 2), bytes, args.y + ((outer * inner + first) << 2))
  }
}

/** Lines of a few elements, whose sums need no more than float32. */
// @ts-ignore: decorator
@inline
function shortLines(kind: i32, args: ReduceArguments, from: u32, to: u32): void {
  const n = <usize>args.n
  const bytes = n << 2
  let x = args.x + <usize>from * bytes
  let y = args.y + ((<usize>from) << 2)
  const last = args.y + ((<usize>to) << 2)
  // Four lines in the lanes of a vector.
  for (const fours = last - ((last - y) & 15); y < fours; y += 16, x += 3 * bytes) {
    let a = neutral(kind)
    for (const end = x + bytes; x < end; x += 4) a = combine(kind, a, loadApart(x, bytes))
    v128.store(y, finished(kind, args, a))
  }
  for (; y < last; y += 4) {
    let a = neutral(kind)
    for (const end = x + bytes; x < end; x += 4) a = combine(kind, a, v128.load32_splat(x))
    f32.store(y, f32x4.extract_lane(finished(kind, args, a), 0))
  }
}

/**
 * The highest or lowest numbers, lane by lane, of what lies from `x` to `end`, whole blocks of 64 bytes; NaN where one
 * is. An instruction that takes zeros for equal and passes over NaN, with others that note signs and NaN, takes half of
 * the time of those that WebAssembly's own maximum consists of.
 */
// @ts-ignore: decorator
@inline
function extremes(kind: i32, x: usize, end: usize): v128 {
  let a = neutral(kind)
  let b = a
  let c = a
  let d = a
  let areNumbers = i32x4.splat(-1)
  let signs = i32x4.splat(kind == MAX ? -1 : 0)
  for (; x < end; x += 64) {
    const p = v128.load(x)
    const q = v128.load(x, 16)
    const r = v128.load(x, 32)
    const s = v128.load(x, 48)
    a = kind == MAX ? f32x4.pmax(a, p) : f32x4.pmin(a, p)
    b = kind == MAX ? f32x4.pmax(b, q) : f32x4.pmin(b, q)
    c = kind == MAX ? f32x4.pmax(c, r) : f32x4.pmin(c, r)
    d = kind == MAX ? f32x4.pmax(d, s) : f32x4.pmin(d, s)
    // Two are numbers where they have an order.
    areNumbers = v128.and(areNumbers, v128.and(haveOrder(p, q), haveOrder(r, s)))
    signs = kind == MAX ? v128.and(signs, v128.and(p, q)) : v128.or(signs, v128.or(p, q))
    signs = kind == MAX ? v128.and(signs, v128.and(r, s)) : v128.or(signs, v128.or(r, s))
  }
  const found = merge(kind, merge(kind, a, b), merge(kind, c, d))
  // Where the highest number is 0, none is above it: it is -0 where all have a sign. The lowest is where one has.
  const zero = v128.and(signs, i32x4.splat(i32.MIN_VALUE))
  const number = v128.bitselect(zero, found, f32x4.eq(found, splat(0)))
  return v128.bitselect(number, splat(f32.NaN), areNumbers)
}

// @ts-ignore: decorator
@inline
function haveOrder(a: v128, b: v128): v128 {
  return v128.or(f32x4.le(a, b), f32x4.ge(a, b))
}

/** One number of `bytes` bytes side by side. */
// @ts-ignore: decorator
@inline
function line(kind: i32, args: ReduceArguments, x: usize, bytes: usize, y: usize): void {
  let total: f64 = 0
  let extreme = neutral(kind)
  const isExtreme = kind == MAX || kind == MIN
  const end = x + bytes
  while (x < end) {
    const stop = min(end, x + SPAN)
    const length = stop - x
    const fours = x + (length & ~63)
    const vectors = x + (length & ~15)
    let a = neutral(kind)
    let b = a
    let c = a
    let d = a
    if (isExtreme) {
      a = extremes(kind, x, fours)
      x = fours
    }
    for (; x < fours; x += 64) {
      a = combine(kind, a, v128.load(x))
      b = combine(kind, b, v128.load(x, 16))
      c = combine(kind, c, v128.load(x, 32))
      d = combine(kind, d, v128.load(x, 48))
    }
    for (; x < vectors; x += 16) a = combine(kind, a, v128.load(x))
    a = merge(kind, merge(kind, a, b), merge(kind, c, d))
    if (isExtreme) {
      for (; x < stop; x += 4) a = combine(kind, a, v128.load32_splat(x))
      extreme = merge(kind, extreme, a)
    } else {
      total += <f64>sumOf(a)
      for (; x < stop; x += 4) total += <f64>f32x4.extract_lane(combine(kind, splat(0), v128.load32_splat(x)), 0)
    }
  }
  if (isExtreme) {
    let v = merge(kind, extreme, i8x16.shuffle(extreme, extreme, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
    v = merge(kind, v, i8x16.shuffle(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
    f32.store(y, f32x4.extract_lane(v, 0))
  } else {
    total /= <f64>args.divisor
    f32.store(y, <f32>(args.isRoot ? sqrt<f64>(total) : total))
  }
}

/** A number for each of the columns in `bytes` bytes. */
// @ts-ignore: decorator
@inline
function columns(kind: i32, args: ReduceArguments, x: usize, bytes: usize, y: usize): void {
  const n = <usize>args.n
  const step = (<usize>args.inner) << 2
  let at: usize = 0
  for (; at + 64 <= bytes; at += 64) {
    let t = neutral(kind)
    let u = t
    let v = t
    let w = t
    let p = x + at
    for (let start: usize = 0; start < n; start += LINES) {
      let a = neutral(kind)
      let b = a
      let c = a
      let d = a
      for (const stop = p + min(n - start, LINES) * step; p != stop; p += step) {
        a = combine(kind, a, v128.load(p))
        b = combine(kind, b, v128.load(p, 16))
        c = combine(kind, c, v128.load(p, 32))
        d = combine(kind, d, v128.load(p, 48))
      }
      t = merge(kind, t, a)
      u = merge(kind, u, b)
      v = merge(kind, v, c)
      w = merge(kind, w, d)
    }
    v128.store(y + at, finished(kind, args, t))
    v128.store(y + at, finished(kind, args, u), 16)
    v128.store(y + at, finished(kind, args, v), 32)
    v128.store(y + at, finished(kind, args, w), 48)
  }
  for (; at + 16 <= bytes; at += 16) v128.store(y + at, finished(kind, args, column(kind, 16, x + at, n, step)))
  if (at == bytes) return
  const rest = bytes - at
  const v = finished(kind, args, column(kind, rest, x + at, n, step))
  v128.store32_lane(y + at, v, 0)
  if (rest > 4) v128.store32_lane(y + at, v, 1, 4)
  if (rest > 8) v128.store32_lane(y + at, v, 2, 8)
}

/**
 * Four columns, or the last ones of their rows in `bytes` bytes: up to the last row, elements of the next one fill the
 * other lanes. Four rows at once, so that none waits for the one before.
 */
// @ts-ignore: decorator
@inline
function column(kind: i32, bytes: usize, x: usize, n: usize, step: usize): v128 {
  let total = neutral(kind)
  // Ends are compared as what is left: the address of rows behind them may be above 4 GiB.
  for (let left = n - 1; left > 0;) {
    const rows = min(left, LINES)
    left -= rows
    let a = neutral(kind)
    let b = a
    let c = a
    let d = a
    const stop = x + rows * step
    for (; stop - x > 3 * step; x += 4 * step) {
      a = combine(kind, a, v128.load(x))
      b = combine(kind, b, v128.load(x + step))
      c = combine(kind, c, v128.load(x + 2 * step))
      d = combine(kind, d, v128.load(x + 3 * step))
    }
    for (; x != stop; x += step) a = combine(kind, a, v128.load(x))
    total = merge(kind, total, merge(kind, merge(kind, a, b), merge(kind, c, d)))
  }
  if (bytes == 16) return combine(kind, total, v128.load(x))
  let v = v128.load32_zero(x)
  if (bytes > 4) v = v128.load32_lane(x + 4, v, 1)
  if (bytes > 8) v = v128.load32_lane(x + 8, v, 2)
  return combine(kind, total, v)
}

// @ts-ignore: decorator
@inline
function finished(kind: i32, args: ReduceArguments, v: v128): v128 {
  if (kind == MAX || kind == MIN) return v
  const result = f32x4.div(v, splat(args.divisor))
  return args.isRoot ? f32x4.sqrt(result) : result
}
