import { fma, hidden, loadSome, splat, storeSome } from './simd'

/** 1 / ln 2. */
export const FACTOR: f32 = 1.44269504
/** Added to a number, it leaves the nearest whole number plus 127, the bias of exponents, in the low bits. */
export const MAGIC: f32 = 12583039
/**
 * ln 2 in two parts. The first suffices where products are not rounded and results of a large |x| hardly count; where
 * they are rounded, any n times it is exact.
 */
export const LN2: f32 = ASC_FEATURE_RELAXED_SIMD ? 0.693147182 : 0.693359375
export const REST: f32 = ASC_FEATURE_RELAXED_SIMD ? -1.90465433e-9 : -2.1219444e-4
// Of the polynomial of degree 6 for e^r with |r| <= ln 2 / 2, which begins with 1 + r.
export const C2: f32 = 4.99999934122e-1
export const C3: f32 = 1.66665201037e-1
export const C4: f32 = 4.1668394272e-2
export const C5: f32 = 8.36878084348e-3
export const C6: f32 = 1.38144649546e-3

/** What {@link squareOf} adds. */
const LEAST: f32 = ASC_FEATURE_RELAXED_SIMD ? 1e-24 : 1e-12

/**
 * r², about 1e-24 at least, for polynomials in which so little does not count. The square of a number from 1e-23 to
 * 1e-19 would be subnormal, and each instruction that meets such a number takes processors of Intel 150 cycles.
 */
// @ts-ignore: decorator
@inline
export function squareOf(r: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return fma(splat(LEAST), r, r)
  const moved = f32x4.add(r, splat(LEAST))
  return f32x4.mul(moved, moved)
}

/**
 * A polynomial of degree 5. Where products are rounded, each step of Horner's rule waits for two instructions: pairs of
 * terms, which wait for each other less, take 0.9 of the time of a loop there, and 1.05 with fused multiply-add.
 */
// @ts-ignore: decorator
@inline
export function polynomial(r: v128, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return fma(c0, fma(c1, fma(c2, fma(c3, fma(c4, c5, r), r), r), r), r)
  const square = squareOf(r)
  return fma(fma(c0, c1, r), fma(fma(c2, c3, r), fma(c4, c5, r), square), square)
}

/** 2^n for n + {@link MAGIC}. */
// @ts-ignore: decorator
@inline
export function powerOf2(z: v128): v128 {
  return i32x4.shl(z, 23)
}

/**
 * What is left of c where n times ln 2 is taken away, for z = n + {@link MAGIC}. With fused instructions the second
 * part of ln 2 hardly counts; see {@link LN2}.
 */
// @ts-ignore: decorator
@inline
function remainder(c: v128, z: v128, magic: v128, ln2: v128, rest: v128): v128 {
  const minus = f32x4.sub(magic, z)
  const r = fma(c, minus, ln2)
  return ASC_FEATURE_RELAXED_SIMD ? r : fma(r, minus, rest)
}

/**
 * 2^n e^r - 1 with |r| <= ln 2 / 2 and z = n + {@link MAGIC}, as 2^n (e^r - 1) + (2^n - 1), whose digits do not cancel.
 */
// @ts-ignore: decorator
@inline
export function lessOne(r: v128, z: v128, one: v128, c2: v128, c3: v128, c4: v128, c5: v128, c6: v128): v128 {
  const scale = powerOf2(z)
  return fma(f32x4.sub(scale, one), scale, f32x4.mul(r, polynomial(r, one, c2, c3, c4, c5, c6)))
}

/** From there on down n + 127 is 0, as is the number with these bits. */
export const LOWEST: f32 = -88

/**
 * e^x for x <= 0: 2^n e^r, where n is the nearest whole number to x / ln 2. About 1 ulp. What is below e^-87.7 becomes
 * 0, and NaN stays NaN. A loop passes constants that it has made once.
 */
