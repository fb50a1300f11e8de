import { widenHalves } from '../f16/halves'
import { fourBytes, fourWords, oneByte, oneWord } from './convert-integers'
import { FLOAT32, INT32, INT64, INT8, FLOAT16, BFLOAT16, FLOAT64, INT16, UINT16, UINT32, UINT64 } from './convert-types'

/* Numbers of any type to float32 and float64. */

/** 2^52 in the upper half of a number of float64, whose lower half is then an integer of 32 bits that is added. */
const LOW: u64 = 0x4330000000000000
/** The same with 2^84, for the upper half of a 64-bit integer; and with the sign bit of it flipped. */
const HIGH: u64 = 0x4530000000000000
const HIGH_FLIPPED: u64 = 0x4530000080000000

/**
 * 64-bit integers as doubles: each half becomes an exact double, and only the sum of both is rounded.
 * @param high bits of the upper halves, and `bias` what they and those of the lower halves add to the sum
 */
// @ts-ignore: decorator
@inline
function widesToDoubles(v: v128, high: u64, bias: f64): v128 {
  const low = v128.or(v128.and(v, i64x2.splat(0xffffffff)), i64x2.splat(LOW))
  const upper = v128.xor(i64x2.shr_u(v, 32), i64x2.splat(high))
  return f64x2.add(f64x2.sub(upper, f64x2.splat(bias)), low)
}

export function toDoubles(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~1)) << 3)
  if (from == FLOAT32) {
    for (; y < whole; x += 8, y += 16) v128.store(y, f64x2.promote_low_f32x4(v128.load64_zero(x)))
    for (; y < end; x += 4, y += 8) f64.store(y, <f64>f32.load(x))
  } else if (from == INT32) {
    for (; y < whole; x += 8, y += 16) v128.store(y, f64x2.convert_low_i32x4_s(v128.load64_zero(x)))
    for (; y < end; x += 4, y += 8) f64.store(y, <f64>load<i32>(x))
  } else if (from == UINT32) {
    for (; y < whole; x += 8, y += 16) v128.store(y, f64x2.convert_low_i32x4_u(v128.load64_zero(x)))
    for (; y < end; x += 4, y += 8) f64.store(y, <f64>load<u32>(x))
  } else if (from == INT64) {
    for (; y < whole; x += 16, y += 16)
      v128.store(y, widesToDoubles(v128.load(x), HIGH_FLIPPED, 19342822341709703277445120.0))
    for (; y < end; x += 8, y += 8) f64.store(y, <f64>load<i64>(x))
  } else {
    for (; y < whole; x += 16, y += 16) v128.store(y, widesToDoubles(v128.load(x), HIGH, 19342813118337666422669312.0))
    for (; y < end; x += 8, y += 8) f64.store(y, <f64>load<u64>(x))
  }
}

/**
 * Doubles as floats towards zero, whose last bit is set where they are no floats: rounded once more, to 16 bits, they
 * are what the doubles are rounded to those.
 */
export function doublesToOdd(x: usize, y: usize, count: u32): void {
  const end = x + ((<usize>count) << 3)
  const whole = x + ((<usize>(count & ~1)) << 3)
  for (; x < whole; x += 16, y += 8) v128.store64_lane(y, oddFloats(v128.load(x)), 0)
  for (; x < end; x += 8, y += 4) v128.store32_lane(y, oddFloats(v128.load64_zero(x)), 0)
}

// @ts-ignore: decorator
@inline
function oddFloats(v: v128): v128 {
  const nearest = f32x4.demote_f64x2_zero(v)
  const back = f64x2.promote_low_f32x4(nearest)
  const isAbove = f64x2.gt(f64x2.abs(back), f64x2.abs(v))
  const isOther = f64x2.ne(back, v)
  const above = i32x4.shuffle(isAbove, isAbove, 0, 2, 0, 2)
  const other = i32x4.shuffle(isOther, isOther, 0, 2, 0, 2)
  return v128.or(i32x4.add(nearest, above), v128.and(other, i32x4.splat(1)))
}

/** Doubles to floats. */
function doublesToFloats(x: usize, y: usize, count: u32): void {
  const end = x + ((<usize>count) << 3)
  const whole = x + ((<usize>(count & ~1)) << 3)
  for (; x < whole; x += 16, y += 8) v128.store64_lane(y, f32x4.demote_f64x2_zero(v128.load(x)), 0)
  for (; x < end; x += 8, y += 4) f32.store(y, <f32>f64.load(x))
}

export function toFloats(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  switch (from) {
    case FLOAT16:
    case BFLOAT16:
      return widenHalves(x, y, count, from == BFLOAT16)
    case FLOAT64:
      return doublesToFloats(x, y, count)
    case INT32:
      for (; y < whole; x += 16, y += 16) v128.store(y, f32x4.convert_i32x4_s(v128.load(x)))
      for (; y < end; x += 4, y += 4) f32.store(y, <f32>load<i32>(x))
      break
    case UINT32:
      for (; y < whole; x += 16, y += 16) v128.store(y, f32x4.convert_i32x4_u(v128.load(x)))
      for (; y < end; x += 4, y += 4) f32.store(y, <f32>load<u32>(x))
      break
    case INT64:
    case UINT64:
      return widesToFloats(from == UINT64, x, y, count)
    case INT16:
    case UINT16:
      for (; y < whole; x += 8, y += 16) v128.store(y, f32x4.convert_i32x4_s(fourWords(from == INT16, x)))
      for (; y < end; x += 2, y += 4) f32.store(y, <f32>oneWord(from == INT16, x))
      break
    default:
      for (; y < whole; x += 4, y += 16) v128.store(y, f32x4.convert_i32x4_s(fourBytes(from == INT8, x)))
      for (; y < end; x++, y += 4) f32.store(y, <f32>oneByte(from == INT8, x))
  }
}

/** 64-bit integers to floats, four at a time where all of them are int32. */
function widesToFloats(isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  for (; y < whole; x += 32, y += 16) {
    const a = v128.load(x)
    const b = v128.load(x, 16)
    const low = i32x4.shuffle(a, b, 0, 2, 4, 6)
    const high = i32x4.shuffle(a, b, 1, 3, 5, 7)
    const sign = i32x4.shr_s(low, 31)
    const isShort = isUnsigned ? !v128.any_true(v128.or(high, sign)) : i32x4.all_true(i32x4.eq(high, sign))
    if (isShort) v128.store(y, f32x4.convert_i32x4_s(low))
    else for (let i: usize = 0; i < 4; i++) f32.store(y + (i << 2), wideToFloat(isUnsigned, x + (i << 3)))
  }
  for (; y < end; x += 8, y += 4) f32.store(y, wideToFloat(isUnsigned, x))
}

// @ts-ignore: decorator
@inline
function wideToFloat(isUnsigned: bool, x: usize): f32 {
  return isUnsigned ? <f32>load<u64>(x) : <f32>load<i64>(x)
}
