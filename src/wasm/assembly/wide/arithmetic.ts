import { firstOffset, secondOffset, unravel } from '../loops'
import { sigmoids } from './exponential'
/**
 * Functions of one or two integers, or numbers of float64. Two inputs are broadcast against the output: lines of
 * `inner` elements, in which an input moves by one element or stays.
 */
@unmanaged
export class ArithmeticArguments {
  a: usize
  b: usize
  y: usize
  kind: i32
  type: i32
  /** Whether integers are unsigned, which maxima, minima and quotients see. */
  isUnsigned: u32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const ADD: i32 = 0
const SUBTRACT: i32 = 1
const MULTIPLY: i32 = 2
const MAXIMUM: i32 = 3
const MINIMUM: i32 = 4
/** Of integers it is truncated towards zero. */
const DIVIDE: i32 = 5
/** The remainder with the sign of the divisor. */
const FLOOR_MOD: i32 = 6
const AND: i32 = 7
const OR: i32 = 8
const XOR: i32 = 9
/** From here on functions of a. */
const ABS: i32 = 10
const NEGATE: i32 = 11
const SIGN: i32 = 12
/** b points to a lower bound and an upper one. */
const CLAMP: i32 = 13
/** Of floats alone. */
const FLOOR: i32 = 14
const CEIL: i32 = 15
const ROUND: i32 = 16
const ROOT: i32 = 17
/** Of integers alone: those with a sign keep it on the way to the right. */
const SHIFT_LEFT: i32 = 18
const SHIFT_RIGHT: i32 = 19
/** Low bits of powers of signed integers; those to negative exponents are truncated. */
const POWER: i32 = 20
/** A function of a. */
const SQUARE: i32 = 21
/** Of integers alone: b points to bounds, beyond which a bias is added or subtracted, and the bias; 0 between them. */
const SHRINK: i32 = 22
/** A function of a, of floats alone. */
const SIGMOID: i32 = 23
/** Of a, which is multiplied by b where it is below 0. */
const PRELU: i32 = 24
/** The remainder with the sign of the dividend. */
const TRUNCATED_MOD: i32 = 25

const INT32: i32 = 0
const INT64: i32 = 1
const FLOAT64: i32 = 2
const INT8: i32 = 3

/**
 * Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line.
 * @returns whether it stopped at an integer divisor that is 0, or at 0 to the power of a negative integer
 */
export function arithmetic(args: ArithmeticArguments, from: u32, to: u32): bool {
  if (args.type == INT32) return linesOf<i32>(args, from, to)
  if (args.type == INT64) return linesOf<i64>(args, from, to)
  if (args.type == FLOAT64) return linesOf<f64>(args, from, to)
  return args.type == INT8 ? linesOf<i8>(args, from, to) : linesOf<i16>(args, from, to)
}

// @ts-ignore: decorator
@inline
function linesOf<T>(args: ArithmeticArguments, from: u32, to: u32): bool {
  if (args.rank == 0) {
    const y = args.y + from * sizeof<T>()
    return line<T>(args, args.a + from * args.aInner, args.b + from * args.bInner, y, (to - from) * sizeof<T>())
  }
  const bytes = <usize>args.inner * sizeof<T>()
  const loops = changetype<usize>(args) + offsetof<ArithmeticArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    const a = args.a + firstOffset
    const b = args.b + secondOffset
    if (line<T>(args, a, b, args.y + i * bytes, bytes)) return true
  }
  return false
}

