import { firstOffset, secondOffset, unravel } from '../loops'
import {
  ABS,
  ADD,
  AND,
  ArithmeticArguments,
  CEIL,
  CLAMP,
  DIVIDE,
  EXP,
  FLOAT64,
  FLOOR,
  FLOOR_MOD,
  HALF_SIGN,
  INT32,
  INT64,
  INT8,
  LOG,
  MAXIMUM,
  MINIMUM,
  MULTIPLY,
  NEGATE,
  OR,
  POWER,
  PRELU,
  ROOT,
  ROUND,
  SHIFT_LEFT,
  SHIFT_RIGHT,
  SHRINK,
  SIGMOID,
  SIGN,
  SQUARE,
  SUBTRACT,
  TRUNCATED_MOD,
  XOR
} from './arithmetic-arguments'
import { naturalLogarithms, powersOfE, sigmoids } from './exponential'
import { powers } from './power'
import { shortQuotients } from './short-quotients'

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
      case EXP:
        powersOfE(a, y, bytes)
        return false
      case LOG:
        naturalLogarithms(a, y, bytes)
        return false
      case POWER:
        powers(a, args.aInner, b, args.bInner, y, bytes)
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
      case HALF_SIGN:
        if (sizeof<T>() == 2) return changeLine<T>(HALF_SIGN, args, a, b, y, bytes)
        break
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
  if (kind == HALF_SIGN) {
    const size = v128.and(x, i16x8.splat(0x7fff))
    // What is no number, and zeros, are their own signs.
    const isSigned = v128.andnot(i16x8.gt_s(size, zero), i16x8.gt_s(size, high))
    return v128.bitselect(v128.or(v128.andnot(x, i16x8.splat(0x7fff)), low), x, isSigned)
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
  const high = kind == CLAMP || kind == SHRINK || kind == HALF_SIGN ? v128.load_splat<T>(bounds, sizeof<T>()) : low
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
