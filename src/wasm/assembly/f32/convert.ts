import { narrowHalves } from '../f16/halves'
import { bytesToBooleans, bytesToWords, narrowIntegers, wordsToBooleans, wordsToBytes } from './convert-integers'
import { doublesToOdd, toDoubles, toFloats } from './convert-to-floats'
import { narrowFloats, toIntegers, toWide } from './convert-to-integers'
import {
  FLOAT32,
  INT32,
  INT64,
  BOOL,
  INT8,
  FLOAT16,
  BFLOAT16,
  FLOAT64,
  INT16,
  UINT16,
  UINT32,
  UINT64
} from './convert-types'

/** Elements of one type as those of another, side by side. */
@unmanaged
export class ConvertArguments {
  x: usize
  y: usize
  /** A type from which and one to which, as numbered below. */
  from: i32
  to: i32
  /** Whether elements are converted to float32 first, a few at a time, and then from it. */
  isByFloats: bool
}

/** Elements that are converted to float32 before others are: the first cache holds them. */
const AT_ONCE: u32 = 2048

/** log2 of the bytes of an element. */
function shiftOf(type: i32): u32 {
  switch (type) {
    case FLOAT32:
    case INT32:
    case UINT32:
      return 2
    case INT64:
    case UINT64:
    case FLOAT64:
      return 3
    case FLOAT16:
    case BFLOAT16:
    case INT16:
    case UINT16:
      return 1
    default:
      return 0
  }
}

/** Converts elements `from … to - 1`. */
export function convertElements(args: ConvertArguments, scratch: usize, from: u32, to: u32): void {
  const type = args.from
  const target = args.to
  if (!args.isByFloats)
    return convert(
      type,
      target,
      args.x + ((<usize>from) << shiftOf(type)),
      args.y + ((<usize>from) << shiftOf(target)),
      to - from
    )
  for (; from < to; from += AT_ONCE) {
    const count = min(AT_ONCE, to - from)
    const x = args.x + ((<usize>from) << shiftOf(type))
    if (type == FLOAT64) doublesToOdd(x, scratch, count)
    else convert(type, FLOAT32, x, scratch, count)
    convert(FLOAT32, target, scratch, args.y + ((<usize>from) << shiftOf(target)), count)
  }
}

function convert(from: i32, to: i32, x: usize, y: usize, count: u32): void {
  switch (to) {
    case FLOAT32:
      return toFloats(from, x, y, count)
    case FLOAT64:
      return toDoubles(from, x, y, count)
    case FLOAT16:
    case BFLOAT16:
      return narrowHalves(x, y, count, to == BFLOAT16)
    case INT32:
    case UINT32:
      return toIntegers(from, to == UINT32, x, y, count)
    case INT64:
    case UINT64:
      return toWide(from, to == UINT64, x, y, count)
    case BOOL:
      return toBooleans(from, x, y, count)
    case INT16:
    case UINT16:
      return toWords(from, x, y, count)
    default:
      return toBytes(from, x, y, count)
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
  switch (from) {
    case FLOAT32:
      return toBooleansFrom(FLOAT32, 4, x, y, count)
    case FLOAT64:
      return toBooleansFrom(FLOAT64, 8, x, y, count)
    case INT32:
    case UINT32:
      return toBooleansFrom(INT32, 4, x, y, count)
    case INT64:
    case UINT64:
      return toBooleansFrom(INT64, 8, x, y, count)
    case INT16:
    case UINT16:
      return wordsToBooleans(x, y, count)
    default:
      return bytesToBooleans(x, y, count)
  }
}

/** Numbers to int16 or uint16. */
function toWords(from: i32, x: usize, y: usize, count: u32): void {
  switch (from) {
    case FLOAT32:
      return narrowFloats(FLOAT32, 4, false, x, y, count)
    case FLOAT64:
      return narrowFloats(FLOAT64, 8, false, x, y, count)
    case INT32:
    case UINT32:
      return narrowIntegers(4, false, x, y, count)
    case INT64:
    case UINT64:
      return narrowIntegers(8, false, x, y, count)
    default:
      return bytesToWords(from == INT8, x, y, count)
  }
}

/** Numbers to int8 or uint8. */
function toBytes(from: i32, x: usize, y: usize, count: u32): void {
  switch (from) {
    case FLOAT32:
      return narrowFloats(FLOAT32, 4, true, x, y, count)
    case FLOAT64:
      return narrowFloats(FLOAT64, 8, true, x, y, count)
    case INT32:
    case UINT32:
      return narrowIntegers(4, true, x, y, count)
    case INT64:
    case UINT64:
      return narrowIntegers(8, true, x, y, count)
    default:
      return wordsToBytes(x, y, count)
  }
}
