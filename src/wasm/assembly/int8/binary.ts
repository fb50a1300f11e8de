import { fma, hidden } from '../f32/simd'
import { firstOffset, secondOffset, unravel } from '../loops'
import { MAGIC, MAGIC_BITS, missOf } from './rounding'

/**
 * Codes of sums or products of what two operands' codes stand for; each of the three is uint8 or int8. The operands are
 * broadcast against the output: lines of `inner` elements, in which an operand moves by one code or stays.
 *
 * The definition is in double precision: y = round(((a - zero of A) * scale of A + (b - zero of B) * scale of B) /
 * scale of Y + zero of Y), or the same with a product; ties go to the even code. Four lanes of float32 give the same
 * code where the quotient is not near a tie: of a sum q = a' f + b' g, with f and g the quotients of scales, each
 * product is off by 2^-23 of itself at most, and the sum by 2^-24 of itself; so q is off by less than 2^-21 (255 |f| +
 * 255 |g|). A product of codes is exact, and q is off by less than 2^-22 of itself, where it is not clamped 2^-22 *
 * 256. `limit` is a half less that, and less what covers the errors of double precision.
 *
 * Or the definition is in float32, each step rounded, as DequantizeLinear, Add and QuantizeLinear have it, and the zero
 * of Y is added after the rounding. Then both are off by 2^-22 of the same at most.
 */
