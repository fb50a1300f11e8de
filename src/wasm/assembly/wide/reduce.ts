/**
 * Sums, products and extremes along the middle axis of [outer][n][inner]: of int32 and int64, which wrap, of float64,
 * and of float32 in double precision. Products of float32 and means of int32 along several axes are float64 in between.
 */
@unmanaged
export class WideReduceArguments {
  x: usize
  y: usize
  n: u32
  inner: u32
  /** Columns of a block. */
  panel: u32
  kind: i32
  type: i32
  /** What results are divided by; only of what is summed as float64. */
  divisor: u32
}

const SUM: i32 = 0
const PRODUCT: i32 = 1
const MAX: i32 = 2

const INT32: i32 = 0
const INT64: i32 = 1
const FLOAT64: i32 = 2
const FLOAT32: i32 = 3
/** Products: of float32 as float64, and of these as float32. */
const FLOAT32_TO_64: i32 = 4
const FLOAT64_TO_32: i32 = 5
/** Sums in double precision: of int32 as int32, of int32 as float64, and of these as int32, rounded towards zero. */
const INT32_BY_64: i32 = 6
const INT32_TO_64: i32 = 7

/** Reduces blocks `from … to - 1`: panels of columns, those of an outer index side by side. */
export function reduceWide(args: WideReduceArguments, from: u32, to: u32): void {
  switch (args.type) {
    case INT32:
      return reduceOf<i32, i32>(args, from, to)
    case INT64:
      return reduceOf<i64, i64>(args, from, to)
    case FLOAT64:
      return reduceOf<f64, f64>(args, from, to)
    case FLOAT32:
      return reduceOf<f32, f64>(args, from, to)
    case FLOAT32_TO_64:
      return productsToDoubles(args, from, to)
    case FLOAT64_TO_32:
      return productsOfDoubles(args, from, to)
    case INT32_BY_64:
      return sumsByDoubles(args, from, to)
    case INT32_TO_64:
      return sumsToDoubles(args, from, to)
    default:
      return sumsOfDoubles(args, from, to)
  }
}

// Each in a function of its own, so that V8 compiles no more than what a model uses.

function productsToDoubles(args: WideReduceArguments, from: u32, to: u32): void {
  reduceBy<f32, f64, f64>(PRODUCT, args, from, to)
}

function productsOfDoubles(args: WideReduceArguments, from: u32, to: u32): void {
  reduceBy<f64, f64, f32>(PRODUCT, args, from, to)
}

function sumsByDoubles(args: WideReduceArguments, from: u32, to: u32): void {
  reduceBy<i32, f64, i32>(SUM, args, from, to)
}

function sumsToDoubles(args: WideReduceArguments, from: u32, to: u32): void {
  reduceBy<i32, f64, f64>(SUM, args, from, to)
}

function sumsOfDoubles(args: WideReduceArguments, from: u32, to: u32): void {
  reduceBy<f64, f64, i32>(SUM, args, from, to)
}

/** Reduces elements of type `T` to such, by numbers of type `A`. */
function reduceOf<T, A>(args: WideReduceArguments, from: u32, to: u32): void {
  switch (args.kind) {
    case SUM:
      return reduceBy<T, A, T>(SUM, args, from, to)
    case PRODUCT:
      return reduceBy<T, A, T>(PRODUCT, args, from, to)
    case MAX:
      return isFloat<T>() ? reduceBy<T, A, T>(MAX, args, from, to) : unreachable()
    default:
      return isFloat<T>() ? reduceBy<T, A, T>(MAX + 1, args, from, to) : unreachable()
  }
}

/** Bytes of the elements in a vector: two of 32 bits that are widened, else as many as fit. */
// @ts-ignore: decorator
@inline
function step<T, A>(): usize {
  return isFloat<A>() && sizeof<T>() == 4 ? 8 : 16
}

// @ts-ignore: decorator
@inline
function read<T, A>(at: usize): v128 {
  if (!isFloat<A>() || sizeof<T>() == 8) return v128.load(at)
  const v = v128.load64_zero(at)
  return isFloat<T>() ? f64x2.promote_low_f32x4(v) : f64x2.convert_low_i32x4_s(v)
}