function line<T>(args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  if (isFloat<T>()) {
    switch (args.kind) {
      case DIVIDE:
        return combineLine<T>(DIVIDE, args, a, b, y, bytes)
      case FLOOR:
        return changeLine<T>(FLOOR, args, a, b, y, bytes)
      case CEIL:
        return changeLine<T>(CEIL, args, a, b, y, bytes)
      case ROUND:
        return changeLine<T>(ROUND, args, a, b, y, bytes)
      case ROOT:
        return changeLine<T>(ROOT, args, a, b, y, bytes)
      case SIGMOID:
        sigmoids(a, y, bytes)
        return false
    }
  } else {
    switch (args.kind) {
      case DIVIDE:
      case FLOOR_MOD:
      case TRUNCATED_MOD:
        if (sizeof<T>() < 4) return shortQuotients<T>(args, a, b, y, bytes)
        if (args.isUnsigned) return quotients<T>(args, a, b, y, bytes)
        if (args.kind == DIVIDE) return signedQuotients<T>(DIVIDE, args, a, b, y, bytes)
        if (args.kind == FLOOR_MOD) return signedQuotients<T>(FLOOR_MOD, args, a, b, y, bytes)
        return signedQuotients<T>(TRUNCATED_MOD, args, a, b, y, bytes)
      case AND:
        return combineLine<T>(AND, args, a, b, y, bytes)
      case OR:
        return combineLine<T>(OR, args, a, b, y, bytes)
      case XOR:
        return combineLine<T>(XOR, args, a, b, y, bytes)
      case SHIFT_LEFT:
        return shiftLine<T>(true, args, a, b, y, bytes)
      case SHIFT_RIGHT:
        return shiftLine<T>(false, args, a, b, y, bytes)
      case POWER:
        return powerLine<T>(args, a, b, y, bytes)
      case SHRINK:
        return changeLine<T>(SHRINK, args, a, b, y, bytes)
    }
  }
  switch (args.kind) {
    case ADD:
      return combineLine<T>(ADD, args, a, b, y, bytes)
    case SUBTRACT:
      return combineLine<T>(SUBTRACT, args, a, b, y, bytes)
    case MULTIPLY:
      return combineLine<T>(MULTIPLY, args, a, b, y, bytes)
    case MAXIMUM:
      return combineLine<T>(MAXIMUM, args, a, b, y, bytes)
    case MINIMUM:
      return combineLine<T>(MINIMUM, args, a, b, y, bytes)
    case PRELU:
      return combineLine<T>(PRELU, args, a, b, y, bytes)
    case ABS:
      return changeLine<T>(ABS, args, a, b, y, bytes)
    case NEGATE:
      return changeLine<T>(NEGATE, args, a, b, y, bytes)
    case SIGN:
      return changeLine<T>(SIGN, args, a, b, y, bytes)
    case SQUARE:
      return changeLine<T>(SQUARE, args, a, b, y, bytes)
    default:
      return changeLine<T>(CLAMP, args, a, b, y, bytes)
  }
}

/** @param least bits by which unsigned integers differ from signed ones in the same order */
// @ts-ignore: decorator
@inline
function combine<T>(kind: i32, a: v128, b: v128, least: v128): v128 {
  switch (kind) {
    case ADD:
      return v128.add<T>(a, b)
    case SUBTRACT:
      return v128.sub<T>(a, b)
    case MULTIPLY:
      return multiply<T>(a, b)
    case DIVIDE:
      return isFloat<T>() ? f64x2.div(a, b) : a
    case AND:
      return v128.and(a, b)
    case OR:
      return v128.or(a, b)
    case XOR:
      return v128.xor(a, b)
    case PRELU:
      return v128.bitselect(multiply<T>(a, b), a, isBelowZero<T>(a, least))
  }
  return kind == MAXIMUM ? higher<T>(a, b, least) : lower<T>(a, b, least)
}

/** Bytes have no product of vectors: those at even and at odd positions are multiplied as integers of 16 bits. */
// @ts-ignore: decorator
@inline
function multiply<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() > 1) return v128.mul<T>(a, b)
  const even = v128.and(i16x8.mul(a, b), i16x8.splat(255))
  const odd = i16x8.mul(i16x8.shr_u(a, 8), i16x8.shr_u(b, 8))
  return v128.or(even, i16x8.shl(odd, 8))
}

// @ts-ignore: decorator
@inline
function isAbove<T>(a: v128, b: v128, least: v128): v128 {
  const p = v128.xor(a, least)
  const q = v128.xor(b, least)
  return v128.gt<T>(p, q)
}

// @ts-ignore: decorator
@inline
function isBelowZero<T>(x: v128, least: v128): v128 {
  const zero = i64x2.splat(0)
  return isFloat<T>() ? f64x2.lt(x, zero) : isAbove<T>(zero, x, least)
}

// @ts-ignore: decorator
@inline
function higher<T>(a: v128, b: v128, least: v128): v128 {
  return isFloat<T>() ? f64x2.max(a, b) : v128.bitselect(a, b, isAbove<T>(a, b, least))
}

// @ts-ignore: decorator
@inline
function lower<T>(a: v128, b: v128, least: v128): v128 {
  return isFloat<T>() ? f64x2.min(a, b) : v128.bitselect(b, a, isAbove<T>(a, b, least))
}

// @ts-ignore: decorator
@inline
function leastOf<T>(args: ArithmeticArguments): v128 {
  return v128.splat<T>(isFloat<T>() || !args.isUnsigned ? <T>0 : (<T>1) << (<T>(sizeof<T>() * 8 - 1)))
}

