/** Multiplies and adds: fused in the relaxed module, rounded twice in the plain one. */
// @ts-ignore: decorator
@inline
export function fma(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(c, f32x4.mul(a, b))
}

// @ts-ignore: decorator
@inline
export function splat(x: f32): v128 {
  return f32x4.splat(x)
}

/**
 * A constant vector of which no compiler knows that it is constant, so that it is made once before a loop. Else V8
 * makes it anew for each vector, by three instructions.
 * @param zero 0 by an expression that is not known to be 0
 */
// @ts-ignore: decorator
@inline
export function hidden(value: f32, zero: i32): v128 {
  return i32x4.splat(reinterpret<i32>(value) + zero)
}

/** A whole vector, or one element in all lanes: up to three elements at the end of a span are computed so. */
// @ts-ignore: decorator
@inline
export function loadSome(x: usize, isWhole: bool): v128 {
  return isWhole ? v128.load(x) : v128.load32_splat(x)
}

/**
 * Stores what {@link loadSome} has loaded.
 * @returns bytes to what comes next
 */
// @ts-ignore: decorator
@inline
export function storeSome(y: usize, v: v128, isWhole: bool): usize {
  if (isWhole) v128.store(y, v)
  else f32.store(y, f32x4.extract_lane(v, 0))
  return isWhole ? 16 : 4
}

/** Sum of the four lanes, pairwise. */
// @ts-ignore: decorator
@inline
export function sumOf(v: v128): f32 {
  const w = f32x4.add(v, i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  return f32x4.extract_lane(w, 0) + f32x4.extract_lane(w, 1)
}

/** Sum of four lanes of int32. */
// @ts-ignore: decorator
@inline
export function sumOfInts(v: v128): i32 {
  return i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3)
}

/** Largest of the four lanes; NaN where one is NaN. */
// @ts-ignore: decorator
@inline
export function maxOf(v: v128): f32 {
  const w = f32x4.max(v, i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  return max(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1))
}

/** Added to a number and subtracted again, it leaves the nearest whole number; in between, that is in the low bits. */
const MAGIC: f32 = 12582912.0

// Of the polynomial of degree 6 for e^r with |r| <= ln 2 / 2, which begins with 1 + r.
export const C2: f32 = 4.99999934122e-1
export const C3: f32 = 1.66665201037e-1
export const C4: f32 = 4.1668394272e-2
export const C5: f32 = 8.36878084348e-3
export const C6: f32 = 1.38144649546e-3

/** e^r - 1 for r = x - n ln 2, which is at most half of ln 2. */
// @ts-ignore: decorator
@inline
function expFraction(x: v128, n: v128): v128 {
  let r = fma(x, n, splat(-0.693359375))
  r = fma(r, n, splat(2.1219444e-4))
  let p = splat(C6)
  p = fma(splat(C5), p, r)
  p = fma(splat(C4), p, r)
  p = fma(splat(C3), p, r)
  p = fma(splat(C2), p, r)
  return fma(r, p, f32x4.mul(r, r))
}

/**
 * e^x: x = n ln 2 + r, a polynomial for e^r, and n added to the exponent in two halves, so that results below the
 * smallest normal number come out as subnormal numbers. About 1 ulp. NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
export function exp(v: v128): v128 {
  // NaN passes both, since each keeps its first operand unless the second is beyond it.
  const x = f32x4.pmax(f32x4.pmin(v, splat(89.0)), splat(-104.0))
  const z = f32x4.add(f32x4.mul(x, splat(1.44269504)), splat(MAGIC))
  const p = f32x4.add(expFraction(x, f32x4.sub(z, splat(MAGIC))), splat(1))
  // Two factors 2^h and 2^(n-h) reach the whole range without overflow of the exponent.
  const i = i32x4.sub(z, i32x4.splat(0x4b400000))
  const h = i32x4.shr_s(i, 1)
  const bias = i32x4.splat(127)
  const scale1 = i32x4.shl(i32x4.add(h, bias), 23)
  const scale2 = i32x4.shl(i32x4.add(i32x4.sub(i, h), bias), 23)
  return f32x4.mul(f32x4.mul(p, scale1), scale2)
}

/** 2^n for the n in the low bits of `z`, within the range of exponents. */
// @ts-ignore: decorator
@inline
function powerOf2(z: v128): v128 {
  return i32x4.shl(i32x4.add(z, i32x4.splat(127 - 0x4b400000)), 23)
}

/**
 * tanh |x| = m / (m + 2) with m = e^2|x| - 1, whose digits do not cancel: 2^n (e^r - 1) + (2^n - 1). About 1.5 ulp. NaN
 * stays NaN.
 */
// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const sign = v128.and(x, splat(-0.0))
  const a = v128.xor(x, sign)
  const c = f32x4.pmin(f32x4.add(a, a), splat(20))
  const z = f32x4.add(f32x4.mul(c, splat(1.44269504)), splat(MAGIC))
  const scale = powerOf2(z)
  const m = fma(f32x4.sub(scale, splat(1)), scale, expFraction(c, f32x4.sub(z, splat(MAGIC))))
  return v128.or(f32x4.div(m, f32x4.add(m, splat(2))), sign)
}

/**
 * Natural logarithm: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a polynomial of degree 9 for log m. Zero gives
 * -Infinity, less NaN.
 */
// @ts-ignore: decorator
@inline
export function log(v: v128): v128 {
  // Subnormal numbers are scaled into the normal range first.
  const tiny = f32x4.lt(v, splat(1.17549435e-38))
  const x = v128.bitselect(f32x4.mul(v, splat(8388608.0)), v, tiny)
  const shift = v128.and(tiny, splat(23.0))
  let e = i32x4.sub(i32x4.shr_u(x, 23), i32x4.splat(126))
  let m = v128.or(v128.and(x, i32x4.splat(0x007fffff)), i32x4.splat(0x3f000000))
  const low = f32x4.lt(m, splat(0.707106781))
  e = i32x4.add(e, low)
  m = f32x4.sub(f32x4.add(m, v128.and(m, low)), splat(1))
  const n = f32x4.sub(f32x4.convert_i32x4_s(e), shift)
  const s = f32x4.mul(m, m)
  let p = splat(7.0376836292e-2)
  p = fma(splat(-1.151461031e-1), p, m)
  p = fma(splat(1.167699874e-1), p, m)
  p = fma(splat(-1.2420140846e-1), p, m)
  p = fma(splat(1.4249322787e-1), p, m)
  p = fma(splat(-1.6668057665e-1), p, m)
  p = fma(splat(2.0000714765e-1), p, m)
  p = fma(splat(-2.4999993993e-1), p, m)
  p = fma(splat(3.3333331174e-1), p, m)
  p = f32x4.mul(f32x4.mul(p, m), s)
  p = fma(p, n, splat(-2.1219444e-4))
  p = fma(p, s, splat(-0.5))
  let r = f32x4.add(m, p)
  r = fma(r, n, splat(0.693359375))
  r = v128.bitselect(v, r, v128.or(f32x4.eq(v, splat(Infinity)), f32x4.ne(v, v)))
  r = v128.bitselect(splat(-Infinity), r, f32x4.eq(v, splat(0)))
  return v128.bitselect(splat(NaN), r, f32x4.lt(v, splat(0)))
}
