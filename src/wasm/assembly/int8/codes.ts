import { narrowHalves, widenHalves } from '../f16/halves'
import { loadSome } from '../f32/simd'
import { MAGIC, MAGIC_BITS } from './rounding'

/**
 * Numbers quantized to integers, or back, in blocks of so many elements. Elements lie in groups of segments, the last
 * of which may be shorter. Each segment has a row of scales and zero points, which its elements take in turn; rows are
 * taken in turn, too.
 */
@unmanaged
export class CodesArguments {
  x: usize
  /** float32, and int32. */
  scales: usize
  zeros: usize
  to: usize
  /** Elements of a block, and of all. */
  line: u32
  count: u32
  group: u32
  segment: u32
  /** Scales of a row, how many times a short row is written side by side, and rows. */
  period: u32
  times: u32
  channels: u32
  /** 1: codes are signed; 2: they have 16 bits; 4: int32, which is only dequantized; 5: floats, which are only made. */
  type: u32
  /** The lowest code, and how far the highest is from it. */
  lowest: i32
  span: i32
  /** What numbers are: 0 float32, 1 float16, 2 bfloat16. */
  numbers: u32
  /** What quotients are rounded to: 0 float32, 1 float16, 2 bfloat16. */
  quotients: u32
  /** Floats of up to 8 bits as codes: bits of the mantissa, and the exponent of the smallest normal number. */
  mantissa: i32
  minExponent: i32
  /** Codes of the largest number, of what is larger, and of what is no number; the sign bit. */
  most: i32
  tooLarge: i32
  noNumber: i32
  sign: i32
  /** Whether there is no negative zero. */
  hasOneZero: u32
}

const FLOATS: u32 = 5

export function quantizeLines(args: CodesArguments, scratch: usize, from: u32, to: u32): void {
  if (args.type == 0 || args.type == FLOATS) eachLine<u8>(args, scratch, from, to, QUANTIZING)
  else if (args.type == 1) eachLine<i8>(args, scratch, from, to, QUANTIZING)
  else if (args.type == 2) eachLine<u16>(args, scratch, from, to, QUANTIZING)
  else eachLine<i16>(args, scratch, from, to, QUANTIZING)
}

export function dequantizeLines(args: CodesArguments, scratch: usize, from: u32, to: u32): void {
  if (args.type == 0) eachLine<u8>(args, scratch, from, to, DEQUANTIZING)
  else if (args.type == 1) eachLine<i8>(args, scratch, from, to, DEQUANTIZING)
  else if (args.type == 2) eachLine<u16>(args, scratch, from, to, DEQUANTIZING)
  else if (args.type == 3) eachLine<i16>(args, scratch, from, to, DEQUANTIZING)
  else eachLine<i32>(args, scratch, from, to, DEQUANTIZING)
}

/** Numbers that the codes of numbers stand for: there is one scale for all, and numbers are float32. */
export function roundLines(args: CodesArguments, from: u32, to: u32): void {
  for (; from < to; from++) {
    const start = from * args.line
    const at = (<usize>start) << 2
    roundSpan(args, args.x + at, args.to + at, min(args.line, args.count - start))
  }
}

/** What is made: codes of numbers, or numbers of codes. */
const QUANTIZING: u32 = 0
const DEQUANTIZING: u32 = 1

/** Types are parameters, so that each has loops of its own. Floats of 16 bits pass through scratch memory. */
function eachLine<T>(args: CodesArguments, scratch: usize, from: u32, to: u32, mode: u32): void {
  const isHalf = args.numbers != 0
  const isBrain = args.numbers == 2
  const rows = scratch + (args.line << 2)
  for (; from < to; from++) {
    const start = from * args.line
    const n = min(args.line, args.count - start)
    const codes = (<usize>start) << alignof<T>()
    const numbers = (<usize>start) << (isHalf ? 1 : 2)
    if (mode == DEQUANTIZING) {
      eachSpan<T>(args, rows, args.x + codes, isHalf ? scratch : args.to + numbers, start, n, mode)
      if (isHalf) narrowHalves(scratch, args.to + numbers, n, isBrain)
    } else {
      if (isHalf) widenHalves(args.x + numbers, scratch, n, isBrain)
      eachSpan<T>(args, rows, isHalf ? scratch : args.x + numbers, args.to + codes, start, n, mode)
    }
  }
}

/** Segments that are shorter have their scales written side by side first, so many elements at once. */
const SHORT: u32 = 16
const SPREAD: u32 = 512

