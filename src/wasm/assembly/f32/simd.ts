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

/** e^r - 1 for r = x - n ln 2, which is at most half of ln 2: a polynomial of degree 6. */
// @ts-ignore: decorator
@inline
function expFraction(x: v128, n: v128): v128 {
  let r = fma(x, n, splat(-0.693359375))
  r = fma(r, n, splat(2.1219444e-4))
  let p = splat(1.38144649546e-3)
  p = fma(splat(8.36878084348e-3), p, r)
  p = fma(splat(4.1668394272e-2), p, r)
  p = fma(splat(1.66665201037e-1), p, r)
  p = fma(splat(4.99999934122e-1), p, r)
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

/** e^x for x <= 0, as Softmax needs it: one factor; what is below e^-87 becomes 0. */
// @ts-ignore: decorator
@inline
export function expNegative(x: v128): v128 {
  const c = f32x4.pmax(splat(-87.3), x)
  const z = f32x4.add(f32x4.mul(c, splat(1.44269504)), splat(MAGIC))
  const p = f32x4.add(expFraction(c, f32x4.sub(z, splat(MAGIC))), splat(1))
  return v128.andnot(f32x4.mul(p, powerOf2(z)), f32x4.lt(x, splat(-87.3)))
}

/** {@link expNegative} where NaN stays NaN. */
// @ts-ignore: decorator
@inline
export function exponential(x: v128): v128 {
  return v128.or(expNegative(x), f32x4.ne(x, x))
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

/** erf: an odd polynomial for |x| below 0.921875, else 1 - e^-poly(|x|). About 1 ulp of 1. */
// @ts-ignore: decorator
@inline
export function erf(v: v128): v128 {
  const sign = v128.and(v, splat(-0.0))
  const a = v128.xor(v, sign)
  const x = f32x4.pmin(splat(3.925), a)
  const s = f32x4.mul(x, x)
  let p = splat(-5.99104969e-4)
  p = fma(splat(4.99339588e-3), p, s)
  p = fma(splat(-2.67667342e-2), p, s)
  p = fma(splat(1.12818025e-1), p, s)
  p = fma(splat(-3.76124859e-1), p, s)
  p = fma(splat(1.28379151e-1), p, s)
  const small = fma(x, p, x)
  let q = splat(1.7294893e-5)
  q = fma(splat(-3.8320868e-4), q, x)
  q = fma(splat(3.88393435e-3), q, x)
  q = fma(splat(-2.42545605e-2), q, x)
  q = fma(splat(1.06777847e-1), q, x)
  q = fma(splat(6.34846687e-1), q, x)
  q = fma(splat(1.28717512e-1), q, x)
  q = fma(x, q, x)
  const big = f32x4.sub(splat(1), expNegative(f32x4.neg(q)))
  const result = v128.bitselect(big, small, f32x4.gt(x, splat(0.921875)))
  // NaN: pmin gives the bound, so it is put back.
  return v128.bitselect(v128.or(result, sign), v, f32x4.eq(v, v))
}

/**
 * x Phi(x), where Phi is the normal distribution: 1/2 + erf(x / sqrt 2) / 2, by a ratio of polynomials that takes a
 * third of the time of {@link erf}. The error is at most 1.6e-7 |x|. Below -5.2381 Phi counts as 0. NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
export function gelu(v: v128): v128 {
  const x = f32x4.pmax(f32x4.pmin(v, splat(5.2381043)), splat(-5.2381043))
  const s = f32x4.mul(x, x)
  let p = splat(5.0613521e-6)
  p = fma(splat(1.50626613e-4), p, s)
  p = fma(splat(4.50388948e-3), p, s)
  p = fma(splat(3.27405035e-2), p, s)
  p = fma(splat(3.98942262e-1), p, s)
  let q = splat(-1.84245053e-9)
  q = fma(splat(7.35873698e-7), q, s)
  q = fma(splat(6.3622676e-5), q, s)
  q = fma(splat(1.75880874e-3), q, s)
  q = fma(splat(2.77462546e-2), q, s)
  q = fma(splat(2.48734608e-1), q, s)
  q = fma(splat(1), q, s)
  const phi = f32x4.add(splat(0.5), f32x4.div(f32x4.mul(x, p), q))
  return f32x4.mul(v, v128.andnot(phi, f32x4.lt(v, splat(-5.2381043))))
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
