import { hiddenDouble } from './exponential'

/**
 * Powers of float64 by the method of fdlibm: the logarithm to base 2 in two parts, of which the high one has 21 bits
 * and so an exact product with the high part of the exponent, then 2 to the power of both products. Off by less than 1
 * ulp. Without tables, which a module could not keep.
 */

/** Numbers below are multiplied by 2^54 first, so that they are normal. */
const NORMAL: f64 = 2.2250738585072014e-308
/** Bits of the high part of a number. */
const UPPER: i64 = 0xffffffff00000000
/** The bits of the mantissa. */
const MANTISSA: i64 = 0x000fffffffffffff
/** Exponents become numbers by these bits, which stand for 2^52; the number that is subtracted then. */
const WHOLE: i64 = 0x4330000000000000
const BIAS: f64 = 4503599627371519
const MAGIC: f64 = 6755399441056767
/** Exponents beyond it have the results of those at it; powers of 2 beyond FAR are 0 or Infinity. */
const MOST: f64 = 3.7e19
const FAR: f64 = 1100
// 1.5 and its logarithm to base 2, in two parts. Where mantissas are nearer to it they are measured from it.
const DP_H: f64 = 5.8496248722076416e-1
const DP_L: f64 = 1.35003920212974897e-8
const ROOT_LOW: f64 = 1.224744871391589
const ROOT_HIGH: f64 = 1.7320508075688772
// Of a polynomial for 3 / 2 (log(1 + s) - log(1 - s) - 2 s - 2 / 3 s^3) / s^5, in s^2.
const L1: f64 = 5.99999999999994648725e-1
const L2: f64 = 4.28571428578550184252e-1
const L3: f64 = 3.33333329818377432918e-1
const L4: f64 = 2.72728123808534006489e-1
const L5: f64 = 2.30660745775561754067e-1
const L6: f64 = 2.06975017800338417784e-1
// 2 / (3 ln 2), and its parts.
const CP: f64 = 9.61796693925975554329e-1
const CP_H: f64 = 9.61796700954437255859e-1
const CP_L: f64 = -7.02846165095275826516e-9
// ln 2, and its parts.
const LG2: f64 = 6.93147180559945286227e-1
const LG2_H: f64 = 6.93147182464599609375e-1
const LG2_L: f64 = -1.90465429995776804525e-9
const P1: f64 = 1.66666666666666019037e-1
const P2: f64 = -2.77777777770155933842e-3
const P3: f64 = 6.61375632143793436117e-5
const P4: f64 = -1.6533902205465251539e-6
const P5: f64 = 4.13813679705723846039e-8

/** Where {@link magnitudes} has stopped. */
let reached: usize = 0

/** Powers in a line of `bytes` bytes, in which an operand moves by 8 bytes or stays. */
export function widePowers(x: usize, y: usize, to: usize, bytes: usize, xStep: usize, yStep: usize): void {
  const end = to + bytes
  const pairs = to + (bytes & ~15)
  while (to < pairs) {
    const bases = pairAt(x, xStep)
    const exponents = pairAt(y, yStep)
    let count: usize = 2
    if (areOrdinary(bases, exponents)) {
      magnitudes(bases, exponents, x, y, to, pairs, xStep, yStep)
      count = (reached - to) >> 3
    } else {
      const first = power(f64x2.extract_lane(bases, 0), f64x2.extract_lane(exponents, 0))
      f64.store(to, power(f64x2.extract_lane(bases, 1), f64x2.extract_lane(exponents, 1)), 8)
      f64.store(to, first)
    }
    to += count << 3
    x += count * xStep
    y += count * yStep
  }
  if (to < end) f64.store(to, power(f64.load(x), f64.load(y)))
}

// @ts-ignore: decorator
@inline
function pairAt(x: usize, step: usize): v128 {
  return step == 0 ? v128.load64_splat(x) : v128.load(x)
}

/** Whether both bases are finite and not 0, and both exponents finite and not 2, for which products are exact. */
// @ts-ignore: decorator
@inline
function areOrdinary(x: v128, y: v128): bool {
  const infinity = f64x2.splat(Infinity)
  const size = f64x2.abs(x)
  const areBases = v128.and(f64x2.gt(size, f64x2.splat(0)), f64x2.lt(size, infinity))
  const areFinite = v128.and(f64x2.lt(f64x2.abs(y), infinity), f64x2.ne(y, f64x2.splat(2)))
  return i64x2.all_true(v128.and(areBases, areFinite))
}

