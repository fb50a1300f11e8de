import { fourBytes, fourWords, lowHalvesOf, oneByte, oneWord, storeNarrow, storeWide } from './convert-integers'
import { FLOAT32, INT32, INT64, INT8, FLOAT64, INT16, UINT16, UINT32, UINT64 } from './convert-types'

/* Numbers of any type to integers of four and eight bytes, and floats to narrower ones. */

/** As {@link truncate}, of four doubles. */
// @ts-ignore: decorator
@inline
function truncateDoubles(v: v128, w: v128): v128 {
  const limit = f64x2.splat(2147483648.0)
  const isBelow = i32x4.shuffle(f64x2.lt(v, limit), f64x2.lt(w, limit), 0, 2, 4, 6)
  const whole = i32x4.shuffle(i32x4.trunc_sat_f64x2_s_zero(v), i32x4.trunc_sat_f64x2_s_zero(w), 0, 1, 4, 5)
  return v128.bitselect(whole, smallest(), isBelow)
}

/** The smallest int32, which stands for what is none. */
// @ts-ignore: decorator
@inline
function smallest(): v128 {
  return i32x4.splat(i32.MIN_VALUE)
}

/** Four floats rounded towards zero; the smallest int32 where the result is none. */
// @ts-ignore: decorator
@inline
function truncate(v: v128): v128 {
  const isBelow = f32x4.lt(v, f32x4.splat(2147483648.0))
  return v128.bitselect(i32x4.trunc_sat_f32x4_s(v), smallest(), isBelow)
}

/** Four floats to uint32: as {@link truncate} below 2^31, and what is above it by that much less. */
// @ts-ignore: decorator
@inline
function truncateUnsigned(v: v128): v128 {
  const limit = f32x4.splat(2147483648.0)
  const isUpper = f32x4.ge(v, limit)
  return v128.xor(truncate(f32x4.sub(v, v128.and(isUpper, limit))), v128.and(isUpper, smallest()))
}

/** The same of four doubles. */
// @ts-ignore: decorator
@inline
function truncateDoublesUnsigned(v: v128, w: v128): v128 {
  const limit = f64x2.splat(2147483648.0)
  const first = f64x2.ge(v, limit)
  const second = f64x2.ge(w, limit)
  const isUpper = i32x4.shuffle(first, second, 0, 2, 4, 6)
  const below = truncateDoubles(f64x2.sub(v, v128.and(first, limit)), f64x2.sub(w, v128.and(second, limit)))
  return v128.xor(below, v128.and(isUpper, smallest()))
}

/** A number rounded towards zero, or the smallest int64; to uint64 what is above 2^63 is taken by that much less. */
// @ts-ignore: decorator
@inline
function truncateDouble(x: f64, isUnsigned: bool): i64 {
  const limit = 9223372036854775808.0
  if (isUnsigned && x >= limit) return (x - limit < limit ? <i64>(x - limit) : i64.MIN_VALUE) ^ i64.MIN_VALUE
  return x < limit ? <i64>x : i64.MIN_VALUE
}

/** Four numbers as int32, or as uint32. */
// @ts-ignore: decorator
@inline
function fourTruncated(from: i32, isUnsigned: bool, x: usize): v128 {
  if (from == FLOAT32) return isUnsigned ? truncateUnsigned(v128.load(x)) : truncate(v128.load(x))
  const low = v128.load(x)
  const high = v128.load(x, 16)
  return isUnsigned ? truncateDoublesUnsigned(low, high) : truncateDoubles(low, high)
}

// @ts-ignore: decorator
@inline
function oneTruncated(from: i32, isUnsigned: bool, x: usize): i32 {
  if (from == FLOAT32) {
    const v = v128.load32_zero(x)
    return i32x4.extract_lane(isUnsigned ? truncateUnsigned(v) : truncate(v), 0)
  }
  const v = v128.load64_zero(x)
  return i32x4.extract_lane(isUnsigned ? truncateDoublesUnsigned(v, v) : truncateDoubles(v, v), 0)
}

/** Floats to int32 or uint32. */
// @ts-ignore: decorator
@inline
function truncateAll(from: i32, width: usize, isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  for (; y < whole; x += width << 2, y += 16) v128.store(y, fourTruncated(from, isUnsigned, x))
  for (; y < end; x += width, y += 4) store<i32>(y, oneTruncated(from, isUnsigned, x))
}