/** One element in all lanes. */
// @ts-ignore: decorator
@inline
function readOne<T, A>(at: usize): v128 {
  if (isFloat<A>()) return f64x2.splat(<f64>load<T>(at))
  return v128.load_splat<T>(at)
}

// @ts-ignore: decorator
@inline
function finished<A>(args: WideReduceArguments, v: v128): v128 {
  return isFloat<A>() && args.divisor != 1 ? f64x2.div(v, f64x2.splat(<f64>args.divisor)) : v
}

// @ts-ignore: decorator
@inline
function write<A, R>(args: WideReduceArguments, at: usize, v: v128): void {
  const w = finished<A>(args, v)
  if (!isFloat<A>() || sizeof<R>() == 8) v128.store(at, w)
  else v128.store64_lane(at, isFloat<R>() ? f32x4.demote_f64x2_zero(w) : i32x4.trunc_sat_f64x2_s_zero(w), 0)
}

// @ts-ignore: decorator
@inline
function writeOne<A, R>(args: WideReduceArguments, at: usize, v: v128): void {
  const w = finished<A>(args, v)
  if (isFloat<A>()) store<R>(at, <R>f64x2.extract_lane(w, 0))
  else store<R>(at, v128.extract_lane<R>(w, 0))
}

// @ts-ignore: decorator
@inline
function neutral<A>(kind: i32): v128 {
  if (isFloat<A>()) return f64x2.splat(kind == SUM ? 0 : kind == PRODUCT ? 1 : kind == MAX ? -Infinity : Infinity)
  return v128.splat<A>(kind == SUM ? <A>0 : <A>1)
}

// @ts-ignore: decorator
@inline
function combine<A>(kind: i32, a: v128, b: v128): v128 {
  if (isFloat<A>()) {
    if (kind == SUM) return f64x2.add(a, b)
    if (kind == PRODUCT) return f64x2.mul(a, b)
    return kind == MAX ? f64x2.max(a, b) : f64x2.min(a, b)
  }
  return kind == SUM ? v128.add<A>(a, b) : v128.mul<A>(a, b)
}

// @ts-ignore: decorator
@inline
function reduceBy<T, A, R>(kind: i32, args: WideReduceArguments, from: u32, to: u32): void {
  const n = <usize>args.n
  const inner = <usize>args.inner
  if (inner == 1 && n < 4 * (step<T, A>() / sizeof<T>())) return shortLines<T, A, R>(kind, args, from, to)
  const panels = (args.inner + args.panel - 1) / args.panel
  for (let block = from; block < to; block++) {
    const outer = <usize>(block / panels)
    const first = <usize>((block % panels) * args.panel)
    const x = args.x + (outer * n * inner + first) * sizeof<T>()
    const y = args.y + (outer * inner + first) * sizeof<R>()
    if (inner == 1) line<T, A, R>(kind, args, x, x + n * sizeof<T>(), y)
    else columns<T, A, R>(kind, args, x, min<usize>(args.panel, inner - first) * sizeof<T>(), y)
  }
}

/** Results of lines that are shorter than what {@link line} takes at once. */
// @ts-ignore: decorator
@inline
function shortLines<T, A, R>(kind: i32, args: WideReduceArguments, from: u32, to: u32): void {
  const bytes = <usize>args.n * sizeof<T>()
  let x = args.x + <usize>from * bytes
  let y = args.y + <usize>from * sizeof<R>()
  for (const last = args.y + <usize>to * sizeof<R>(); y < last; y += sizeof<R>()) {
    let a = kind == SUM ? <A>0 : kind == PRODUCT ? <A>1 : kind == MAX ? <A>-Infinity : <A>Infinity
    for (const end = x + bytes; x < end; x += sizeof<T>()) {
      const b = <A>load<T>(x)
      a = kind == SUM ? a + b : kind == PRODUCT ? a * b : kind == MAX ? max<A>(a, b) : min<A>(a, b)
    }
    if (isFloat<A>() && args.divisor != 1) a /= <A>args.divisor
    store<R>(y, <R>a)
  }
}

