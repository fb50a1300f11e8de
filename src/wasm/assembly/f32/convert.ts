import { narrowHalves, widenHalves } from '../f16/halves'

/** Elements of one type as those of another, side by side. */
@unmanaged
export class ConvertArguments {
  x: usize
  y: usize
  /** A type from which and one to which, as numbered below. */
  from: i32
  to: i32
}

const FLOAT32: i32 = 0
const INT32: i32 = 1
const INT64: i32 = 2
const BOOL: i32 = 3
const UINT8: i32 = 4
const INT8: i32 = 5
const FLOAT16: i32 = 6
const BFLOAT16: i32 = 7
const FLOAT64: i32 = 8

/** log2 of the bytes of an element. */
function shiftOf(type: i32): u32 {
  return type == INT64 || type == FLOAT64 ? 3 : type >= FLOAT16 ? 1 : type >= BOOL ? 0 : 2
}

/** Converts elements `from … to - 1`. */
export function convertElements(args: ConvertArguments, from: u32, to: u32): void {
  const x = args.x + ((<usize>from) << shiftOf(args.from))
  const y = args.y + ((<usize>from) << shiftOf(args.to))
  const count = to - from
  if (args.to == FLOAT64) return toDoubles(args.from, x, y, count)
  if (args.from == FLOAT64) return fromDoubles(args.to, x, y, count)
  if (args.from >= FLOAT16) return widenHalves(x, y, count, args.from == BFLOAT16)
  if (args.to >= FLOAT16) return narrowHalves(x, y, count, args.to == BFLOAT16)
  switch (args.to) {
    case FLOAT32:
      return toFloats(args.from, x, y, count)
    case INT32:
      return toIntegers(args.from, x, y, count)
    case INT64:
      return toWide(args.from, x, y, count)
    case BOOL:
      return toBooleans(args.from, x, y, count)
    default:
      return toBytes(x, y, count)
  }
}

function toDoubles(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~1)) << 3)
  if (from == FLOAT32) {
    for (; y < whole; x += 8, y += 16) v128.store(y, f64x2.promote_low_f32x4(v128.load64_zero(x)))
    for (; y < end; x += 4, y += 8) f64.store(y, <f64>f32.load(x))
  } else if (from == INT32) {
    for (; y < whole; x += 8, y += 16) v128.store(y, f64x2.convert_low_i32x4_s(v128.load64_zero(x)))
    for (; y < end; x += 4, y += 8) f64.store(y, <f64>load<i32>(x))
  } else for (; y < end; x += 8, y += 8) f64.store(y, <f64>load<i64>(x))
}

/** Doubles to any other type. */
function fromDoubles(to: i32, x: usize, y: usize, count: u32): void {
  if (to == BOOL) return toBooleansFrom(FLOAT64, 8, x, y, count)
  if (to == INT32) return doublesToIntegers(false, x, y, count)
  if (to == UINT8 || to == INT8) return doublesToIntegers(true, x, y, count)
  const end = x + ((<usize>count) << 3)
  if (to == FLOAT32) {
    const whole = x + ((<usize>(count & ~1)) << 3)
    for (; x < whole; x += 16, y += 8) v128.store64_lane(y, f32x4.demote_f64x2_zero(v128.load(x)), 0)
    for (; x < end; x += 8, y += 4) f32.store(y, <f32>f64.load(x))
  } else {
    for (; x < end; x += 8, y += 8) {
      const v = f64.load(x)
      store<i64>(y, v < 9223372036854775808.0 ? <i64>v : i64.MIN_VALUE)
    }
  }
}

/** As {@link truncate}, of four doubles. */
// @ts-ignore: decorator
@inline
function truncateDoubles(v: v128, w: v128): v128 {
  const limit = f64x2.splat(2147483648.0)
  const isBelow = i32x4.shuffle(f64x2.lt(v, limit), f64x2.lt(w, limit), 0, 2, 4, 6)
  const whole = i32x4.shuffle(i32x4.trunc_sat_f64x2_s_zero(v), i32x4.trunc_sat_f64x2_s_zero(w), 0, 1, 4, 5)
  return v128.bitselect(whole, smallest(), isBelow)
}

