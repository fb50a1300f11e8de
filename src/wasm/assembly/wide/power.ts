import {
  HIGH,
  hiddenDouble,
  LN2,
  loadDoubles,
  LOG2E,
  LOW,
  MAGIC,
  NORMAL,
  P1,
  P2,
  P3,
  P4,
  P5,
  REST,
  SCALE,
  storeDoubles
} from './exponential'

/**
 * Powers of float64 as e^(y log x), the logarithm and its product with y in two parts, as fdlibm does it: off by less
 * than 1 ulp.
 */

/** 2/3 in two parts, of which the first has 21 bits. */
const TWO_THIRDS_HIGH: f64 = 0.66666603088378906
const TWO_THIRDS_LOW: f64 = 6.3578287760416667e-7
const TWO_THIRDS: f64 = 0.66666666666666663
// Of a polynomial in t = s^2 for (3 artanh(s) / s - 3 - t) / t^2: it interpolates at Chebyshev's nodes.
const R0: f64 = 0.6
const R1: f64 = 0.4285714285714405
const R2: f64 = 0.3333333333248383
const R3: f64 = 0.272727275030892
const R4: f64 = 0.23076892443777647
const R5: f64 = 0.20002207040770967
const R6: f64 = 0.1755935450923681
const R7: f64 = 0.17584767935814777
/** The exponent of {@link SCALE}. */
const SCALE_EXPONENT: f64 = 54
/** Exponents from here on take every base but 1 and -1 to 0 or Infinity. */
const HUGE: f64 = 1.2676506002282294e30
/** The upper half of a number, of 21 bits: products of two such halves are exact. */
const UPPER: i64 = 0xffffffff00000000

/**
 * x^y for elements side by side.
 * @param aStep, bStep bytes from base to base and from exponent to exponent: those of an element, or 0
 */