@unmanaged
export class ByteBinaryArguments {
  a: usize
  b: usize
  /** float64: scales of A, B and Y. */
  scales: usize
  y: usize
  kind: i32
  /** Whether the codes of Y are int8. */
  isSigned: u32
  /**
   * What is added without carry to make a code one of Y's type: 0x80, or 0 where it is such. It moves the code by 128,
   * and the caller its zero point, so that their difference stays.
   */
  aFlip: u32
  bFlip: u32
  aZero: i32
  bZero: i32
  yZero: i32
  /** Scale of A by that of Y, and of B by that of Y; of a product, the scale of all three. */
  first: f32
  second: f32
  limit: f32
  isSingle: u32
  /** Lowest and highest code less the zero point of Y. */
  lowest: i32
  highest: i32
  inner: u32
  /** Bytes that an operand moves by from element to element of a line: 1 or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const ADD: i32 = 0
const MULTIPLY: i32 = 1

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function byteBinary(args: ByteBinaryArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    line(args, args.a + from * args.aInner, args.b + from * args.bInner, args.y + from, to - from)
    return
  }
  const loops = changetype<usize>(args) + offsetof<ByteBinaryArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    const a = args.a + firstOffset
    const b = args.b + secondOffset
    line(args, a, b, args.y + i * args.inner, args.inner)
  }
}

function line(args: ByteBinaryArguments, a: usize, b: usize, y: usize, n: u32): void {
  if (args.kind == ADD && n >= 16 && args.aInner == 1 && args.bInner == 1 && hasSmallSums(args)) {
    const done = n & ~15
    if (args.isSigned) addSixteens(args, true, a, b, y, done)
    else addSixteens(args, false, a, b, y, done)
    a += done
    b += done
    y += done
    n -= done
  }
  if (args.kind == ADD) {
    if (args.isSigned) combineLine(args, ADD, true, a, b, y, n)
    else combineLine(args, ADD, false, a, b, y, n)
  } else if (args.isSigned) combineLine(args, MULTIPLY, true, a, b, y, n)
  else combineLine(args, MULTIPLY, false, a, b, y, n)
}

/** Whether sums of differences, up to 255, are less than 2^21 in units of the scale of Y. */
// @ts-ignore: decorator
@inline
function hasSmallSums(args: ByteBinaryArguments): bool {
  return abs<f32>(args.first) + abs<f32>(args.second) < 8192
}

/**
 * {@link combineLine} for sums of a multiple of sixteen codes that lie side by side, where sums are small: they are
 * rounded before they are clamped, as bytes, and ties are looked for in sixteen at once.
 */
// @ts-ignore: decorator
@inline
function addSixteens(args: ByteBinaryArguments, isSigned: bool, a: usize, b: usize, y: usize, n: u32): void {
  const aFlip = i8x16.splat(<i8>args.aFlip)
  const bFlip = i8x16.splat(<i8>args.bFlip)
  const aZero = i16x8.splat(<i16>args.aZero)
  const bZero = i16x8.splat(<i16>args.bZero)
  const first = f32x4.splat(args.first)
  const second = f32x4.splat(args.second)
  const limit = f32x4.splat(args.limit)
  // Arguments lie at a multiple of four bytes.
  const magic = hidden(MAGIC, <i32>(changetype<usize>(args) & 3))
  const shift = i32x4.splat(MAGIC_BITS - args.yZero)
  const lowest = i8x16.splat(<i8>(args.lowest + args.yZero))
  const highest = i8x16.splat(<i8>(args.highest + args.yZero))
  for (const end = y + n; y < end; a += 16, b += 16, y += 16) {
    const p = differences(isSigned, v128.xor(v128.load64_zero(a), aFlip), aZero)
    const q = differences(isSigned, v128.xor(v128.load64_zero(b), bFlip), bZero)
    const p2 = differences(isSigned, v128.xor(v128.load64_zero(a, 8), aFlip), aZero)
    const q2 = differences(isSigned, v128.xor(v128.load64_zero(b, 8), bFlip), bZero)
    const x0 = sumsOf(i32x4.extend_low_i16x8_s(p), first, i32x4.extend_low_i16x8_s(q), second)
    const x1 = sumsOf(i32x4.extend_high_i16x8_s(p), first, i32x4.extend_high_i16x8_s(q), second)
    const x2 = sumsOf(i32x4.extend_low_i16x8_s(p2), first, i32x4.extend_low_i16x8_s(q2), second)
    const x3 = sumsOf(i32x4.extend_high_i16x8_s(p2), first, i32x4.extend_high_i16x8_s(q2), second)
    const r0 = f32x4.add(x0, magic)
    const r1 = f32x4.add(x1, magic)
    const r2 = f32x4.add(x2, magic)
    const r3 = f32x4.add(x3, magic)
    const far0 = missOf(x0, r0, magic)
    const far1 = missOf(x1, r1, magic)
    const far2 = missOf(x2, r2, magic)
    const far3 = missOf(x3, r3, magic)
    const farthest = f32x4.pmax(f32x4.pmax(far0, far1), f32x4.pmax(far2, far3))
    if (i32x4.bitmask(f32x4.lt(farthest, limit)) != 15) {
      oneByOne(args, ADD, isSigned, a, b, y, 16)
      continue
    }
    const low = i16x8.narrow_i32x4_s(i32x4.sub(r0, shift), i32x4.sub(r1, shift))
    const high = i16x8.narrow_i32x4_s(i32x4.sub(r2, shift), i32x4.sub(r3, shift))
    const codes = isSigned
      ? i8x16.max_s(i8x16.min_s(i8x16.narrow_i16x8_s(low, high), highest), lowest)
      : i8x16.max_u(i8x16.min_u(i8x16.narrow_i16x8_u(low, high), highest), lowest)
    v128.store(y, codes)
  }
}

/** Four sums of differences times factors. */
// @ts-ignore: decorator
@inline
function sumsOf(p: v128, first: v128, q: v128, second: v128): v128 {
  return fma(f32x4.mul(f32x4.convert_i32x4_s(q), second), f32x4.convert_i32x4_s(p), first)
}

/** Called with constants, for which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function combineLine(args: ByteBinaryArguments, kind: i32, isSigned: bool, a: usize, b: usize, y: usize, n: u32): void {
  const aFlip = i8x16.splat(<i8>args.aFlip)
  const bFlip = i8x16.splat(<i8>args.bFlip)
  const aZero = i16x8.splat(<i16>args.aZero)
  const bZero = i16x8.splat(<i16>args.bZero)
  const first = f32x4.splat(args.first)
  const second = f32x4.splat(args.second)
  const limit = f32x4.splat(args.limit)
  // Arguments lie at a multiple of four bytes.
  const magic = hidden(MAGIC, <i32>(changetype<usize>(args) & 3))
  const bits = i32x4.splat(MAGIC_BITS - args.yZero)
  const lowest = f32x4.splat(<f32>args.lowest)
  const highest = f32x4.splat(<f32>args.highest)
  const aStep = (<usize>args.aInner) << 3
  const bStep = (<usize>args.bInner) << 3
  const aSame = differences(isSigned, v128.xor(v128.load8_splat(a), aFlip), aZero)
  const bSame = differences(isSigned, v128.xor(v128.load8_splat(b), bFlip), bZero)
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, a += aStep, b += bStep, y += 8) {
    const p = aStep == 0 ? aSame : differences(isSigned, v128.xor(v128.load64_zero(a), aFlip), aZero)
    const q = bStep == 0 ? bSame : differences(isSigned, v128.xor(v128.load64_zero(b), bFlip), bZero)
    let low: v128
    let high: v128
    if (kind == ADD) {
      low = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(p)), first)
      high = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(p)), first)
      low = f32x4.add(low, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(q)), second))
      high = f32x4.add(high, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(q)), second))
    } else {
      low = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extmul_low_i16x8_s(p, q)), first)
      high = f32x4.mul(f32x4.convert_i32x4_s(i32x4.extmul_high_i16x8_s(p, q)), first)
    }
    low = f32x4.pmax(lowest, f32x4.pmin(highest, low))
    high = f32x4.pmax(lowest, f32x4.pmin(highest, high))
    const roundedLow = f32x4.add(low, magic)
    const roundedHigh = f32x4.add(high, magic)
    const nearLow = f32x4.lt(missOf(low, roundedLow, magic), limit)
    const nearHigh = f32x4.lt(missOf(high, roundedHigh, magic), limit)
    if (i32x4.bitmask(v128.and(nearLow, nearHigh)) == 15) {
      const words = i16x8.narrow_i32x4_s(i32x4.sub(roundedLow, bits), i32x4.sub(roundedHigh, bits))
      v128.store64_lane(y, isSigned ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words), 0)
    } else oneByOne(args, kind, isSigned, a, b, y, 8)
  }
  oneByOne(args, kind, isSigned, a, b, y, n - i)
}

/** The lower eight codes less their zero point. */
// @ts-ignore: decorator
@inline
function differences(isSigned: bool, codes: v128, zero: v128): v128 {
  return i16x8.sub(isSigned ? i16x8.extend_low_i8x16_s(codes) : i16x8.extend_low_i8x16_u(codes), zero)
}

/** A code as one of Y's type. */
// @ts-ignore: decorator
@inline
function flipped(at: usize, flip: u32, isSigned: bool): i32 {
  const code = <u32>load<u8>(at) ^ flip
  return isSigned ? <i32>(<i8>code) : <i32>code
}

/** The definition. */
function oneByOne(args: ByteBinaryArguments, kind: i32, isSigned: bool, a: usize, b: usize, y: usize, n: u32): void {
  const aScale = load<f64>(args.scales)
  const bScale = load<f64>(args.scales, 8)
  const yScale = load<f64>(args.scales, 16)
  for (const end = y + n; y < end; y++, a += args.aInner, b += args.bInner) {
    const p = flipped(a, args.aFlip, isSigned) - args.aZero
    const q = flipped(b, args.bFlip, isSigned) - args.bZero
    let rounded: f64
    if (args.isSingle) {
      const x = <f32>p * <f32>aScale
      const z = <f32>q * <f32>bScale
      rounded = nearest<f64>((kind == ADD ? x + z : x * z) / <f32>yScale)
    } else {
      const x = <f64>p * aScale
      const z = <f64>q * bScale
      const yZero = <f64>args.yZero
      rounded = nearest<f64>((kind == ADD ? x + z : x * z) / yScale + yZero) - yZero
    }
    const code = max<f64>(args.lowest, min<f64>(args.highest, rounded))
    store<u8>(y, <u8>(<i32>code + args.yZero))
  }
}