/** Called with a constant function, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function combineLine<T>(kind: i32, args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const aInner = args.aInner
  const bInner = args.bInner
  const least = leastOf<T>(args)
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  const s = v128.load_splat<T>(a)
  const t = v128.load_splat<T>(b)
  if (aInner && bInner)
    for (; y < vectors; y += 16, a += 16, b += 16) v128.store(y, combine<T>(kind, v128.load(a), v128.load(b), least))
  else if (aInner) for (; y < vectors; y += 16, a += 16) v128.store(y, combine<T>(kind, v128.load(a), t, least))
  else if (bInner) for (; y < vectors; y += 16, b += 16) v128.store(y, combine<T>(kind, s, v128.load(b), least))
  else for (; y < vectors; y += 16) v128.store(y, combine<T>(kind, s, t, least))
  for (; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    const one = combine<T>(kind, v128.load_splat<T>(a), v128.load_splat<T>(b), least)
    store<T>(y, v128.extract_lane<T>(one, 0))
  }
  return false
}

/** Quotients or remainders of unsigned integers. */
function quotients<T>(args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const aInner = args.aInner
  const bInner = args.bInner
  const isQuotient = args.kind == DIVIDE
  for (const end = y + bytes; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    if (sizeof<T>() == 4) {
      const divisor = load<u32>(b)
      if (divisor == 0) return true
      store<u32>(y, isQuotient ? load<u32>(a) / divisor : load<u32>(a) % divisor)
    } else {
      const divisor = load<u64>(b)
      if (divisor == 0) return true
      store<u64>(y, isQuotient ? load<u64>(a) / divisor : load<u64>(a) % divisor)
    }
  }
  return false
}

/** Quotients or remainders of signed integers. */
// @ts-ignore: decorator
@inline
function signedQuotients<T>(kind: i32, args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const aInner = args.aInner
  const bInner = args.bInner
  for (const end = y + bytes; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    const divisor = load<T>(b)
    if (divisor == 0) return true
    const p = load<T>(a)
    if (kind != DIVIDE) {
      const rest = divisor == -1 ? <T>0 : p % divisor
      store<T>(y, kind == FLOOR_MOD && rest != 0 && rest < 0 != divisor < 0 ? rest + divisor : rest)
    } else store<T>(y, divisor == -1 ? 0 - p : p / divisor)
  }
  return false
}

/**
 * Quotients or remainders of integers of 8 and 16 bits, eight at once. Quotients of float32 that are no integers are
 * farther from the next one than they are rounded by.
 */
function shortQuotients<T>(args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const isUnsigned = args.isUnsigned != 0
  const aInner = args.aInner
  const bInner = args.bInner
  const end = y + bytes
  const eight: usize = 8 * sizeof<T>()
  let p = wordsAt<T>(a, false, isUnsigned)
  let q = wordsAt<T>(b, false, isUnsigned)
  let isZero = v128.any_true(i16x8.eq(q, i16x8.splat(0)))
  for (; y + eight <= end; y += eight) {
    if (aInner) {
      p = wordsAt<T>(a, true, isUnsigned)
      a += eight
    }
    if (bInner) {
      q = wordsAt<T>(b, true, isUnsigned)
      b += eight
      isZero = v128.any_true(i16x8.eq(q, i16x8.splat(0)))
    }
    if (isZero) return true
    const words = quotientsOf(args.kind, p, q, isUnsigned)
    if (sizeof<T>() == 2) v128.store(y, words)
    else {
      const low = v128.and(words, i16x8.splat(0xff))
      v128.store64_lane(y, i8x16.narrow_i16x8_u(low, low), 0)
    }
  }
  for (; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    q = wordsAt<T>(b, false, isUnsigned)
    if (v128.any_true(i16x8.eq(q, i16x8.splat(0)))) return true
    const words = quotientsOf(args.kind, wordsAt<T>(a, false, isUnsigned), q, isUnsigned)
    store<T>(y, <T>i16x8.extract_lane_s(words, 0))
  }
  return false
}

/** Eight integers, or one eight times, as those of 16 bits. */
// @ts-ignore: decorator
@inline
function wordsAt<T>(x: usize, isVector: bool, isUnsigned: bool): v128 {
  if (sizeof<T>() == 2) return isVector ? v128.load(x) : v128.load16_splat(x)
  if (isVector) return isUnsigned ? v128.load8x8_u(x) : v128.load8x8_s(x)
  const bytes = v128.load8_splat(x)
  return isUnsigned ? i16x8.extend_low_i8x16_u(bytes) : i16x8.extend_low_i8x16_s(bytes)
}