export function powers(a: usize, aStep: usize, b: usize, bStep: usize, y: usize, bytes: usize): void {
  if (aStep && !bStep && simplePowers(load<f64>(b), a, y, bytes)) return
  // Elements lie at multiples of eight bytes.
  const zero = <i64>(y & 7)
  const upper = i64x2.splat(UPPER + zero)
  const mantissa = i64x2.splat(0x3fe6a09e667f3bcd + zero)
  const exponents = i64x2.splat(0xfff0000000000000 + zero)
  const one = hiddenDouble(1, zero)
  const two = hiddenDouble(2, zero)
  const three = hiddenDouble(3, zero)
  const ln2 = hiddenDouble(LN2, zero)
  const rest = hiddenDouble(REST, zero)
  const thirdsHigh = hiddenDouble(TWO_THIRDS_HIGH, zero)
  const thirdsLow = hiddenDouble(TWO_THIRDS_LOW, zero)
  const thirds = hiddenDouble(TWO_THIRDS, zero)
  const r0 = hiddenDouble(R0, zero)
  const r1 = hiddenDouble(R1, zero)
  const r2 = hiddenDouble(R2, zero)
  const r3 = hiddenDouble(R3, zero)
  const r4 = hiddenDouble(R4, zero)
  const r5 = hiddenDouble(R5, zero)
  const r6 = hiddenDouble(R6, zero)
  const r7 = hiddenDouble(R7, zero)
  const p1 = hiddenDouble(P1, zero)
  const p2 = hiddenDouble(P2, zero)
  const p3 = hiddenDouble(P3, zero)
  const p4 = hiddenDouble(P4, zero)
  const p5 = hiddenDouble(P5, zero)
  const low = hiddenDouble(LOW, zero)
  const high = hiddenDouble(HIGH, zero)
  const factor = hiddenDouble(LOG2E, zero)
  const halfFactor = hiddenDouble(LOG2E / 2, zero)
  const magic = hiddenDouble(MAGIC, zero)
  const normal = hiddenDouble(NORMAL, zero)
  const infinity = hiddenDouble(Infinity, zero)
  const huge = hiddenDouble(HUGE, zero)
  const end = y + bytes
  const whole = y + (bytes & ~15)
  for (; y < end; y += 16, a += 2 * aStep, b += 2 * bStep) {
    const isWhole = y < whole
    const base = loadDoubles(a, isWhole && aStep != 0)
    const exponent = loadDoubles(b, isWhole && bStep != 0)
    const isRegular = v128.and(
      v128.and(f64x2.ge(base, normal), f64x2.lt(base, infinity)),
      f64x2.lt(f64x2.abs(exponent), huge)
    )
    const areRegular = i64x2.all_true(isRegular)
    let x = base
    let scaled = i64x2.splat(0)
    if (!areRegular) {
      x = f64x2.abs(base)
      const isTiny = f64x2.lt(x, normal)
      x = v128.bitselect(f64x2.mul(x, f64x2.splat(SCALE)), x, isTiny)
      scaled = v128.and(isTiny, f64x2.splat(SCALE_EXPONENT))
    }

    // x = 2^n m, with m from the root of 1/2 on, up to the root of 2; s = (m - 1) / (m + 1) in two parts.
    const shifted = i64x2.sub(x, mantissa)
    const m = i64x2.sub(x, v128.and(shifted, exponents))
    const e = i32x4.shr_s(shifted, 20)
    const n = f64x2.sub(f64x2.convert_low_i32x4_s(i32x4.shuffle(e, e, 1, 3, 1, 3)), scaled)
    const f = f64x2.sub(m, one)
    const g = f64x2.add(m, one)
    const inverse = f64x2.div(one, g)
    const s = f64x2.mul(f, inverse)
    const sHigh = v128.and(s, upper)
    const gHigh = v128.and(g, upper)
    const gLow = f64x2.sub(m, f64x2.sub(gHigh, one))
    const difference = f64x2.sub(f64x2.sub(f, f64x2.mul(sHigh, gHigh)), f64x2.mul(sHigh, gLow))
    const sLow = f64x2.mul(inverse, difference)

    // log m = 2/3 s (3 + t + t^2 R(t)), each product in two parts.
    const t = f64x2.mul(s, s)
    const t2 = f64x2.mul(t, t)
    const t4 = f64x2.mul(t2, t2)
    const lower = f64x2.add(f64x2.add(r0, f64x2.mul(r1, t)), f64x2.mul(t2, f64x2.add(r2, f64x2.mul(r3, t))))
    const higher = f64x2.add(f64x2.add(r4, f64x2.mul(r5, t)), f64x2.mul(t2, f64x2.add(r6, f64x2.mul(r7, t))))
    const series = f64x2.mul(t2, f64x2.add(lower, f64x2.mul(t4, higher)))
    const other = f64x2.add(series, f64x2.mul(sLow, f64x2.add(sHigh, s)))
    const square = f64x2.mul(sHigh, sHigh)
    const sumHigh = v128.and(f64x2.add(f64x2.add(three, square), other), upper)
    const sumLow = f64x2.sub(other, f64x2.sub(f64x2.sub(sumHigh, three), square))
    const u = f64x2.mul(sHigh, sumHigh)
    const v = f64x2.add(f64x2.mul(sLow, sumHigh), f64x2.mul(sumLow, s))
    const productHigh = v128.and(f64x2.add(u, v), upper)
    const productLow = f64x2.sub(v, f64x2.sub(productHigh, u))
    const ofHigh = f64x2.mul(thirdsHigh, productHigh)
    const ofLow = f64x2.add(f64x2.mul(thirdsLow, productHigh), f64x2.mul(thirds, productLow))
    const whole2 = f64x2.mul(n, ln2)
    const tail = f64x2.add(ofLow, f64x2.mul(n, rest))
    const logHigh = v128.and(f64x2.add(f64x2.add(ofHigh, tail), whole2), upper)
    const logLow = f64x2.sub(tail, f64x2.sub(f64x2.sub(logHigh, whole2), ofHigh))

    // y log x in two parts, of which the second counts where the power is neither 0 nor Infinity.
    const exponentHigh = v128.and(exponent, upper)
    const exponentLow = f64x2.sub(exponent, exponentHigh)
    const z = f64x2.mul(exponentHigh, logHigh)
    const zLow = f64x2.add(f64x2.mul(exponentLow, logHigh), f64x2.mul(exponent, logLow))
    const c = f64x2.pmax(f64x2.pmin(z, high), low)
    const correction = v128.and(zLow, f64x2.eq(c, z))

    // e^z as in exponential.ts.
    const k = f64x2.add(f64x2.mul(c, factor), magic)
    const count = f64x2.sub(k, magic)
    const first = f64x2.sub(c, f64x2.mul(count, ln2))
    const second = f64x2.sub(f64x2.mul(count, rest), correction)
    const r = f64x2.sub(first, second)
    const w = f64x2.mul(r, r)
    const w2 = f64x2.mul(w, w)
    const upperPart = f64x2.add(f64x2.add(p3, f64x2.mul(w, p4)), f64x2.mul(w2, p5))
    const p = f64x2.add(f64x2.add(p1, f64x2.mul(w, p2)), f64x2.mul(w2, upperPart))
    const q = f64x2.sub(r, f64x2.mul(w, p))
    const quotient = f64x2.div(f64x2.mul(r, q), f64x2.sub(two, q))
    const near = f64x2.sub(one, f64x2.sub(f64x2.sub(second, quotient), first))
    const half = f64x2.add(f64x2.mul(c, halfFactor), magic)
    const otherHalf = f64x2.add(f64x2.sub(k, half), magic)
    const power = f64x2.mul(f64x2.mul(near, i64x2.shl(half, 52)), i64x2.shl(otherHalf, 52))
    storeDoubles(y, areRegular ? power : finishBoth(base, exponent, power), isWhole)
  }
}

