/*
 * Integers of one width as those of another: wider ones by their sign, narrower ones by their low bits.
 */

/** Four bytes as int32. */
// @ts-ignore: decorator
@inline
export function fourBytes(isSigned: bool, x: usize): v128 {
  const v = v128.load32_zero(x)
  return isSigned
    ? i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v))
    : i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v))
}

// @ts-ignore: decorator
@inline
export function oneByte(isSigned: bool, x: usize): i32 {
  return isSigned ? <i32>load<i8>(x) : <i32>load<u8>(x)
}

/** Four elements of two bytes as int32. */
// @ts-ignore: decorator
@inline
export function fourWords(isSigned: bool, x: usize): v128 {
  const v = v128.load64_zero(x)
  return isSigned ? i32x4.extend_low_i16x8_s(v) : i32x4.extend_low_i16x8_u(v)
}

// @ts-ignore: decorator
@inline
export function oneWord(isSigned: bool, x: usize): i32 {
  return isSigned ? <i32>load<i16>(x) : <i32>load<u16>(x)
}

/** The low halves of four 64-bit integers. */
// @ts-ignore: decorator
@inline
export function lowHalvesOf(x: usize): v128 {
  return i32x4.shuffle(v128.load(x), v128.load(x, 16), 0, 2, 4, 6)
}

/** Stores four int32 as 64-bit integers. */
// @ts-ignore: decorator
@inline
export function storeWide(y: usize, v: v128): void {
  v128.store(y, i64x2.extend_low_i32x4_s(v))
  v128.store(y, i64x2.extend_high_i32x4_s(v), 16)
}

/** Stores the low bits of eight int32, in one byte or two of each. */
// @ts-ignore: decorator
@inline
export function storeNarrow(areBytes: bool, y: usize, a: v128, b: v128): void {
  const mask = i32x4.splat(areBytes ? 0xff : 0xffff)
  const words = i16x8.narrow_i32x4_u(v128.and(a, mask), v128.and(b, mask))
  if (areBytes) v128.store64_lane(y, i8x16.narrow_i16x8_u(words, words), 0)
  else v128.store(y, words)
}

/** The low bits of integers of four or eight bytes, in one byte or two of each. */
// @ts-ignore: decorator
@inline
export function narrowIntegers(width: usize, areBytes: bool, x: usize, y: usize, count: u32): void {
  const shift: usize = areBytes ? 0 : 1
  const end = y + ((<usize>count) << shift)
  const whole = y + ((<usize>(count & ~7)) << shift)
  for (; y < whole; x += width << 3, y += (<usize>8) << shift) {
    if (width == 4) storeNarrow(areBytes, y, v128.load(x), v128.load(x, 16))
    else storeNarrow(areBytes, y, lowHalvesOf(x), lowHalvesOf(x + 32))
  }
  for (; y < end; x += width, y += (<usize>1) << shift) {
    if (areBytes) store<u8>(y, load<u8>(x))
    else store<u16>(y, load<u16>(x))
  }
}

export function wordsToBytes(x: usize, y: usize, count: u32): void {
  const end = y + count
  const mask = i16x8.splat(0xff)
  for (const whole = y + (count & ~15); y < whole; x += 32, y += 16)
    v128.store(y, i8x16.narrow_i16x8_u(v128.and(v128.load(x), mask), v128.and(v128.load(x, 16), mask)))
  for (; y < end; x += 2, y++) store<u8>(y, load<u8>(x))
}

export function bytesToWords(isSigned: bool, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 1)
  for (const whole = y + ((<usize>(count & ~15)) << 1); y < whole; x += 16, y += 32) {
    const v = v128.load(x)
    v128.store(y, isSigned ? i16x8.extend_low_i8x16_s(v) : i16x8.extend_low_i8x16_u(v))
    v128.store(y, isSigned ? i16x8.extend_high_i8x16_s(v) : i16x8.extend_high_i8x16_u(v), 16)
  }
  for (; y < end; x++, y += 2) store<u16>(y, <u16>oneByte(isSigned, x))
}

export function bytesToBooleans(x: usize, y: usize, count: u32): void {
  const end = y + count
  const one = i8x16.splat(1)
  for (const whole = y + (count & ~15); y < whole; x += 16, y += 16) v128.store(y, i8x16.min_u(v128.load(x), one))
  for (; y < end; x++, y++) store<u8>(y, <u8>(load<u8>(x) != 0))
}

export function wordsToBooleans(x: usize, y: usize, count: u32): void {
  const end = y + count
  const one = i16x8.splat(1)
  for (const whole = y + (count & ~15); y < whole; x += 32, y += 16)
    v128.store(y, i8x16.narrow_i16x8_u(i16x8.min_u(v128.load(x), one), i16x8.min_u(v128.load(x, 16), one)))
  for (; y < end; x += 2, y++) store<u8>(y, <u8>(load<u16>(x) != 0))
}