/** One result for the elements up to `end`. */
// @ts-ignore: decorator
@inline
function line<T, A, R>(kind: i32, args: WideReduceArguments, x: usize, end: usize, y: usize): void {
  let a = neutral<A>(kind)
  let b = a
  let c = a
  let d = a
  const one = step<T, A>()
  for (const last = end - ((end - x) & (4 * one - 1)); x < last; x += 4 * one) {
    a = combine<A>(kind, a, read<T, A>(x))
    b = combine<A>(kind, b, read<T, A>(x + one))
    c = combine<A>(kind, c, read<T, A>(x + 2 * one))
    d = combine<A>(kind, d, read<T, A>(x + 3 * one))
  }
  a = combine<A>(kind, combine<A>(kind, a, b), combine<A>(kind, c, d))
  a = combine<A>(kind, a, i8x16.shuffle(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  if (!isFloat<A>() && sizeof<A>() == 4) {
    a = combine<A>(kind, a, i8x16.shuffle(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
  }
  for (; x < end; x += sizeof<T>()) a = combine<A>(kind, a, readOne<T, A>(x))
  writeOne<A, R>(args, y, a)
}

/** A result for each of the columns in `bytes` bytes. */
// @ts-ignore: decorator
@inline
function columns<T, A, R>(kind: i32, args: WideReduceArguments, x: usize, bytes: usize, y: usize): void {
  const down = <usize>args.inner * sizeof<T>()
  const length = <usize>args.n * down
  const one = step<T, A>()
  const made = (one / sizeof<T>()) * sizeof<R>()
  let at: usize = 0
  for (; at + 4 * one <= bytes; at += 4 * one, y += 4 * made) {
    let a = neutral<A>(kind)
    let b = a
    let c = a
    let d = a
    for (let p = x + at, end = p + length; p != end; p += down) {
      a = combine<A>(kind, a, read<T, A>(p))
      b = combine<A>(kind, b, read<T, A>(p + one))
      c = combine<A>(kind, c, read<T, A>(p + 2 * one))
      d = combine<A>(kind, d, read<T, A>(p + 3 * one))
    }
    write<A, R>(args, y, a)
    write<A, R>(args, y + made, b)
    write<A, R>(args, y + 2 * made, c)
    write<A, R>(args, y + 3 * made, d)
  }
  for (; at + one <= bytes; at += one, y += made) write<A, R>(args, y, column<T, A>(kind, false, x + at, length, down))
  for (; at < bytes; at += sizeof<T>(), y += sizeof<R>())
    writeOne<A, R>(args, y, column<T, A>(kind, true, x + at, length, down))
}

/**
 * The columns of a vector, or one in all lanes: four rows at once, so that none waits for the one before. What is left
 * is compared, not addresses: those behind the last row may be above 4 GiB.
 */
// @ts-ignore: decorator
@inline
function column<T, A>(kind: i32, isOne: bool, p: usize, length: usize, down: usize): v128 {
  let a = neutral<A>(kind)
  let b = a
  let c = a
  let d = a
  const end = p + length
  for (; end - p > 3 * down; p += 4 * down) {
    a = combine<A>(kind, a, isOne ? readOne<T, A>(p) : read<T, A>(p))
    b = combine<A>(kind, b, isOne ? readOne<T, A>(p + down) : read<T, A>(p + down))
    c = combine<A>(kind, c, isOne ? readOne<T, A>(p + 2 * down) : read<T, A>(p + 2 * down))
    d = combine<A>(kind, d, isOne ? readOne<T, A>(p + 3 * down) : read<T, A>(p + 3 * down))
  }
  for (; p != end; p += down) a = combine<A>(kind, a, isOne ? readOne<T, A>(p) : read<T, A>(p))
  return combine<A>(kind, combine<A>(kind, a, b), combine<A>(kind, c, d))
}
