import { C2, C3, C4, C5, C6, fma, hidden, splat } from './simd'

/** 1 / ln 2. */
export const FACTOR: f32 = 1.44269504
/** Added to a number, it leaves the nearest whole number plus 127, the bias of exponents, in the low bits. */
export const MAGIC: f32 = 12583039

/** A polynomial of degree 5. */
// @ts-ignore: decorator
@inline
export function polynomial(r: v128, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): v128 {
  let p = fma(c4, c5, r)
  p = fma(c3, p, r)
  p = fma(c2, p, r)
  p = fma(c1, p, r)
  return fma(c0, p, r)
}

/** 2^n for n + {@link MAGIC}. */
// @ts-ignore: decorator
@inline
export function powerOf2(z: v128): v128 {
  return i32x4.shl(z, 23)
}

/** ln 2, in two parts where products are rounded: any n times the first one is exact. */
const LN2: f32 = ASC_FEATURE_RELAXED_SIMD ? 0.693147182 : 0.693359375
const REST: f32 = -2.1219444e-4
/** From there on down n + 127 is 0, as is the number with these bits. */
const LOWEST: f32 = -88

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
  const minus = f32x4.sub(magic, z)
  let r = fma(c, minus, ln2)
  if (!ASC_FEATURE_RELAXED_SIMD) r = fma(r, minus, rest)
  return f32x4.mul(fma(one, polynomial(r, one, c2, c3, c4, c5, c6), r), powerOf2(z))
}

/**
 * y = e^(x - base), with no x above `base`, for vectors side by side, at least one; x and y may be the same.
 * @returns the sums of the four lanes
 */
export function exponentials(x: usize, y: usize, bytes: usize, base: v128): v128 {
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
    const e = exponential(f32x4.sub(v128.load(x), base), lowest, factor, magic, ln2, rest, one, c2, c3, c4, c5, c6)
    v128.store(y, e)
    const sum = f32x4.add(sums, e)
    sums = more
    more = sum
    x += 16
    y += 16
  } while (y < end)
  return f32x4.add(sums, more)
}
