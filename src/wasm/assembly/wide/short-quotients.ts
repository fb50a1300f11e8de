import { ArithmeticArguments, DIVIDE, TRUNCATED_MOD } from './arithmetic-arguments'

/**
 * Quotients or remainders of integers of 8 and 16 bits, eight at once. Quotients of float32 that are no integers are
 * farther from the next one than they are rounded by.
 */
export function shortQuotients<T>(args: ArithmeticArguments, a: usize, b: usize, y: usize, bytes: usize): bool {
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

// @ts-ignore: decorator
@inline
function fourQuotients(p: v128, q: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.div(f32x4.convert_i32x4_s(p), f32x4.convert_i32x4_s(q)))
}

/** The low 16 bits of results. */
function quotientsOf(kind: i32, p: v128, q: v128, isUnsigned: bool): v128 {
  const low = isUnsigned
    ? fourQuotients(i32x4.extend_low_i16x8_u(p), i32x4.extend_low_i16x8_u(q))
    : fourQuotients(i32x4.extend_low_i16x8_s(p), i32x4.extend_low_i16x8_s(q))
  const high = isUnsigned
    ? fourQuotients(i32x4.extend_high_i16x8_u(p), i32x4.extend_high_i16x8_u(q))
    : fourQuotients(i32x4.extend_high_i16x8_s(p), i32x4.extend_high_i16x8_s(q))
  const words = i32x4.splat(0xffff)
  const whole = i16x8.narrow_i32x4_u(v128.and(low, words), v128.and(high, words))
  if (kind == DIVIDE) return whole
  const rest = i16x8.sub(p, i16x8.mul(whole, q))
  if (kind == TRUNCATED_MOD || isUnsigned) return rest
  const zero = i16x8.splat(0)
  const differs = i16x8.lt_s(v128.xor(rest, q), zero)
  return i16x8.add(rest, v128.and(q, v128.andnot(differs, i16x8.eq(rest, zero))))
}
