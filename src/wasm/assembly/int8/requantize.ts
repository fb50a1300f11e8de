import { fma, hidden } from '../f32/simd'
import { ByteConvArguments } from './conv-arguments'
import { MAGIC, missOf } from './rounding'

/*
 * Sums of a convolution of bytes become codes, or floats. `numbers` of the arguments holds
 *   float64: scale of X, scale, zero point, lowest and highest code of Y
 *   float32: lowest and highest code less the zero point
 *   int32:   MAGIC's bits less the zero point
 *   float32: the least limit of all channels; 0 where quotients may be large, or no numbers
 *   int32:   MAGIC's bits less the zero point as int8
 *   int8:    lowest and highest code as int8, what turns int8 into the type of Y (128 or 0), and nothing
 *   float64: for all output channels scales, then biases
 *   float32: for each output channel factor, bias, limit, and nothing
 *
 * The definition is in double precision. Four lanes of float32 give the same code where the quotient is not near a tie:
 * q = sum * factor + bias, with factor = scale of X * scale / scale of Y, and bias in units of the scale of Y. The sum,
 * the factor and their product p are each rounded by 2^-24 of p at most, the bias by 2^-24 of itself, the result by
 * 2^-24 of q; and |p| <= |q| + |bias|. So q is off by less than 2^-22 (|q| + |bias|). Where the codes end, |q| <= B,
 * the largest of their distances from the zero point; beyond, q is clamped. A quotient that is less than limit = 0.5 -
 * 2^-21 (B + 1 + |bias|) away from an integer has thus the same nearest integer in double precision, whose own errors,
 * and those of factors below the normal range, are smaller than the half that is left.
 *
 * Where no sum can make a quotient of 2^21 or more, quotients need no clamping before they are rounded: what is farther
 * than B from the zero point is rounded to what is not nearer, and codes are clamped as bytes.
 */
const SINGLES: usize = 64

/**
 * Turns the sums of eight positions into results, of which the first `count` are written.
 * @param at the sums
 */
// @ts-ignore: decorator
@inline
export function finishRow(args: ByteConvArguments, at: usize, channel: u32, count: u32, to: usize): void {
  finishRows(args, at, channel, 1, count, to)
}

/**
 * {@link finishRow} for successive channels.
 * @param at the sums, eight a channel
 */
export function finishRows(
  args: ByteConvArguments,
  at: usize,
  channel: u32,
  channels: u32,
  count: u32,
  to: usize
): void {
  if (args.result == 0) {
    for (; channels > 0; channels--, at += 32, to += args.yChannel) copySums(at, args.yUnit, count, to)
    return
  }
  if (args.result == 1) {
    scaleRows(args, at, channel, channels, count, to)
    return
  }
  const numbers = args.numbers
  const step = args.yChannel
  const isWhole = args.yUnit == 1 && count == 8
  const isSure =
    isWhole && channels > 1 && load<f32>(numbers, 52) > 0
      ? finishPairs(numbers, at, factorsOf(args, channel), channels, hidden(MAGIC, <i32>(at & 3)), to, step)
      : finishGroups(args, at, factorsOf(args, channel), 16, channels, isWhole, count, to, step)
  if (!isSure) finishExactly(args, at, channel, channels, count, to)
}

/** {@link finishRow} for `count` positions of one channel, whose sums lie side by side. */
export function finishLine(args: ByteConvArguments, at: usize, channel: u32, count: u32, to: usize): void {
  const isPlain = args.result > 1 && args.yUnit == 1
  const groups = isPlain ? count >> 3 : 0
  const isSure = groups == 0 || finishGroups(args, at, factorsOf(args, channel), 0, groups, true, 8, to, 8)
  for (let i: u32 = isSure ? groups : 0; i << 3 < count; i++) {
    const from = i << 3
    finishRow(args, at + (from << 2), channel, min(8, count - from), to + from * args.yUnit)
  }
}

/** Where the numbers of an output channel begin: factor, bias and limit. */
// @ts-ignore: decorator
@inline
function factorsOf(args: ByteConvArguments, channel: u32): usize {
  return args.numbers + SINGLES + ((<usize>(args.groups * args.m + channel)) << 4)
}

/**
 * Codes of groups of eight sums.
 * @param next bytes from the numbers of a group to those of the next
 * @param count codes of a group that are written
 * @param step bytes from the codes of a group to those of the next
 * @returns whether no quotient is near a tie
 */