export function toIntegers(from: i32, isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  switch (from) {
    case FLOAT32:
      return isUnsigned ? truncateAll(FLOAT32, 4, true, x, y, count) : truncateAll(FLOAT32, 4, false, x, y, count)
    case FLOAT64:
      return isUnsigned ? truncateAll(FLOAT64, 8, true, x, y, count) : truncateAll(FLOAT64, 8, false, x, y, count)
    case INT64:
    case UINT64:
      for (; y < whole; x += 32, y += 16) v128.store(y, lowHalvesOf(x))
      for (; y < end; x += 8, y += 4) store<i32>(y, load<i32>(x))
      break
    case INT16:
    case UINT16:
      for (; y < whole; x += 8, y += 16) v128.store(y, fourWords(from == INT16, x))
      for (; y < end; x += 2, y += 4) store<i32>(y, oneWord(from == INT16, x))
      break
    default:
      for (; y < whole; x += 4, y += 16) v128.store(y, fourBytes(from == INT8, x))
      for (; y < end; x++, y += 4) store<i32>(y, oneByte(from == INT8, x))
  }
}

export function toWide(from: i32, isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~3)) << 3)
  switch (from) {
    case FLOAT32:
      return floatsToWide(isUnsigned, x, y, count)
    case FLOAT64:
      return doublesToWide(isUnsigned, x, y, count)
    case INT32:
      for (; y < whole; x += 16, y += 32) storeWide(y, v128.load(x))
      for (; y < end; x += 4, y += 8) store<i64>(y, <i64>load<i32>(x))
      break
    case UINT32:
      for (; y < whole; x += 16, y += 32) {
        const v = v128.load(x)
        v128.store(y, i64x2.extend_low_i32x4_u(v))
        v128.store(y, i64x2.extend_high_i32x4_u(v), 16)
      }
      for (; y < end; x += 4, y += 8) store<i64>(y, <i64>load<u32>(x))
      break
    case INT16:
    case UINT16:
      for (; y < whole; x += 8, y += 32) storeWide(y, fourWords(from == INT16, x))
      for (; y < end; x += 2, y += 8) store<i64>(y, <i64>oneWord(from == INT16, x))
      break
    default:
      for (; y < whole; x += 4, y += 32) storeWide(y, fourBytes(from == INT8, x))
      for (; y < end; x++, y += 8) store<i64>(y, <i64>oneByte(from == INT8, x))
  }
}

/** Floats to 64-bit integers, four at a time where all of them are int32. */
function floatsToWide(isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~3)) << 3)
  const limit = f32x4.splat(2147483648.0)
  for (; y < whole; x += 16, y += 32) {
    const v = v128.load(x)
    if (i32x4.all_true(f32x4.lt(f32x4.abs(v), limit))) storeWide(y, i32x4.trunc_sat_f32x4_s(v))
    else
      for (let i: usize = 0; i < 4; i++)
        store<i64>(y + (i << 3), truncateDouble(<f64>f32.load(x + (i << 2)), isUnsigned))
  }
  for (; y < end; x += 4, y += 8) store<i64>(y, truncateDouble(<f64>f32.load(x), isUnsigned))
}

/** The same of doubles. */
function doublesToWide(isUnsigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~1)) << 3)
  const limit = f64x2.splat(2147483648.0)
  for (; y < whole; x += 16, y += 16) {
    const v = v128.load(x)
    if (i64x2.all_true(f64x2.lt(f64x2.abs(v), limit)))
      v128.store(y, i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(v)))
    else for (let i: usize = 0; i < 16; i += 8) store<i64>(y + i, truncateDouble(f64.load(x + i), isUnsigned))
  }
  for (; y < end; x += 8, y += 8) store<i64>(y, truncateDouble(f64.load(x), isUnsigned))
}

/** The low bits of floats as int32. */
// @ts-ignore: decorator
@inline
export function narrowFloats(from: i32, width: usize, areBytes: bool, x: usize, y: usize, count: u32): void {
  const shift: usize = areBytes ? 0 : 1
  const end = y + ((<usize>count) << shift)
  const whole = y + ((<usize>(count & ~7)) << shift)
  for (; y < whole; x += width << 3, y += (<usize>8) << shift)
    storeNarrow(areBytes, y, fourTruncated(from, false, x), fourTruncated(from, false, x + (width << 2)))
  for (; y < end; x += width, y += (<usize>1) << shift) {
    const one = oneTruncated(from, false, x)
    if (areBytes) store<u8>(y, <u8>one)
    else store<u16>(y, <u16>one)
  }
}