// @ts-ignore: decorator
@inline
export function exponential(
  x: v128,
  lowest: v128 = splat(LOWEST),
  factor: v128 = splat(FACTOR),
  magic: v128 = splat(MAGIC),
  ln2: v128 = splat(LN2),
  rest: v128 = splat(REST),
  one: v128 = splat(1),
  c2: v128 = splat(C2),
  c3: v128 = splat(C3),
  c4: v128 = splat(C4),
  c5: v128 = splat(C5),
  c6: v128 = splat(C6)
): v128 {
  const c = f32x4.pmax(x, lowest)
  const z = fma(magic, c, factor)
  const r = remainder(c, z, magic, ln2, rest)
  return f32x4.mul(fma(one, polynomial(r, one, c2, c3, c4, c5, c6), r), powerOf2(z))
}

/** e^x - 1 for x <= 0, by {@link lessOne}; otherwise as {@link exponential}. About 1.5 ulp. */
// @ts-ignore: decorator
@inline
function exponentialLessOne(
  x: v128,
  lowest: v128,
  factor: v128,
  magic: v128,
  ln2: v128,
  rest: v128,
  one: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
  c6: v128
): v128 {
  const c = f32x4.pmax(x, lowest)
  const z = fma(magic, c, factor)
  return lessOne(remainder(c, z, magic, ln2, rest), z, one, c2, c3, c4, c5, c6)
}

// From 88.8 on e^x is Infinity, below -104 it is 0.
const LOW: f32 = -104
const HIGH: f32 = 89