// @ts-ignore: decorator
@inline
function finishGroups(
  args: ByteConvArguments,
  sums: usize,
  factors: usize,
  next: usize,
  groups: u32,
  isWhole: bool,
  count: u32,
  to: usize,
  step: usize
): bool {
  const numbers = args.numbers
  const lowest = v128.load32_splat(numbers, 40)
  const highest = v128.load32_splat(numbers, 44)
  const zero = v128.load32_splat(numbers, 48)
  // Sums lie at multiples of four bytes.
  const magic = hidden(MAGIC, <i32>(sums & 3))
  const isSigned = args.result == 3
  const unit = args.yUnit
  let near = i32x4.splat(-1)
  for (const end = sums + ((<usize>groups) << 5); sums < end; sums += 32, factors += next, to += step) {
    const factor = v128.load32_splat(factors)
    const bias = v128.load32_splat(factors, 4)
    const limit = v128.load32_splat(factors, 8)
    const low = f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(v128.load(sums)), factor), bias)
    const high = f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(v128.load(sums, 16)), factor), bias)
    // What is no number stays so, and is near no integer.
    const a = f32x4.pmax(f32x4.pmin(low, highest), lowest)
    const b = f32x4.pmax(f32x4.pmin(high, highest), lowest)
    const roundedA = f32x4.add(a, magic)
    const roundedB = f32x4.add(b, magic)
    near = v128.and(near, f32x4.lt(missOf(a, roundedA, magic), limit))
    near = v128.and(near, f32x4.lt(missOf(b, roundedB, magic), limit))
    const words = i16x8.narrow_i32x4_s(i32x4.sub(roundedA, zero), i32x4.sub(roundedB, zero))
    const codes = isSigned ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words)
    if (isWhole) v128.store64_lane(to, codes, 0)
    else storeSomeCodes(to, codes, count, unit)
  }
  return i32x4.bitmask(near) == 15
}

/**
 * {@link finishRows} for eight codes of two channels or more whose quotients are small: two channels at a time.
 * @returns whether no quotient is near a tie
 */
// @ts-ignore: decorator
@inline
function finishPairs(
  numbers: usize,
  sums: usize,
  factors: usize,
  channels: u32,
  magic: v128,
  to: usize,
  step: usize
): bool {
  const shift = v128.load32_splat(numbers, 56)
  const lowest = v128.load8_splat(numbers, 60)
  const highest = v128.load8_splat(numbers, 61)
  const flip = v128.load8_splat(numbers, 62)
  let farthest = i32x4.splat(0)
  for (const end = factors + ((<usize>channels) << 4); factors < end; factors += 32, sums += 64, to += 2 * step) {
    // A last channel without a partner is its own.
    const isPair = end - factors > 16
    const factor = v128.load32_splat(factors)
    const bias = v128.load32_splat(factors, 4)
    const other = isPair ? factors + 16 : factors
    const otherSums = isPair ? sums + 32 : sums
    const otherFactor = v128.load32_splat(other)
    const otherBias = v128.load32_splat(other, 4)
    const a = fma(bias, f32x4.convert_i32x4_s(v128.load(sums)), factor)
    const b = fma(bias, f32x4.convert_i32x4_s(v128.load(sums, 16)), factor)
    const c = fma(otherBias, f32x4.convert_i32x4_s(v128.load(otherSums)), otherFactor)
    const d = fma(otherBias, f32x4.convert_i32x4_s(v128.load(otherSums, 16)), otherFactor)
    const roundedA = f32x4.add(a, magic)
    const roundedB = f32x4.add(b, magic)
    const roundedC = f32x4.add(c, magic)
    const roundedD = f32x4.add(d, magic)
    const farA = missOf(a, roundedA, magic)
    const farB = missOf(b, roundedB, magic)
    const farC = missOf(c, roundedC, magic)
    const farD = missOf(d, roundedD, magic)
    farthest = f32x4.pmax(farthest, f32x4.pmax(f32x4.pmax(farA, farB), f32x4.pmax(farC, farD)))
    const codes = i8x16.narrow_i16x8_s(
      i16x8.narrow_i32x4_s(i32x4.sub(roundedA, shift), i32x4.sub(roundedB, shift)),
      i16x8.narrow_i32x4_s(i32x4.sub(roundedC, shift), i32x4.sub(roundedD, shift))
    )
    const clamped = v128.xor(i8x16.max_s(i8x16.min_s(codes, highest), lowest), flip)
    v128.store64_lane(to, clamped, 0)
    v128.store64_lane(isPair ? to + step : to, clamped, 1)
  }
  return i32x4.bitmask(f32x4.lt(farthest, v128.load32_splat(numbers, 52))) == 15
}