/** Powers of negative bases: negative for odd exponents, and no number for those that are not whole. */
function withSigns(powers: v128, below: v128, exponents: v128): v128 {
  const areWhole = f64x2.eq(f64x2.nearest(exponents), exponents)
  const halves = f64x2.mul(exponents, f64x2.splat(0.5))
  const areOdd = v128.and(areWhole, f64x2.ne(f64x2.nearest(halves), halves))
  const signed = v128.xor(powers, v128.and(v128.and(below, areOdd), f64x2.splat(-0.0)))
  return v128.bitselect(f64x2.splat(NaN), signed, v128.andnot(below, areWhole))
}

/** As IEEE 754 has `pow`. */
function power(x: f64, y: f64): f64 {
  if (y == 0 || x == 1) return 1
  if (x != x || y != y) return NaN
  if (y == 2) return x * x
  const size = abs<f64>(x)
  const isWhole = nearest<f64>(y) == y
  const isOdd = isWhole && nearest<f64>(y * 0.5) != y * 0.5
  let result: f64
  if (abs<f64>(y) == Infinity) result = size == 1 ? 1 : size > 1 == y > 0 ? Infinity : 0
  else if (size == 0) result = y > 0 ? 0 : Infinity
  else if (size == Infinity) result = y > 0 ? Infinity : 0
  else if (x < 0 && !isWhole) return NaN
  else result = f64x2.extract_lane(magnitudes(f64x2.splat(size), f64x2.splat(y), 0, 0, 0, 0, 0, 0), 0)
  return isOdd ? copysign<f64>(result, x) : result
}

/** c + p x */
// @ts-ignore: decorator
@inline
function fold(c: v128, p: v128, x: v128): v128 {
  return f64x2.add(c, f64x2.mul(p, x))
}

/**
 * Powers of two finite numbers but 0 to finite exponents; where `end` is not 0, they and those after them are
 * written from `to` on up to `end`, or to the first of others. The names are those of fdlibm's e_pow.c.
 */