/**
 * {@link eachSpan} of short segments that have one scale each.
 * @param rows memory for scales and zero points of each element
 */
function eachShort<T>(args: CodesArguments, rows: usize, x: usize, to: usize, start: u32, n: u32, mode: u32): void {
  const segment = args.segment
  const points = rows + ((SPREAD + SHORT) << 2)
  let row = (start / segment) % args.channels
  let left = segment - (start % segment)
  while (n > 0) {
    let size: u32 = 0
    while (size < n && size < SPREAD) {
      const scale = v128.load32_splat(args.scales + (row << 2))
      const zero = v128.load32_splat(args.zeros + (row << 2))
      const at = (<usize>size) << 2
      for (let i: usize = 0; i < left; i += 4) {
        v128.store(rows + at + (i << 2), scale)
        v128.store(points + at + (i << 2), zero)
      }
      size += left
      left = segment
      row = row + 1 == args.channels ? 0 : row + 1
    }
    if (size > n) size = n
    computeSpan<T>(args, x, to, size, rows, points, true, mode)
    x += (<usize>size) << (mode == DEQUANTIZING ? alignof<T>() : 2)
    to += (<usize>size) << (mode == QUANTIZING ? alignof<T>() : 2)
    n -= size
  }
}

function computeSpan<T>(
  args: CodesArguments,
  x: usize,
  to: usize,
  size: u32,
  s: usize,
  z: usize,
  steps: bool,
  mode: u32
): void {
  const shift = args.quotients == 0 ? 0 : args.quotients == 1 ? 13 : 16
  if (mode == QUANTIZING && args.type == FLOATS) floatSpan(args, x, to, size, s, steps, shift)
  else if (mode == QUANTIZING) quantizeSpan<T>(x, to, size, s, z, steps, args.lowest, args.span, shift)
  else if (sizeof<T>() == 4) dequantizeWords(x, to, size, s, z, steps)
  else dequantizeSpan<T>(x, to, size, s, z, steps)
}

/** Writes a short row of scales and zero points several times. */
function repeatRow(args: CodesArguments, row: u32, to: usize): void {
  const at = (<usize>(row * args.period)) << 2
  const bytes = (<usize>args.period) << 2
  const all = bytes * args.times
  for (let i: usize = 0; i < all; i += bytes) {
    for (let j: usize = 0; j < bytes; j += 4) {
      store<u32>(to + i + j, load<u32>(args.scales + at + j))
      store<u32>(to + all + i + j, load<u32>(args.zeros + at + j))
    }
  }
}

/**
 * The `n` elements from `start` on, in spans that have one scale or scales side by side.
 * @param rows memory for a row that is written several times
 */
function eachSpan<T>(args: CodesArguments, rows: usize, x: usize, to: usize, start: u32, n: u32, mode: u32): void {
  const group = args.group
  const segment = args.segment
  const isRepeated = args.times > 1
  const period = args.period * args.times
  const inGroup = start % group
  let row = ((start / group) * ((group + segment - 1) / segment) + inGroup / segment) % args.channels
  let left = min(group - inGroup, segment - (inGroup % segment))
  let leftOfGroup = group - inGroup
  let column = (inGroup % segment) % period
  const steps = period > 1
  if (!steps && segment < SHORT && group % segment == 0 && args.channels > 1)
    return eachShort<T>(args, rows, x, to, start, n, mode)
  if (isRepeated) repeatRow(args, row, rows)
  while (n > 0) {
    let size = min(n, left)
    if (steps) size = min(size, period - column)
    const at = (<usize>(isRepeated ? column : row * period + column)) << 2
    const s = (isRepeated ? rows : args.scales) + at
    const z = (isRepeated ? rows + (period << 2) : args.zeros) + at
    computeSpan<T>(args, x, to, size, s, z, steps, mode)
    x += (<usize>size) << (mode == DEQUANTIZING ? alignof<T>() : 2)
    to += (<usize>size) << (mode == QUANTIZING ? alignof<T>() : 2)
    n -= size
    left -= size
    leftOfGroup -= size
    column = steps && column + size < period ? column + size : 0
    if (left > 0) continue
    if (leftOfGroup == 0) leftOfGroup = group
    left = min(leftOfGroup, segment)
    column = 0
    row = row + 1 == args.channels ? 0 : row + 1
    if (isRepeated && n > 0) repeatRow(args, row, rows)
  }
}