/** {@link finishRows} in double precision: where a quotient of one of the rows is near a tie. */
function finishExactly(args: ByteConvArguments, at: usize, channel: u32, channels: u32, count: u32, to: usize): void {
  for (; channels > 0; channels--, channel++, at += 32, to += args.yChannel) {
    const words = wordsOf(args, at, channel)
    const codes = args.result == 3 ? i8x16.narrow_i16x8_s(words, words) : i8x16.narrow_i16x8_u(words, words)
    storeSomeCodes(to, codes, count, args.yUnit)
  }
}

function storeSomeCodes(to: usize, codes: v128, count: u32, unit: usize): void {
  let rest = i64x2.extract_lane(codes, 0)
  for (; count > 0; count--, to += unit, rest >>= 8) store<u8>(to, <u8>rest)
}

/** Sums that are scaled in double precision and rounded to float32. */
function scaleRows(args: ByteConvArguments, at: usize, channel: u32, channels: u32, count: u32, to: usize): void {
  let scales = args.numbers + SINGLES + ((<usize>channel) << 3)
  const biases = (<usize>(args.groups * args.m)) << 3
  for (const end = scales + ((<usize>channels) << 3); scales < end; scales += 8, at += 32, to += args.yChannel) {
    const scale = v128.load64_splat(scales)
    const bias = v128.load64_splat(scales + biases)
    v128.store(at, floatsOf(args, v128.load(at), scale, bias))
    v128.store(at, floatsOf(args, v128.load(at, 16), scale, bias), 16)
    copySums(at, args.yUnit, count, to)
  }
}

// @ts-ignore: decorator
@inline
function floatsOf(args: ByteConvArguments, sums: v128, scale: v128, bias: v128): v128 {
  const low = f32x4.demote_f64x2_zero(scaled(args, sums, scale, bias))
  return i64x2.shuffle(low, f32x4.demote_f64x2_zero(scaled(args, upper(sums), scale, bias)), 0, 2)
}

/** The lower two of four sums, one step after the other as the reference kernel computes. */
// @ts-ignore: decorator
@inline
function scaled(args: ByteConvArguments, sums: v128, scale: v128, bias: v128): v128 {
  let x = f64x2.convert_low_i32x4_s(sums)
  if (args.bias == 1) x = f64x2.add(x, bias)
  x = f64x2.mul(f64x2.mul(x, v128.load64_splat(args.numbers)), scale)
  return args.bias == 2 ? f64x2.add(x, bias) : x
}

function copySums(at: usize, unit: usize, count: u32, to: usize): void {
  if (unit == 4) memory.copy(to, at, count << 2)
  else for (let j: u32 = 0; j < count; j++, to += unit) store<i32>(to, load<i32>(at + (j << 2)))
}

/** The codes of eight sums in double precision, as int16. */
// @ts-ignore: decorator
@inline
function wordsOf(args: ByteConvArguments, at: usize, channel: u32): v128 {
  const channels = args.numbers + SINGLES
  const scales = channels + ((<usize>channel) << 3)
  const biases = scales + ((<usize>(args.groups * args.m)) << 3)
  const scale = v128.load64_splat(scales)
  const bias = v128.load64_splat(biases)
  const low = v128.load(at)
  const high = v128.load(at, 16)
  const a = i64x2.shuffle(codesOf(args, low, scale, bias), codesOf(args, upper(low), scale, bias), 0, 2)
  const b = i64x2.shuffle(codesOf(args, high, scale, bias), codesOf(args, upper(high), scale, bias), 0, 2)
  return i16x8.narrow_i32x4_s(a, b)
}

// @ts-ignore: decorator
@inline
function upper(sums: v128): v128 {
  return i64x2.shuffle(sums, sums, 1, 0)
}

/** The codes of the lower two of four sums, as integers in the lower two lanes. */
// @ts-ignore: decorator
@inline
function codesOf(args: ByteConvArguments, sums: v128, scale: v128, bias: v128): v128 {
  const numbers = args.numbers
  let x = f64x2.nearest(f64x2.div(scaled(args, sums, scale, bias), v128.load64_splat(numbers, 8)))
  x = f64x2.add(x, v128.load64_splat(numbers, 16))
  x = f64x2.max(v128.load64_splat(numbers, 24), f64x2.min(v128.load64_splat(numbers, 32), x))
  return i32x4.trunc_sat_f64x2_s_zero(x)
}