/** Doubles to int32, or to the lowest byte of it. */
// @ts-ignore: decorator
@inline
function doublesToIntegers(areBytes: bool, x: usize, y: usize, count: u32): void {
  const shift: u32 = areBytes ? 0 : 2
  const end = y + ((<usize>count) << shift)
  const whole = y + ((<usize>(count & ~3)) << shift)
  for (; y < whole; x += 32, y += 4 << shift) {
    const v = truncateDoubles(v128.load(x), v128.load(x, 16))
    if (areBytes) v128.store32_lane(y, i8x16.shuffle(v, v, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12), 0)
    else v128.store(y, v)
  }
  for (; y < end; x += 8, y += 1 << shift) {
    const one = v128.load64_zero(x)
    const v = truncateDoubles(one, one)
    if (areBytes) v128.store8_lane(y, v, 0)
    else v128.store32_lane(y, v, 0)
  }
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

/** As {@link truncate} of one float, with the smallest int64. */
// @ts-ignore: decorator
@inline
function truncateWide(x: f32): i64 {
  return x < 9223372036854775808.0 ? <i64>x : i64.MIN_VALUE
}

/** Four bytes as int32. */
// @ts-ignore: decorator
@inline
function fourBytes(from: i32, x: usize): v128 {
  const v = v128.load32_zero(x)
  return from == INT8
    ? i32x4.extend_low_i16x8_s(i16x8.extend_low_i8x16_s(v))
    : i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v))
}

// @ts-ignore: decorator
@inline
function oneByte(from: i32, x: usize): i32 {
  return from == INT8 ? <i32>load<i8>(x) : <i32>load<u8>(x)
}

function toFloats(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  if (from == INT32) {
    for (; y < whole; x += 16, y += 16) v128.store(y, f32x4.convert_i32x4_s(v128.load(x)))
    for (; y < end; x += 4, y += 4) f32.store(y, <f32>load<i32>(x))
  } else if (from == INT64) {
    for (; y < whole; x += 32, y += 16) {
      const a = v128.load(x)
      const b = v128.load(x, 16)
      const low = i32x4.shuffle(a, b, 0, 2, 4, 6)
      const high = i32x4.shuffle(a, b, 1, 3, 5, 7)
      if (i32x4.all_true(i32x4.eq(high, i32x4.shr_s(low, 31)))) v128.store(y, f32x4.convert_i32x4_s(low))
      else for (let i: usize = 0; i < 4; i++) f32.store(y + (i << 2), <f32>load<i64>(x + (i << 3)))
    }
    for (; y < end; x += 8, y += 4) f32.store(y, <f32>load<i64>(x))
  } else {
    for (; y < whole; x += 4, y += 16) v128.store(y, f32x4.convert_i32x4_s(fourBytes(from, x)))
    for (; y < end; x++, y += 4) f32.store(y, <f32>oneByte(from, x))
  }
}

function toIntegers(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 2)
  const whole = y + ((<usize>(count & ~3)) << 2)
  if (from == FLOAT32) {
    for (; y < whole; x += 16, y += 16) v128.store(y, truncate(v128.load(x)))
    for (; y < end; x += 4, y += 4) store<i32>(y, i32x4.extract_lane(truncate(v128.load32_zero(x)), 0))
  } else if (from == INT64) {
    for (; y < whole; x += 32, y += 16) v128.store(y, i32x4.shuffle(v128.load(x), v128.load(x, 16), 0, 2, 4, 6))
    for (; y < end; x += 8, y += 4) store<i32>(y, load<i32>(x))
  } else {
    for (; y < whole; x += 4, y += 16) v128.store(y, fourBytes(from, x))
    for (; y < end; x++, y += 4) store<i32>(y, oneByte(from, x))
  }
}