function magnitudes(
  given: v128,
  exponents: v128,
  xAt: usize,
  yAt: usize,
  to: usize,
  end: usize,
  xStep: usize,
  yStep: usize
): v128 {
  // Elements lie at multiples of eight bytes.
  const zero = <i64>(to & 7)
  const normal = hiddenDouble(NORMAL, zero)
  const scale = hiddenDouble(18014398509481984, zero)
  const upper = i64x2.splat(UPPER + zero)
  const mantissaBits = i64x2.splat(MANTISSA + zero)
  const whole = i64x2.splat(WHOLE + zero)
  const bias = hiddenDouble(BIAS, zero)
  const magic = hiddenDouble(MAGIC, zero)
  const most = hiddenDouble(MOST, zero)
  const least = hiddenDouble(-MOST, zero)
  const far = hiddenDouble(FAR, zero)
  const near = hiddenDouble(-FAR, zero)
  const one = hiddenDouble(1, zero)
  const two = hiddenDouble(2, zero)
  const three = hiddenDouble(3, zero)
  const half = hiddenDouble(0.5, zero)
  const shift = hiddenDouble(54, zero)
  const dpH = hiddenDouble(DP_H, zero)
  const dpL = hiddenDouble(DP_L, zero)
  const rootLow = hiddenDouble(ROOT_LOW, zero)
  const rootHigh = hiddenDouble(ROOT_HIGH, zero)
  const l1 = hiddenDouble(L1, zero)
  const l2 = hiddenDouble(L2, zero)
  const l3 = hiddenDouble(L3, zero)
  const l4 = hiddenDouble(L4, zero)
  const l5 = hiddenDouble(L5, zero)
  const l6 = hiddenDouble(L6, zero)
  const cp = hiddenDouble(CP, zero)
  const cpH = hiddenDouble(CP_H, zero)
  const cpL = hiddenDouble(CP_L, zero)
  const lg2 = hiddenDouble(LG2, zero)
  const lg2H = hiddenDouble(LG2_H, zero)
  const lg2L = hiddenDouble(LG2_L, zero)
  const p1 = hiddenDouble(P1, zero)
  const p2 = hiddenDouble(P2, zero)
  const p3 = hiddenDouble(P3, zero)
  const p4 = hiddenDouble(P4, zero)
  const p5 = hiddenDouble(P5, zero)
  let powers: v128
  do {
    const size = f64x2.abs(given)
    const tiny = f64x2.lt(size, normal)
    const x = v128.bitselect(f64x2.mul(size, scale), size, tiny)
    const y = f64x2.pmax(f64x2.pmin(exponents, most), least)
    // x = 2^n ax, with ax from 1 / 2 of the root of 3 on, up to it.
    const mantissa = v128.or(v128.and(x, mantissaBits), one)
    const isHigh = f64x2.ge(mantissa, rootHigh)
    const isMiddle = v128.andnot(f64x2.ge(mantissa, rootLow), isHigh)
    const ax = v128.bitselect(f64x2.mul(mantissa, half), mantissa, isHigh)
    const biased = f64x2.sub(v128.or(i64x2.shr_u(x, 52), whole), bias)
    const n = f64x2.sub(f64x2.add(biased, v128.and(isHigh, one)), v128.and(tiny, shift))
    const bp = f64x2.add(one, v128.and(isMiddle, half))
    const dpHigh = v128.and(isMiddle, dpH)
    const dpLow = v128.and(isMiddle, dpL)
    // ss = (ax - bp) / (ax + bp) = sHigh + sLow
    const difference = f64x2.sub(ax, bp)
    const total = f64x2.add(ax, bp)
    const v = f64x2.div(one, total)
    const ss = f64x2.mul(difference, v)
    const sHigh = v128.and(ss, upper)
    const sumHigh = v128.and(total, upper)
    const sumLow = f64x2.sub(ax, f64x2.sub(sumHigh, bp))
    const sRest = f64x2.sub(f64x2.sub(difference, f64x2.mul(sHigh, sumHigh)), f64x2.mul(sHigh, sumLow))
    const sLow = f64x2.mul(v, sRest)
    const s2 = f64x2.mul(ss, ss)
    const s4 = f64x2.mul(s2, s2)
    const series = fold(fold(l1, l2, s2), fold(fold(l3, l4, s2), fold(l5, l6, s2), s4), s4)
    const r = f64x2.add(f64x2.mul(s4, series), f64x2.mul(sLow, f64x2.add(sHigh, ss)))
    const square = f64x2.mul(sHigh, sHigh)
    const tHigh = v128.and(f64x2.add(f64x2.add(three, square), r), upper)
    const tLow = f64x2.sub(r, f64x2.sub(f64x2.sub(tHigh, three), square))
    const u = f64x2.mul(sHigh, tHigh)
    const w = f64x2.add(f64x2.mul(sLow, tHigh), f64x2.mul(tLow, ss))
    const pHigh = v128.and(f64x2.add(u, w), upper)
    const pLow = f64x2.sub(w, f64x2.sub(pHigh, u))
    const zHigh = f64x2.mul(cpH, pHigh)
    const zLow = f64x2.add(f64x2.add(f64x2.mul(cpL, pHigh), f64x2.mul(pLow, cp)), dpLow)
    const logHigh = v128.and(f64x2.add(f64x2.add(f64x2.add(zHigh, zLow), dpHigh), n), upper)
    const logLow = f64x2.sub(zLow, f64x2.sub(f64x2.sub(f64x2.sub(logHigh, n), dpHigh), zHigh))
    const yHigh = v128.and(y, upper)
    const low = f64x2.add(f64x2.mul(f64x2.sub(y, yHigh), logHigh), f64x2.mul(y, logLow))
    const high = f64x2.mul(yHigh, logHigh)
    // 2^(high + low)
    const sum = f64x2.add(high, low)
    const bounded = f64x2.pmax(f64x2.pmin(sum, far), near)
    const isFar = f64x2.ne(sum, bounded)
    const z = f64x2.add(bounded, magic)
    const ph = f64x2.sub(v128.bitselect(bounded, high, isFar), f64x2.sub(z, magic))
    const pl = v128.andnot(low, isFar)
    const t = v128.and(f64x2.add(pl, ph), upper)
    const e = f64x2.mul(t, lg2H)
    const f = fold(f64x2.mul(f64x2.sub(pl, f64x2.sub(t, ph)), lg2), t, lg2L)
    const a = f64x2.add(e, f)
    const rest = f64x2.sub(f, f64x2.sub(a, e))
    const a2 = f64x2.mul(a, a)
    const a4 = f64x2.mul(a2, a2)
    const t1 = f64x2.sub(a, f64x2.mul(a2, fold(fold(p1, p2, a2), fold(fold(p3, p4, a2), p5, a4), a4)))
    const quotient = f64x2.div(f64x2.mul(a, t1), f64x2.sub(t1, two))
    const last = f64x2.sub(quotient, fold(rest, a, rest))
    const halved = fold(magic, bounded, half)
    const other = f64x2.add(f64x2.sub(z, halved), magic)
    const scaled = f64x2.mul(f64x2.sub(one, f64x2.sub(last, a)), i64x2.shl(halved, 52))
    powers = f64x2.mul(scaled, i64x2.shl(other, 52))
    const below = f64x2.lt(given, i64x2.splat(0))
    if (v128.any_true(below)) powers = withSigns(powers, below, exponents)
    if (end == 0) return powers
    v128.store(to, powers)
    to += 16
    xAt += xStep << 1
    yAt += yStep << 1
    reached = to
    if (to >= end) return powers
    given = pairAt(xAt, xStep)
    exponents = pairAt(yAt, yStep)
  } while (areOrdinary(given, exponents))
  return powers
}
