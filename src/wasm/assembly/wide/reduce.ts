/**
 * Sums, products and extremes along the middle axis of [outer][n][inner]: of int32 and int64, which wrap, of float64,
 * and of float32 in double precision.
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
  /** What results are divided by; only of floats. */
  divisor: u32
}

const SUM: i32 = 0
const PRODUCT: i32 = 1
const MAX: i32 = 2

const INT32: i32 = 0
const INT64: i32 = 1
const FLOAT64: i32 = 2

/** Reduces blocks `from … to - 1`: panels of columns, those of an outer index side by side. */
export function reduceWide(args: WideReduceArguments, from: u32, to: u32): void {
  switch (args.type) {
    case INT32:
      return reduceOf<i32>(args, from, to)
    case INT64:
      return reduceOf<i64>(args, from, to)
    case FLOAT64:
      return reduceOf<f64>(args, from, to)
    default:
      return reduceOf<f32>(args, from, to)
  }
}

function reduceOf<T>(args: WideReduceArguments, from: u32, to: u32): void {
  switch (args.kind) {
    case SUM:
      return reduceBy<T>(SUM, args, from, to)
    case PRODUCT:
      return reduceBy<T>(PRODUCT, args, from, to)
    case MAX:
      return isFloat<T>() ? reduceBy<T>(MAX, args, from, to) : unreachable()
    default:
      return isFloat<T>() ? reduceBy<T>(MAX + 1, args, from, to) : unreachable()
  }
}

/** Bytes of the elements in a vector: two of float32, which are widened, else as many as fit. */
// @ts-ignore: decorator
@inline
function step<T>(): usize {
  return isFloat<T>() && sizeof<T>() == 4 ? 8 : 16
}

// @ts-ignore: decorator
@inline
function read<T>(at: usize): v128 {
  return isFloat<T>() && sizeof<T>() == 4 ? f64x2.promote_low_f32x4(v128.load64_zero(at)) : v128.load(at)
}

/** One element in all lanes. */
// @ts-ignore: decorator
@inline
function readOne<T>(at: usize): v128 {
  if (isFloat<T>()) return f64x2.splat(sizeof<T>() == 4 ? <f64>f32.load(at) : f64.load(at))
  return v128.load_splat<T>(at)
}

// @ts-ignore: decorator
@inline
function finished<T>(args: WideReduceArguments, v: v128): v128 {
  return isFloat<T>() && args.divisor != 1 ? f64x2.div(v, f64x2.splat(<f64>args.divisor)) : v
}

// @ts-ignore: decorator
@inline
function write<T>(args: WideReduceArguments, at: usize, v: v128): void {
  const w = finished<T>(args, v)
  if (isFloat<T>() && sizeof<T>() == 4) v128.store64_lane(at, f32x4.demote_f64x2_zero(w), 0)
  else v128.store(at, w)
}

// @ts-ignore: decorator
@inline
function writeOne<T>(args: WideReduceArguments, at: usize, v: v128): void {
  const w = finished<T>(args, v)
  if (isFloat<T>()) store<T>(at, <T>f64x2.extract_lane(w, 0))
  else store<T>(at, v128.extract_lane<T>(w, 0))
}

// @ts-ignore: decorator
@inline
function neutral<T>(kind: i32): v128 {
  if (isFloat<T>()) return f64x2.splat(kind == SUM ? 0 : kind == PRODUCT ? 1 : kind == MAX ? -Infinity : Infinity)
  return v128.splat<T>(kind == SUM ? <T>0 : <T>1)
}

// @ts-ignore: decorator
@inline
function combine<T>(kind: i32, a: v128, b: v128): v128 {
  if (isFloat<T>()) {
    if (kind == SUM) return f64x2.add(a, b)
    if (kind == PRODUCT) return f64x2.mul(a, b)
    return kind == MAX ? f64x2.max(a, b) : f64x2.min(a, b)
  }
  return kind == SUM ? v128.add<T>(a, b) : v128.mul<T>(a, b)
}