// @ts-ignore: decorator
@inline
function storeWide(y: usize, v: v128): void {
  v128.store(y, i64x2.extend_low_i32x4_s(v))
  v128.store(y, i64x2.extend_high_i32x4_s(v), 16)
}

function toWide(from: i32, x: usize, y: usize, count: u32): void {
  const end = y + ((<usize>count) << 3)
  const whole = y + ((<usize>(count & ~3)) << 3)
  if (from == FLOAT32) {
    for (; y < whole; x += 16, y += 32) {
      const v = v128.load(x)
      if (i32x4.all_true(f32x4.lt(f32x4.abs(v), f32x4.splat(2147483648.0)))) storeWide(y, i32x4.trunc_sat_f32x4_s(v))
      else for (let i: usize = 0; i < 4; i++) store<i64>(y + (i << 3), truncateWide(f32.load(x + (i << 2))))
    }
    for (; y < end; x += 4, y += 8) store<i64>(y, truncateWide(f32.load(x)))
  } else if (from == INT32) {
    for (; y < whole; x += 16, y += 32) storeWide(y, v128.load(x))
    for (; y < end; x += 4, y += 8) store<i64>(y, <i64>load<i32>(x))
  } else {
    for (; y < whole; x += 4, y += 32) storeWide(y, fourBytes(from, x))
    for (; y < end; x++, y += 8) store<i64>(y, <i64>oneByte(from, x))
  }
}

/** All bits of each of four elements that is not zero; NaN is not. */
// @ts-ignore: decorator
@inline
function areTrue(from: i32, x: usize): v128 {
  const zero = i32x4.splat(0)
  if (from == FLOAT32) return f32x4.ne(v128.load(x), zero)
  if (from == INT32) return i32x4.ne(v128.load(x), zero)
  if (from == FLOAT64) return i32x4.shuffle(f64x2.ne(v128.load(x), zero), f64x2.ne(v128.load(x, 16), zero), 0, 2, 4, 6)
  return i32x4.shuffle(i64x2.ne(v128.load(x), zero), i64x2.ne(v128.load(x, 16), zero), 0, 2, 4, 6)
}

// @ts-ignore: decorator
@inline
function isTrue(from: i32, x: usize): bool {
  if (from == FLOAT32) return f32.load(x) != 0
  if (from == FLOAT64) return f64.load(x) != 0
  return from == INT32 ? load<i32>(x) != 0 : load<i64>(x) != 0
}

// @ts-ignore: decorator
@inline
function toBooleansFrom(from: i32, width: usize, x: usize, y: usize, count: u32): void {
  const end = y + count
  const whole = y + (count & ~15)
  const four = width << 2
  const one = i8x16.splat(1)
  for (; y < whole; x += four << 2, y += 16) {
    const low = i16x8.narrow_i32x4_s(areTrue(from, x), areTrue(from, x + four))
    const high = i16x8.narrow_i32x4_s(areTrue(from, x + 2 * four), areTrue(from, x + 3 * four))
    v128.store(y, v128.and(i8x16.narrow_i16x8_s(low, high), one))
  }
  for (; y < end; x += width, y++) store<u8>(y, <u8>isTrue(from, x))
}

function toBooleans(from: i32, x: usize, y: usize, count: u32): void {
  if (from == FLOAT32) toBooleansFrom(FLOAT32, 4, x, y, count)
  else if (from == INT32) toBooleansFrom(INT32, 4, x, y, count)
  else toBooleansFrom(INT64, 8, x, y, count)
}

/** Floats to uint8 or int8: the low bits of what they are as int32. */
function toBytes(x: usize, y: usize, count: u32): void {
  const end = y + count
  const whole = y + (count & ~3)
  for (; y < whole; x += 16, y += 4) {
    const v = truncate(v128.load(x))
    v128.store32_lane(y, i8x16.shuffle(v, v, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12), 0)
  }
  for (; y < end; x += 4, y++) store<u8>(y, <u8>i32x4.extract_lane(truncate(v128.load32_zero(x)), 0))
}