/** Powers by one exponent that are products or roots. @returns whether they are */
function simplePowers(exponent: f64, x: usize, y: usize, bytes: usize): bool {
  if (exponent != 3 && exponent != 0.5 && exponent != 1 && exponent != -1) return false
  const whole = bytes & ~15
  const infinity = f64x2.splat(Infinity)
  for (let at: usize = 0; at < bytes; at += 16) {
    const v = loadDoubles(x + at, at < whole)
    let power = v
    if (exponent == 3) power = f64x2.mul(f64x2.mul(v, v), v)
    else if (exponent == -1) power = f64x2.div(f64x2.splat(1), v)
    else if (exponent == 0.5) {
      // The power of -0 is 0, that of -Infinity is Infinity.
      const root = f64x2.sqrt(f64x2.add(v, f64x2.splat(0)))
      power = v128.bitselect(infinity, root, f64x2.eq(f64x2.abs(v), infinity))
    }
    storeDoubles(y + at, power, at < whole)
  }
  return true
}

function finishBoth(x: v128, y: v128, power: v128): v128 {
  const first = finish(f64x2.extract_lane(x, 0), f64x2.extract_lane(y, 0), f64x2.extract_lane(power, 0))
  const second = finish(f64x2.extract_lane(x, 1), f64x2.extract_lane(y, 1), f64x2.extract_lane(power, 1))
  return f64x2.replace_lane(f64x2.splat(first), 1, second)
}

/** x^y by IEEE 754, given |x|^y where x is neither 0 nor Infinity and y is not huge. */
function finish(x: f64, y: f64, power: f64): f64 {
  if (y == 0 || x == 1) return 1
  if (x != x || y != y) return NaN
  const magnitude = abs(x)
  const isWhole = floor(y) == y
  if (magnitude == 0 || magnitude == Infinity || abs(y) >= HUGE)
    power = magnitude == 1 ? 1 : magnitude > 1 == y > 0 ? Infinity : 0
  else if (x < 0 && !isWhole) return NaN
  const isOdd = isWhole && abs(y) < 9007199254740992 && (<i64>y & 1) != 0
  return isOdd && reinterpret<i64>(x) < 0 ? -power : power
}
