/**
 * Cumulative sums along the middle axis of [outer][n][inner]: of integers, which wrap, and of floats in double
 * precision.
 */
@unmanaged
export class CumulateArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** Columns of a block. */
  panel: u32
  type: i32
  /** Whether results leave out their own element; whether sums start at the end of the axis. */
  isExclusive: u32
  isReverse: u32
}

const INT32: i32 = 0
const INT64: i32 = 1
const FLOAT64: i32 = 2

/**
 * Sums up blocks `from … to - 1`: panels of columns, those of an outer index side by side.
 * @param scratch room for eight bytes for each column of a panel
 */
export function cumulate(args: CumulateArguments, scratch: usize, from: u32, to: u32): void {
  switch (args.type) {
    case INT32:
      return cumulateOf<i32>(args, scratch, from, to)
    case INT64:
      return cumulateOf<i64>(args, scratch, from, to)
    case FLOAT64:
      return cumulateOf<f64>(args, scratch, from, to)
    default:
      return cumulateOf<f32>(args, scratch, from, to)
  }
}

// @ts-ignore: decorator
@inline
function cumulateOf<T>(args: CumulateArguments, scratch: usize, from: u32, to: u32): void {
  const inner = <usize>args.inner
  const down = inner * sizeof<T>()
  const length = <usize>args.n * down
  // Unsigned arithmetic wraps, so that adding this goes up.
  const step = args.isReverse ? 0 - down : down
  const start = args.isReverse ? length - down : 0
  const panels = (args.inner + args.panel - 1) / args.panel
  for (let block = from; block < to; block++) {
    const first = <usize>((block % panels) * args.panel)
    const at = <usize>(block / panels) * length + first * sizeof<T>() + start
    const x = args.x + at
    const y = args.y + at
    const count = min<usize>(args.panel, inner - first)
    if (args.isExclusive) columns<T>(true, x, y, count, args.n, step, scratch)
    else columns<T>(false, x, y, count, args.n, step, scratch)
  }
}

/** Two of float32, which are widened, else as many elements as fit into a vector. */
// @ts-ignore: decorator
@inline
function read<T>(at: usize): v128 {
  return isFloat<T>() && sizeof<T>() == 4 ? f64x2.promote_low_f32x4(v128.load64_zero(at)) : v128.load(at)
}

// @ts-ignore: decorator
@inline
function write<T>(at: usize, v: v128): void {
  if (isFloat<T>() && sizeof<T>() == 4) v128.store64_lane(at, f32x4.demote_f64x2_zero(v), 0)
  else v128.store(at, v)
}

// @ts-ignore: decorator
@inline
function add<T>(a: v128, b: v128): v128 {
  return isFloat<T>() ? f64x2.add(a, b) : v128.add<T>(a, b)
}

/** Columns side by side, row by row: `n` rows, `step` bytes apart. */
// @ts-ignore: decorator
@inline
function columns<T>(isExclusive: bool, x: usize, y: usize, count: usize, n: u32, step: usize, sums: usize): void {
  const one: usize = isFloat<T>() && sizeof<T>() == 4 ? 8 : 16
  const bytes = (count * sizeof<T>()) & ~(one - 1)
  const ratio = 16 / one
  for (let at: usize = 0; at < bytes; at += one) v128.store(sums + at * ratio, i64x2.splat(0))
  let p = x
  let q = y
  for (let i: u32 = 0; bytes > 0 && i < n; i++, p += step, q += step) {
    let at: usize = 0
    // Of float32 four elements, which are two vectors of sums.
    for (; one == 8 && at + 16 <= bytes; at += 16) {
      const v = v128.load(p + at)
      const low = v128.load(sums + at * 2)
      const high = v128.load(sums + at * 2, 16)
      const nextLow = f64x2.add(low, f64x2.promote_low_f32x4(v))
      const nextHigh = f64x2.add(high, f64x2.promote_low_f32x4(i64x2.shuffle(v, v, 1, 0)))
      v128.store(sums + at * 2, nextLow)
      v128.store(sums + at * 2, nextHigh, 16)
      const first = f32x4.demote_f64x2_zero(isExclusive ? low : nextLow)
      v128.store(q + at, i64x2.shuffle(first, f32x4.demote_f64x2_zero(isExclusive ? high : nextHigh), 0, 2))
    }
    for (; at < bytes; at += one) {
      const before = v128.load(sums + at * ratio)
      const after = add<T>(before, read<T>(p + at))
      v128.store(sums + at * ratio, after)
      write<T>(q + at, isExclusive ? before : after)
    }
  }
  for (let at = bytes; at < count * sizeof<T>(); at += sizeof<T>()) column<T>(isExclusive, x + at, y + at, n, step)
}

// @ts-ignore: decorator
@inline
function column<T>(isExclusive: bool, x: usize, y: usize, n: u32, step: usize): void {
  if (isFloat<T>()) {
    let sum: f64 = 0
    for (let i: u32 = 0; i < n; i++, x += step, y += step) {
      const before = sum
      sum += <f64>load<T>(x)
      store<T>(y, <T>(isExclusive ? before : sum))
    }
  } else {
    let sum: T = <T>0
    for (let i: u32 = 0; i < n; i++, x += step, y += step) {
      const before = sum
      sum = <T>(sum + load<T>(x))
      store<T>(y, isExclusive ? before : sum)
    }
  }
}