// @ts-ignore: decorator
@inline
function reduceBy<T>(kind: i32, args: WideReduceArguments, from: u32, to: u32): void {
  const n = <usize>args.n
  const inner = <usize>args.inner
  if (inner == 1 && n < 4 * (step<T>() / sizeof<T>())) {
    if (isFloat<T>()) shortLines<T, f64>(kind, args, from, to)
    else shortLines<T, T>(kind, args, from, to)
    return
  }
  const panels = (args.inner + args.panel - 1) / args.panel
  for (let block = from; block < to; block++) {
    const outer = <usize>(block / panels)
    const first = <usize>((block % panels) * args.panel)
    const x = args.x + (outer * n * inner + first) * sizeof<T>()
    const y = args.y + (outer * inner + first) * sizeof<T>()
    if (inner == 1) line<T>(kind, args, x, x + n * sizeof<T>(), y)
    else columns<T>(kind, args, x, min<usize>(args.panel, inner - first) * sizeof<T>(), y)
  }
}

/** Results of lines that are shorter than what {@link line} takes at once, in numbers of type `A`. */
// @ts-ignore: decorator
@inline
function shortLines<T, A>(kind: i32, args: WideReduceArguments, from: u32, to: u32): void {
  const bytes = <usize>args.n * sizeof<T>()
  let x = args.x + <usize>from * bytes
  let y = args.y + <usize>from * sizeof<T>()
  for (const last = args.y + <usize>to * sizeof<T>(); y < last; y += sizeof<T>()) {
    let a = kind == SUM ? <A>0 : kind == PRODUCT ? <A>1 : kind == MAX ? <A>-Infinity : <A>Infinity
    for (const end = x + bytes; x < end; x += sizeof<T>()) {
      const b = <A>load<T>(x)
      a = kind == SUM ? a + b : kind == PRODUCT ? a * b : kind == MAX ? max<A>(a, b) : min<A>(a, b)
    }
    if (isFloat<T>() && args.divisor != 1) a /= <A>args.divisor
    store<T>(y, <T>a)
  }
}

/** One result for the elements up to `end`. */
// @ts-ignore: decorator
@inline
function line<T>(kind: i32, args: WideReduceArguments, x: usize, end: usize, y: usize): void {
  let a = neutral<T>(kind)
  let b = a
  let c = a
  let d = a
  const one = step<T>()
  for (const last = end - ((end - x) & (4 * one - 1)); x < last; x += 4 * one) {
    a = combine<T>(kind, a, read<T>(x))
    b = combine<T>(kind, b, read<T>(x + one))
    c = combine<T>(kind, c, read<T>(x + 2 * one))
    d = combine<T>(kind, d, read<T>(x + 3 * one))
  }
  a = combine<T>(kind, combine<T>(kind, a, b), combine<T>(kind, c, d))
  a = combine<T>(kind, a, i8x16.shuffle(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  if (!isFloat<T>() && sizeof<T>() == 4) {
    a = combine<T>(kind, a, i8x16.shuffle(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
  }
  for (; x < end; x += sizeof<T>()) a = combine<T>(kind, a, readOne<T>(x))
  writeOne<T>(args, y, a)
}

/** A result for each of the columns in `bytes` bytes. */
// @ts-ignore: decorator
@inline
function columns<T>(kind: i32, args: WideReduceArguments, x: usize, bytes: usize, y: usize): void {
  const down = <usize>args.inner * sizeof<T>()
  const length = <usize>args.n * down
  const one = step<T>()
  let at: usize = 0
  for (; at + 4 * one <= bytes; at += 4 * one) {
    let a = neutral<T>(kind)
    let b = a
    let c = a
    let d = a
    for (let p = x + at, end = p + length; p < end; p += down) {
      a = combine<T>(kind, a, read<T>(p))
      b = combine<T>(kind, b, read<T>(p + one))
      c = combine<T>(kind, c, read<T>(p + 2 * one))
      d = combine<T>(kind, d, read<T>(p + 3 * one))
    }
    write<T>(args, y + at, a)
    write<T>(args, y + at + one, b)
    write<T>(args, y + at + 2 * one, c)
    write<T>(args, y + at + 3 * one, d)
  }
  for (; at < bytes; at += sizeof<T>()) {
    let a = neutral<T>(kind)
    for (let p = x + at, end = p + length; p < end; p += down) a = combine<T>(kind, a, readOne<T>(p))
    writeOne<T>(args, y + at, a)
  }
}
