/** Exponentials and logarithms of float64, with the polynomials of fdlibm: off by less than 1 ulp. */

export const LOG2E: f64 = 1.4426950408889634
/** ln 2 in two parts; whole numbers times the first one are exact. */
export const LN2: f64 = 6.9314718036912382e-1
export const REST: f64 = 1.9082149292705877e-10
/** Added to a number, it leaves the nearest whole number plus 1023, the bias of exponents, in the low bits. */
export const MAGIC: f64 = 6755399441056767
// Beyond these e^x is 0 and Infinity.
export const LOW: f64 = -746
export const HIGH: f64 = 710
// Of a polynomial in r^2 for r coth(r / 2) - 2.
export const P1: f64 = 1.66666666666666019e-1
export const P2: f64 = -2.77777777770155934e-3
export const P3: f64 = 6.61375632143793436e-5
export const P4: f64 = -1.65339022054652515e-6
export const P5: f64 = 4.13813679705723846e-8
// Of a polynomial in s^2 for log((1 + s) / (1 - s)).
const L1: f64 = 6.666666666666735e-1
const L2: f64 = 3.999999999940942e-1
const L3: f64 = 2.857142874366239e-1
const L4: f64 = 2.222219843214978e-1
const L5: f64 = 1.818357216161805e-1
const L6: f64 = 1.531383769920937e-1
const L7: f64 = 1.479819860511659e-1

/** A constant vector of which no compiler knows that it is constant, so that it is made once before a loop. */
// @ts-ignore: decorator
@inline
export function hiddenDouble(value: f64, zero: i64): v128 {
  return i64x2.splat(reinterpret<i64>(value) + zero)
}

/** A whole vector, or one element in both lanes. */
// @ts-ignore: decorator
@inline
export function loadDoubles(x: usize, isWhole: bool): v128 {
  return isWhole ? v128.load(x) : v128.load64_splat(x)
}

/** Stores what {@link loadDoubles} has loaded. */
// @ts-ignore: decorator
@inline
export function storeDoubles(y: usize, v: v128, isWhole: bool): void {
  if (isWhole) v128.store(y, v)
  else f64.store(y, f64x2.extract_lane(v, 0))
}

/**
 * e^(x - base) for vectors, or where not `isWhole` single elements, that are `step` bytes apart; x and y may be the
 * same. 2^n is a product of two numbers, so that it reaches the whole range. NaN stays NaN.
 * @param stores whether y is written
 * @returns the sums of the lanes
 */
export function exponentials(
  isWhole: bool,
  stores: bool,
  x: usize,
  y: usize,
  bytes: usize,
  step: usize,
  base: v128
): v128 {
  // Elements lie at multiples of eight bytes.
  const zero = <i64>(x & 7)
  const low = hiddenDouble(LOW, zero)
  const high = hiddenDouble(HIGH, zero)
  const factor = hiddenDouble(LOG2E, zero)
  const halfFactor = hiddenDouble(LOG2E / 2, zero)
  const magic = hiddenDouble(MAGIC, zero)
  const ln2 = hiddenDouble(LN2, zero)
  const rest = hiddenDouble(REST, zero)
  const one = hiddenDouble(1, zero)
  const two = hiddenDouble(2, zero)
  const p1 = hiddenDouble(P1, zero)
  const p2 = hiddenDouble(P2, zero)
  const p3 = hiddenDouble(P3, zero)
  const p4 = hiddenDouble(P4, zero)
  const p5 = hiddenDouble(P5, zero)
  const end = y + bytes
  let sums = f64x2.splat(0)
  // Not below it: behind columns at the end of the memory, `end` is above 4 GiB, and wraps as y does.
  for (; y != end; x += step, y += step) {
    const v = f64x2.sub(loadDoubles(x, isWhole), base)
    const c = f64x2.pmax(f64x2.pmin(v, high), low)
    const z = f64x2.add(f64x2.mul(c, factor), magic)
    const n = f64x2.sub(z, magic)
    const first = f64x2.sub(c, f64x2.mul(n, ln2))
    const second = f64x2.mul(n, rest)
    const r = f64x2.sub(first, second)
    const t = f64x2.mul(r, r)
    const square = f64x2.mul(t, t)
    const upper = f64x2.add(f64x2.add(p3, f64x2.mul(t, p4)), f64x2.mul(square, p5))
    const p = f64x2.add(f64x2.add(p1, f64x2.mul(t, p2)), f64x2.mul(square, upper))
    const q = f64x2.sub(r, f64x2.mul(t, p))
    const quotient = f64x2.div(f64x2.mul(r, q), f64x2.sub(two, q))
    const e = f64x2.sub(one, f64x2.sub(f64x2.sub(second, quotient), first))
    const half = f64x2.add(f64x2.mul(c, halfFactor), magic)
    const other = f64x2.add(f64x2.sub(z, half), magic)
    const power = f64x2.mul(f64x2.mul(e, i64x2.shl(half, 52)), i64x2.shl(other, 52))
    if (stores) storeDoubles(y, power, isWhole)
    sums = f64x2.add(sums, power)
  }
  return sums
}