/**
 * e^x for all x: 2^n e^r, where 2^n is a product of two numbers, so that it reaches the whole range, and results below
 * the smallest normal number come out as subnormal numbers. About 1 ulp. NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
function exp(
  x: v128,
  low: v128,
  high: v128,
  halfFactor: v128,
  factor: v128,
  magic: v128,
  ln2: v128,
  rest: v128,
  one: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
  c6: v128
): v128 {
  // NaN passes both, since each keeps its first operand unless the second is beyond it.
  const c = f32x4.pmax(f32x4.pmin(x, high), low)
  const z = fma(magic, c, factor)
  const minus = f32x4.sub(magic, z)
  const r = fma(fma(c, minus, ln2), minus, rest)
  const p = fma(one, polynomial(r, one, c2, c3, c4, c5, c6), r)
  const half = fma(magic, c, halfFactor)
  return f32x4.mul(f32x4.mul(p, powerOf2(half)), powerOf2(f32x4.add(z, f32x4.sub(magic, half))))
}

// What {@link expSpan} computes, by the numbers of ./unary.ts.
export const ELU: i32 = 10
export const EXP: i32 = 11
export const CELU: i32 = 44
export const SELU: i32 = 45
export const MISH: i32 = 48
export const SOFTPLUS: i32 = 50
// Of a polynomial in s^2, which begins with 2, for 2 atanh(s) / s with s <= 1/3: off by 5e-9.
const A1: f32 = 0.6666641
const A2: f32 = 0.40021791
const A3: f32 = 0.27998173
const A4: f32 = 0.2802764

/** One of the functions above for elements side by side; x and y may be the same, and `bytes` is not 0. */
// @ts-ignore: decorator
@inline
export function expSpan(kind: i32, x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  const end = y + bytes
  let limit = y + (bytes & ~15)
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const lowest = hidden(LOWEST, zero)
  const low = hidden(LOW, zero)
  // Of Mish: beyond it, tanh(log(1 + e^x)) is 1.
  const high = hidden(kind == MISH ? 20 : HIGH, zero)
  const factor = hidden(FACTOR, zero)
  const halfFactor = hidden(FACTOR / 2, zero)
  const magic = hidden(MAGIC, zero)
  const ln2 = hidden(LN2, zero)
  const rest = hidden(REST, zero)
  const one = hidden(1, zero)
  const two = hidden(2, zero)
  const c2 = hidden(C2, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  const c6 = hidden(C6, zero)
  const a1 = hidden(A1, zero)
  const a2 = hidden(A2, zero)
  const a3 = hidden(A3, zero)
  const a4 = hidden(A4, zero)
  do {
    const isWhole = y < limit
    if (!isWhole) limit = end
    do {
      const v = loadSome(x, isWhole)
      let w: v128
      if (kind == SOFTPLUS) {
        // log(1 + e^v) = max(v, 0) + log(1 + e) with e = e^-|v|, and log(1 + e) = 2 atanh(e / (2 + e)).
        const e = exponential(f32x4.neg(f32x4.abs(v)), lowest, factor, magic, ln2, rest, one, c2, c3, c4, c5, c6)
        const s = f32x4.div(e, f32x4.add(two, e))
        const z = f32x4.mul(s, s)
        const t = fma(two, fma(a1, fma(a2, fma(a3, a4, z), z), z), z)
        w = fma(f32x4.pmax(v, splat(0)), t, s)
      } else if (kind == ELU || kind == SELU || kind == CELU) {
        // The parameter of Celu is positive, so that what it divides keeps its sign.
        const u = kind == CELU ? f32x4.div(v, p) : v
        const e = exponentialLessOne(u, lowest, factor, magic, ln2, rest, one, c2, c3, c4, c5, c6)
        w = v128.bitselect(f32x4.mul(p, e), v, f32x4.lt(v, splat(0)))
        if (kind == SELU) w = f32x4.mul(q, w)
      } else {
        w = exp(v, low, high, halfFactor, factor, magic, ln2, rest, one, c2, c3, c4, c5, c6)
        if (kind == MISH) {
          // tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2).
          const n = f32x4.mul(w, f32x4.add(w, two))
          w = f32x4.mul(v, f32x4.div(n, f32x4.add(n, two)))
        }
      }
      const step = storeSome(y, w, isWhole)
      x += step
      y += step
    } while (y < limit)
  } while (y < end)
}

/**
 * y = e^(x - base), with no x above `base`, for vectors, or where not `isWhole` single elements, that are `step` bytes
 * apart, at least one; x and y may be the same.
 * @param stores whether y is written
 * @returns the sums of the four lanes
 */
// @ts-ignore: decorator
@inline
function sumsOfExponentials(
  isWhole: bool,
  stores: bool,
  x: usize,
  y: usize,
  bytes: usize,
  step: usize,
  base: v128
): v128 {
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const lowest = hidden(LOWEST, zero)
  const factor = hidden(FACTOR, zero)
  const magic = hidden(MAGIC, zero)
  const ln2 = hidden(LN2, zero)
  const rest = hidden(REST, zero)
  const one = hidden(1, zero)
  const c2 = hidden(C2, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  const c6 = hidden(C6, zero)
  const end = y + bytes
  // Two sums that take turns: each has half of the roundings.
  let sums = splat(0)
  let more = sums
  do {
    const v = f32x4.sub(loadSome(x, isWhole), base)
    const e = exponential(v, lowest, factor, magic, ln2, rest, one, c2, c3, c4, c5, c6)
    if (stores) storeSome(y, e, isWhole)
    const sum = f32x4.add(sums, e)
    sums = more
    more = sum
    x += step
    y += step
    // Not below it: behind columns at the end of the memory, `end` is above 4 GiB, and wraps as y does.
  } while (y != end)
  return f32x4.add(sums, more)
}

/** {@link sumsOfExponentials} of vectors. */
export function exponentialsBy(step: usize, x: usize, y: usize, bytes: usize, base: v128): v128 {
  return sumsOfExponentials(true, true, x, y, bytes, step, base)
}

/** The sums of {@link exponentialsBy} alone. */
export function sumsBy(step: usize, x: usize, bytes: usize, base: v128): v128 {
  return sumsOfExponentials(true, false, x, x, bytes, step, base)
}

/** {@link sumsOfExponentials} of single elements. */
export function singlesBy(step: usize, stores: bool, x: usize, y: usize, bytes: usize, base: v128): v128 {
  return sumsOfExponentials(false, stores, x, y, bytes, step, base)
}