/** @param shift bits that quotients are shorter than float32 */
export function quantizeSpan<T>(
  x: usize,
  to: usize,
  n: u32,
  s: usize,
  z: usize,
  steps: bool,
  lowest: i32,
  reach: i32,
  shift: i32
): void {
  const least = i32x4.splat(lowest)
  const span = f32x4.splat(<f32>reach)
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 8 << alignof<T>()) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    let a = f32x4.div(v128.load(x), low)
    let b = f32x4.div(v128.load(x, 16), high)
    if (shift) {
      a = shortened(a, shift)
      b = shortened(b, shift)
    }
    const p = codesOf(a, zeroA, least, span)
    const q = codesOf(b, zeroB, least, span)
    if (sizeof<T>() == 2) {
      v128.store(to, isSigned<T>() ? i16x8.narrow_i32x4_s(p, q) : i16x8.narrow_i32x4_u(p, q))
    } else {
      const words = i16x8.narrow_i32x4_s(p, q)
      v128.store64_lane(to, isSigned<T>() ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words), 0)
    }
  }
  for (; i < n; i++, x += 4, to += sizeof<T>()) {
    const at = (steps ? i : 0) << 2
    let a = f32x4.div(v128.load32_splat(x), v128.load32_splat(s + at))
    if (shift) a = shortened(a, shift)
    const code = codesOf(a, v128.load32_splat(z + at), least, span)
    if (sizeof<T>() == 2) v128.store16_lane(to, code, 0)
    else v128.store8_lane(to, code, 0)
  }
}

/** Quotients as floats of up to 8 bits, to which zero points of 0 are added. */
function floatSpan(args: CodesArguments, x: usize, to: usize, n: u32, s: usize, steps: bool, shift: i32): void {
  for (let i: u32 = 0; i < n;) {
    const isVector = i + 4 <= n
    const at = s + (steps ? i << 2 : 0)
    const scale = steps && isVector ? v128.load(at) : v128.load32_splat(at)
    let v = f32x4.div(loadSome(x, isVector), scale)
    if (shift) v = shortened(v, shift)
    const words = i16x8.narrow_i32x4_u(floatsOf(args, v), v)
    const bytes = i8x16.narrow_i16x8_u(words, words)
    if (isVector) v128.store32_lane(to, bytes, 0)
    else v128.store8_lane(to, bytes, 0)
    i += isVector ? 4 : 1
    x += isVector ? 16 : 4
    to += isVector ? 4 : 1
  }
}

/** Codes of the nearest floats, ties to even ones, in 32 bits. */
function floatsOf(args: CodesArguments, quotients: v128): v128 {
  const v = f32x4.add(quotients, f32x4.splat(0))
  const isNegative = i32x4.shr_s(v, 31)
  const size = f32x4.abs(v)
  const shift = 23 - args.mantissa
  const odd = v128.and(i32x4.shr_u(size, shift), i32x4.splat(1))
  const rounded = i32x4.add(i32x4.add(size, i32x4.splat((1 << (shift - 1)) - 1)), odd)
  const exponents = (126 + args.minExponent) << args.mantissa
  const normal = i32x4.sub(i32x4.shr_u(rounded, shift), i32x4.splat(exponents))
  // Below the smallest normal number codes are whole numbers of units.
  const units = f32x4.mul(size, i32x4.splat((127 + args.mantissa - args.minExponent) << 23))
  const small = i32x4.sub(f32x4.add(units, f32x4.splat(MAGIC)), i32x4.splat(MAGIC_BITS))
  const isSmall = i32x4.lt_s(size, i32x4.splat((127 + args.minExponent) << 23))
  let code = v128.bitselect(small, normal, isSmall)
  code = v128.bitselect(i32x4.splat(args.tooLarge), code, i32x4.gt_s(code, i32x4.splat(args.most)))
  code = v128.bitselect(code, i32x4.splat(args.noNumber), f32x4.eq(v, v))
  let sign = v128.and(isNegative, i32x4.splat(args.sign))
  if (args.hasOneZero) sign = v128.and(sign, i32x4.ne(code, i32x4.splat(0)))
  return v128.or(code, sign)
}

/**
 * Numbers rounded to the precision of a float of 16 bits, `shift` bits shorter than float32. What is subnormal there
 * keeps more bits, and is next to 0 in codes; so does what is infinite there, and is above all codes.
 */