/** e^x for elements side by side; x and y may be the same. */
export function powersOfE(x: usize, y: usize, bytes: usize): void {
  const whole = bytes & ~15
  const zero = f64x2.splat(0)
  exponentials(true, true, x, y, whole, 16, zero)
  exponentials(false, true, x + whole, y + whole, bytes - whole, 8, zero)
}

/** Bytes that pass through the first cache three times. */
const CHUNK: usize = 4096

/** 1 / (1 + e^-x) for elements side by side; x and y may be the same. */
export function sigmoids(x: usize, y: usize, bytes: usize): void {
  const zero = f64x2.splat(0)
  const one = f64x2.splat(1)
  for (const end = x + bytes; x < end; x += CHUNK, y += CHUNK) {
    const count = min(CHUNK, end - x)
    const whole = count & ~15
    for (let at: usize = 0; at < count; at += 16)
      storeDoubles(y + at, f64x2.neg(loadDoubles(x + at, at < whole)), at < whole)
    exponentials(true, true, y, y, whole, 16, zero)
    exponentials(false, true, y + whole, y + whole, count - whole, 8, zero)
    for (let at: usize = 0; at < count; at += 16)
      storeDoubles(y + at, f64x2.div(one, f64x2.add(one, loadDoubles(y + at, at < whole))), at < whole)
  }
}

/** The smallest positive normal number. */
export const NORMAL: f64 = 2.2250738585072014e-308
/** A power of 2 that makes normal numbers of subnormal ones, and its logarithm. */
export const SCALE: f64 = 18014398509481984
const LOG_SCALE: f64 = 37.42994775023705

/** Natural logarithms of any elements side by side; x and y may be the same. */
export function naturalLogarithms(x: usize, y: usize, bytes: usize): void {
  const whole = bytes & ~15
  for (let at: usize = 0; at < bytes; at += 16) {
    const v = loadDoubles(x + at, at < whole)
    let log = logarithms(v)
    const isNormal = f64x2.ge(v, f64x2.splat(NORMAL))
    if (!i64x2.all_true(isNormal)) {
      const small = f64x2.sub(logarithms(f64x2.mul(v, f64x2.splat(SCALE))), f64x2.splat(LOG_SCALE))
      const zero = f64x2.splat(0)
      const other = v128.bitselect(f64x2.splat(-Infinity), f64x2.splat(f64.NaN), f64x2.eq(v, zero))
      log = v128.bitselect(v128.bitselect(log, small, isNormal), other, f64x2.gt(v, zero))
    }
    storeDoubles(y + at, log, at < whole)
  }
}

/** Natural logarithms of two positive normal numbers; NaN stays NaN. */
export function logarithms(x: v128): v128 {
  // x = 2^n m, with m from the root of 1/2 on, up to the root of 2.
  const shifted = i64x2.sub(x, i64x2.splat(0x3fe6a09e667f3bcd))
  const m = i64x2.sub(x, v128.and(shifted, i64x2.splat(0xfff0000000000000)))
  const e = i32x4.shr_s(shifted, 20)
  const n = f64x2.convert_low_i32x4_s(i32x4.shuffle(e, e, 1, 3, 1, 3))
  const f = f64x2.sub(m, f64x2.splat(1))
  const s = f64x2.div(f, f64x2.add(f, f64x2.splat(2)))
  const z = f64x2.mul(s, s)
  const w = f64x2.mul(z, z)
  const even = f64x2.mul(w, fold(f64x2.splat(L2), fold(f64x2.splat(L4), f64x2.splat(L6), w), w))
  const upper = fold(f64x2.splat(L5), f64x2.splat(L7), w)
  const odd = f64x2.mul(z, fold(f64x2.splat(L1), fold(f64x2.splat(L3), upper, w), w))
  const half = f64x2.mul(f64x2.mul(f, f), f64x2.splat(0.5))
  const product = f64x2.mul(s, f64x2.add(half, f64x2.add(even, odd)))
  const low = f64x2.add(product, f64x2.mul(n, f64x2.splat(REST)))
  const log = f64x2.sub(f64x2.mul(n, f64x2.splat(LN2)), f64x2.sub(f64x2.sub(half, low), f))
  return v128.bitselect(log, x, f64x2.lt(x, f64x2.splat(Infinity)))
}

/** c + p x */
// @ts-ignore: decorator
@inline
function fold(c: v128, p: v128, x: v128): v128 {
  return f64x2.add(c, f64x2.mul(p, x))
}