/** The low 16 bits of results. */
function quotientsOf(kind: i32, p: v128, q: v128, isUnsigned: bool): v128 {
  let low: v128
  let high: v128
  if (isUnsigned) {
    low = f32x4.div(
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(p)),
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(q))
    )
    high = f32x4.div(
      f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(p)),
      f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(q))
    )
  } else {
    low = f32x4.div(
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(p)),
      f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(q))
    )
    high = f32x4.div(
      f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(p)),
      f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(q))
    )
  }
  const words = i32x4.splat(0xffff)
  const whole = i16x8.narrow_i32x4_u(
    v128.and(i32x4.trunc_sat_f32x4_s(low), words),
    v128.and(i32x4.trunc_sat_f32x4_s(high), words)
  )
  if (kind == DIVIDE) return whole
  const rest = i16x8.sub(p, i16x8.mul(whole, q))
  if (kind == TRUNCATED_MOD || isUnsigned) return rest
  const zero = i16x8.splat(0)
  const differs = i16x8.lt_s(v128.xor(rest, q), zero)
  return i16x8.add(rest, v128.and(q, v128.andnot(differs, i16x8.eq(rest, zero))))
}

/** Integers shifted by amounts that may be all bits or more, which negative ones are, too. */
// @ts-ignore: decorator
@inline
function shiftLine<T>(isLeft: bool, args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const aInner = args.aInner
  const bInner = args.bInner
  const isUnsigned = args.isUnsigned
  const bits = <u64>(sizeof<T>() * 8)
  for (const end = y + bytes; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    const amount = <u64>(<i64>load<T>(b))
    const x = <i64>load<T>(a)
    const fits = amount < bits
    if (isLeft) store<T>(y, fits ? <T>(x << amount) : <T>0)
    else if (isUnsigned) store<T>(y, fits ? <T>((<u64>x & (~(<u64>0) >> (64 - bits))) >> amount) : <T>0)
    else store<T>(y, <T>(x >> (fits ? amount : 63)))
  }
  return false
}

// @ts-ignore: decorator
@inline
function powerLine<T>(args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
  const aInner = args.aInner
  const bInner = args.bInner
  for (const end = y + bytes; y < end; y += sizeof<T>(), a += aInner, b += bInner) {
    let square = load<T>(a)
    let rest = load<T>(b)
    let power: T = 1
    if (rest < 0) {
      if (square == 0) return true
      // The powers of 1 and -1 are those to the same exponent without its sign, of which one bit counts.
      const isUnit = square == 1 || square == -1
      power = isUnit ? (rest & 1 ? square : <T>1) : <T>0
    }
    for (; rest > 0; rest >>= 1, square *= square) if (rest & 1) power *= square
    store<T>(y, power)
  }
  return false
}

/** @param low, high bounds of CLAMP and SHRINK */
// @ts-ignore: decorator
@inline
function change<T>(kind: i32, x: v128, low: v128, high: v128, bias: v128, least: v128): v128 {
  if (kind == ABS) return v128.abs<T>(x)
  if (kind == NEGATE) return v128.neg<T>(x)
  if (kind == SQUARE) return multiply<T>(x, x)
  if (kind == CLAMP) return lower<T>(higher<T>(x, low, least), high, least)
  const zero = i64x2.splat(0)
  if (kind == SHRINK && !isFloat<T>()) {
    const below = isAbove<T>(low, x, least)
    const above = v128.andnot(isAbove<T>(x, high, least), below)
    return v128.or(v128.and(v128.add<T>(x, bias), below), v128.and(v128.sub<T>(x, bias), above))
  }
  if (isFloat<T>()) {
    if (kind == FLOOR) return f64x2.floor(x)
    if (kind == CEIL) return f64x2.ceil(x)
    if (kind == ROUND) return f64x2.nearest(x)
    if (kind == ROOT) return f64x2.sqrt(x)
    // What is no number, and zeros, are their own signs.
    const isSigned = v128.or(f64x2.lt(x, zero), f64x2.gt(x, zero))
    const one = v128.or(v128.and(x, f64x2.splat(-0.0)), f64x2.splat(1))
    return v128.bitselect(one, x, isSigned)
  }
  return v128.sub<T>(isAbove<T>(zero, x, zero), isAbove<T>(x, zero, zero))
}

// @ts-ignore: decorator
@inline
function changeLine<T>(kind: i32, args: ArithmeticArguments, x: usize, bounds: usize, y: usize, bytes: usize): bool {
  const least = leastOf<T>(args)
  const low = v128.load_splat<T>(bounds)
  const high = kind == CLAMP || kind == SHRINK ? v128.load_splat<T>(bounds, sizeof<T>()) : low
  const bias = kind == SHRINK ? v128.load_splat<T>(bounds, 2 * sizeof<T>()) : low
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  for (; y < vectors; y += 16, x += 16) v128.store(y, change<T>(kind, v128.load(x), low, high, bias, least))
  for (; y < end; y += sizeof<T>(), x += sizeof<T>()) {
    const one = change<T>(kind, v128.load_splat<T>(x), low, high, bias, least)
    store<T>(y, v128.extract_lane<T>(one, 0))
  }
  return false
}