// @ts-ignore: decorator
@inline
function shortened(v: v128, shift: i32): v128 {
  const odd = v128.and(i32x4.shr_u(v, shift), i32x4.splat(1))
  const most = i32x4.splat((1 << (shift - 1)) - 1)
  return i32x4.shl(i32x4.shr_u(i32x4.add(i32x4.add(v, most), odd), shift), shift)
}

/** Four quotients rounded and clamped to codes, in 32 bits. What is no number has code 0, whatever the zero point. */
// @ts-ignore: decorator
@inline
function codesOf(quotients: v128, zero: v128, least: v128, span: v128): v128 {
  const lowest = f32x4.convert_i32x4_s(i32x4.sub(least, zero))
  const highest = f32x4.add(lowest, span)
  // The bounds are integers, so it is all one whether clamping or rounding comes first.
  const clamped = f32x4.pmax(lowest, f32x4.pmin(highest, quotients))
  const rounded = i32x4.sub(f32x4.add(clamped, f32x4.splat(MAGIC)), i32x4.splat(MAGIC_BITS))
  return v128.and(i32x4.add(rounded, zero), f32x4.eq(quotients, quotients))
}

function dequantizeSpan<T>(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool): void {
  let low = v128.load32_splat(s)
  let high = low
  let zeroA = v128.load32_splat(z)
  let zeroB = zeroA
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 8 << alignof<T>(), to += 32) {
    if (steps) {
      low = v128.load(s + (i << 2))
      high = v128.load(s + (i << 2), 16)
      zeroA = v128.load(z + (i << 2))
      zeroB = v128.load(z + (i << 2), 16)
    }
    const codes = sizeof<T>() == 2 ? v128.load(x) : isSigned<T>() ? v128.load8x8_s(x) : v128.load8x8_u(x)
    const p = isSigned<T>() ? i32x4.extend_low_i16x8_s(codes) : i32x4.extend_low_i16x8_u(codes)
    const q = isSigned<T>() ? i32x4.extend_high_i16x8_s(codes) : i32x4.extend_high_i16x8_u(codes)
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(p, zeroA)), low))
    v128.store(to, f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(q, zeroB)), high), 16)
  }
  for (; i < n; i++, x += sizeof<T>(), to += 4) {
    const at = steps ? i : 0
    store<f32>(to, <f32>(<i32>load<T>(x) - load<i32>(z + (at << 2))) * load<f32>(s + (at << 2)))
  }
}

/** int32, which only double precision holds, as it holds their differences. */
function dequantizeWords(x: usize, to: usize, n: u32, s: usize, z: usize, steps: bool): void {
  let scale = f64x2.splat(<f64>load<f32>(s))
  let zero = f64x2.splat(<f64>load<i32>(z))
  let i: u32 = 0
  for (; i + 2 <= n; i += 2, x += 8, to += 8) {
    if (steps) {
      scale = f64x2.promote_low_f32x4(v128.load64_splat(s + (i << 2)))
      zero = f64x2.convert_low_i32x4_s(v128.load64_splat(z + (i << 2)))
    }
    const codes = f64x2.convert_low_i32x4_s(v128.load64_splat(x))
    v128.store64_lane(to, f32x4.demote_f64x2_zero(f64x2.mul(f64x2.sub(codes, zero), scale)), 0)
  }
  if (i == n) return
  const at = (steps ? i : 0) << 2
  store<f32>(to, <f32>((<f64>load<i32>(x) - <f64>load<i32>(z + at)) * <f64>load<f32>(s + at)))
}

function roundSpan(args: CodesArguments, x: usize, to: usize, n: u32): void {
  const scale = v128.load32_splat(args.scales)
  const zero = v128.load32_splat(args.zeros)
  const least = i32x4.splat(args.lowest)
  const span = f32x4.splat(<f32>args.span)
  let i: u32 = 0
  for (; i + 8 <= n; i += 8, x += 32, to += 32) {
    v128.store(to, levelsOf(v128.load(x), scale, zero, least, span))
    v128.store(to, levelsOf(v128.load(x, 16), scale, zero, least, span), 16)
  }
  for (; i < n; i++, x += 4, to += 4) v128.store32_lane(to, levelsOf(v128.load32_splat(x), scale, zero, least, span), 0)
}

// @ts-ignore: decorator
@inline
function levelsOf(v: v128, scale: v128, zero: v128, least: v128, span: v128): v128 {
  const codes = codesOf(f32x4.div(v, scale), zero, least, span)
  return f32x4.mul(f32x4.convert_i32x4_s(i32x4.sub(codes, zero)), scale)
}
