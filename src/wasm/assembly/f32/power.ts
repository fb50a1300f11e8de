import { hiddenDouble } from '../wide/exponential'

/**
 * Powers of float32, in double precision: x^y is 2^(y log2 x), so that an error of 1e-10 of the logarithm is lost in
 * rounding. Without tables: a module that has data would write them over the heap when it is made.
 */

const LN2: f64 = 0.6931471805599453
/** Of a polynomial that is near e^r for r up to ln(2) / 2, off by 5e-11: 1 + r + E2 r^2 and so on. */
const E2: f64 = 0.500000006804188
const E3: f64 = 0.16666665864585833
const E4: f64 = 4.166629362093687e-2
const E5: f64 = 8.333497669237492e-3
const E6: f64 = 1.3944759454926437e-3
const E7: f64 = 1.979024902268497e-4
/** Of 2 atanh(s) / (s ln 2) by powers of s^2, the highest first: near its series, off by 1e-11. */
const L0: f64 = 0.3407803630550728
const L1: f64 = 0.41167005017440944
const L2: f64 = 0.5770836287144363
const L3: f64 = 0.9617966731158438
const L4: f64 = 2.8853900817902636
/** The bits of the root of 1/2, and those of sign and exponent. */
const ROOT: i64 = 0x3fe6a09e667f3bcd
const SCALES: i64 = 0xfff0000000000000
/** Added to a number, it leaves the nearest whole number plus 1023, the bias of exponents, in the low bits. */
const MAGIC: f64 = 6755399441056767
/** A power of 2 that is beyond the range of float32, but within that of double precision. */
const FAR: f64 = 400

/** Powers in a line of `bytes` bytes, in which an operand moves by 4 bytes or stays. */
export function powerLine(x: usize, y: usize, to: usize, bytes: usize, xStep: u32, yStep: u32): void {
  if (xStep == 0 && bytes > 4) return powersOfOne(f32.load(x), y, to, bytes, yStep)
  const end = to + bytes
  // Elements lie at multiples of four bytes.
  const zero = <i64>(to & 3)
  const root = i64x2.splat(ROOT + zero)
  const scales = i64x2.splat(SCALES + zero)
  const magic = hiddenDouble(MAGIC, zero)
  const one = hiddenDouble(1, zero)
  const l0 = hiddenDouble(L0, zero)
  const l1 = hiddenDouble(L1, zero)
  const l2 = hiddenDouble(L2, zero)
  const l3 = hiddenDouble(L3, zero)
  const l4 = hiddenDouble(L4, zero)
  const least = hiddenDouble(-FAR, zero)
  const most = hiddenDouble(FAR, zero)
  const ln2 = hiddenDouble(LN2, zero)
  const e2 = hiddenDouble(E2, zero)
  const e3 = hiddenDouble(E3, zero)
  const e4 = hiddenDouble(E4, zero)
  const e5 = hiddenDouble(E5, zero)
  const e6 = hiddenDouble(E6, zero)
  const e7 = hiddenDouble(E7, zero)
  for (const quads = end - (bytes & 15); to < quads; to += 16, x += xStep << 2, y += yStep << 2) {
    const bases = v128.load(x)
    const sizes = f32x4.abs(bases)
    const exponents = yStep == 0 ? v128.load32_splat(y) : v128.load(y)
    if (areOrdinary(sizes, exponents)) {
      const l = logarithms(f64x2.promote_low_f32x4(sizes), root, scales, one, l0, l1, l2, l3, l4)
      const low = f64x2.mul(f64x2.promote_low_f32x4(exponents), l)
      const h = logarithms(f64x2.promote_low_f32x4(upper(sizes)), root, scales, one, l0, l1, l2, l3, l4)
      const high = f64x2.mul(f64x2.promote_low_f32x4(upper(exponents)), h)
      const powers = fourPowersOf2(low, high, least, most, magic, ln2, e2, e3, e4, e5, e6, e7, one)
      const below = f32x4.lt(bases, f32x4.splat(0))
      v128.store(to, v128.any_true(below) ? withSigns(powers, below, exponents) : powers)
    } else {
      for (let i: u32 = 0; i < 4; i++) f32.store(to + (i << 2), power(f32.load(x + i * xStep), f32.load(y + i * yStep)))
    }
  }
  for (; to < end; to += 4, x += xStep, y += yStep) f32.store(to, power(f32.load(x), f32.load(y)))
}

/** Powers of one base, whose logarithm is worked out once. */
function powersOfOne(base: f32, y: usize, to: usize, bytes: usize, yStep: u32): void {
  const end = to + bytes
  const isOrdinary = base > 0 && base < Infinity
  const bases = f32x4.splat(base)
  const logarithm = logarithms(f64x2.splat(isOrdinary ? base : 1))
  for (const quads = end - (bytes & 15); to < quads && isOrdinary; to += 16, y += yStep << 2) {
    const exponents = yStep == 0 ? v128.load32_splat(y) : v128.load(y)
    if (areOrdinary(bases, exponents)) {
      const low = f64x2.mul(f64x2.promote_low_f32x4(exponents), logarithm)
      v128.store(to, fourPowersOf2(low, f64x2.mul(f64x2.promote_low_f32x4(upper(exponents)), logarithm)))
    } else {
      for (let i: u32 = 0; i < 4; i++) f32.store(to + (i << 2), power(base, f32.load(y + i * yStep)))
    }
  }
  for (; to < end; to += 4, y += yStep) f32.store(to, power(base, f32.load(y)))
}

/** The upper two lanes, in the place of the lower ones. */
// @ts-ignore: decorator
@inline
function upper(x: v128): v128 {
  return i32x4.shuffle(x, x, 2, 3, 2, 3)
}

/** Whether all bases are positive and finite, and all exponents finite. */
// @ts-ignore: decorator
@inline
function areOrdinary(x: v128, y: v128): bool {
  const infinity = f32x4.splat(Infinity)
  const areBases = v128.and(f32x4.gt(x, f32x4.splat(0)), f32x4.lt(x, infinity))
  return i32x4.all_true(v128.and(areBases, f32x4.lt(f32x4.abs(y), infinity)))
}

/** Powers of negative bases: negative for odd exponents, and no number for those that are not whole. */
function withSigns(powers: v128, below: v128, exponents: v128): v128 {
  const areWhole = f32x4.eq(f32x4.nearest(exponents), exponents)
  // From 2^24 on all are even.
  const areSmall = f32x4.lt(f32x4.abs(exponents), f32x4.splat(16777216))
  const odd = i32x4.shl(i32x4.trunc_sat_f32x4_s(exponents), 31)
  const signed = v128.xor(powers, v128.and(v128.and(below, areSmall), odd))
  return v128.bitselect(f32x4.splat(NaN), signed, v128.andnot(below, areWhole))
}

/** As IEEE 754 has `pow`. */
function power(x: f32, y: f32): f32 {
  if (y == 0 || x == 1) return 1
  if (x != x || y != y) return NaN
  const size = abs<f32>(x)
  const isWhole = nearest<f32>(y) == y
  const isOdd = isWhole && abs<f32>(y) < 16777216 && (<i32>y & 1) != 0
  let result: f32
  if (abs<f32>(y) == Infinity) result = size == 1 ? 1 : size > 1 == y > 0 ? Infinity : 0
  else if (size == 0) result = y > 0 ? 0 : Infinity
  else if (size == Infinity) result = y > 0 ? Infinity : 0
  else if (x < 0 && !isWhole) return NaN
  else result = f32x4.extract_lane(magnitudes(f32x4.splat(size), f32x4.splat(y)), 0)
  return isOdd ? copysign<f32>(result, x) : result
}

/** Powers of four positive finite numbers to finite exponents. */
function magnitudes(x: v128, y: v128): v128 {
  const low = f64x2.mul(f64x2.promote_low_f32x4(y), logarithms(f64x2.promote_low_f32x4(x)))
  const high = logarithms(f64x2.promote_low_f32x4(upper(x)))
  return fourPowersOf2(low, f64x2.mul(f64x2.promote_low_f32x4(upper(y)), high))
}

/** Logarithms to base 2 of two positive finite numbers. A loop passes constants that it has made once. */
// @ts-ignore: decorator
@inline
export function logarithms(
  x: v128,
  root: v128 = i64x2.splat(ROOT),
  scales: v128 = i64x2.splat(SCALES),
  one: v128 = f64x2.splat(1),
  l0: v128 = f64x2.splat(L0),
  l1: v128 = f64x2.splat(L1),
  l2: v128 = f64x2.splat(L2),
  l3: v128 = f64x2.splat(L3),
  l4: v128 = f64x2.splat(L4)
): v128 {
  // x = 2^e m, with m from the root of 1/2 on, up to the root of 2.
  const shifted = i64x2.sub(x, root)
  const m = i64x2.sub(x, v128.and(shifted, scales))
  const s = f64x2.div(f64x2.sub(m, one), f64x2.add(m, one))
  const z = f64x2.mul(s, s)
  const square = f64x2.mul(z, z)
  const low = f64x2.add(f64x2.mul(l3, z), l4)
  const high = f64x2.add(f64x2.mul(f64x2.add(f64x2.mul(l0, z), l1), z), l2)
  const p = f64x2.add(low, f64x2.mul(high, square))
  // Processors shift 64 bits only without their sign.
  const e = i32x4.shr_s(shifted, 20)
  const exponents = f64x2.convert_low_i32x4_s(i32x4.shuffle(e, e, 1, 3, 1, 3))
  return f64x2.add(exponents, f64x2.mul(p, s))
}

/** 2^t of four numbers as float32. Two pairs share constants, which a loop passes, and do not wait for each other. */
// @ts-ignore: decorator
@inline
function fourPowersOf2(
  low: v128,
  high: v128,
  least: v128 = f64x2.splat(-FAR),
  most: v128 = f64x2.splat(FAR),
  magic: v128 = f64x2.splat(MAGIC),
  ln2: v128 = f64x2.splat(LN2),
  e2: v128 = f64x2.splat(E2),
  e3: v128 = f64x2.splat(E3),
  e4: v128 = f64x2.splat(E4),
  e5: v128 = f64x2.splat(E5),
  e6: v128 = f64x2.splat(E6),
  e7: v128 = f64x2.splat(E7),
  one: v128 = f64x2.splat(1)
): v128 {
  const t0 = f64x2.pmin(f64x2.pmax(low, least), most)
  const t1 = f64x2.pmin(f64x2.pmax(high, least), most)
  const z0 = f64x2.add(t0, magic)
  const z1 = f64x2.add(t1, magic)
  const r0 = f64x2.mul(f64x2.sub(t0, f64x2.sub(z0, magic)), ln2)
  const r1 = f64x2.mul(f64x2.sub(t1, f64x2.sub(z1, magic)), ln2)
  const p0 = exponential(r0, e2, e3, e4, e5, e6, e7, one)
  const p1 = exponential(r1, e2, e3, e4, e5, e6, e7, one)
  const first = f32x4.demote_f64x2_zero(f64x2.mul(p0, i64x2.shl(z0, 52)))
  return i32x4.shuffle(first, f32x4.demote_f64x2_zero(f64x2.mul(p1, i64x2.shl(z1, 52))), 0, 1, 4, 5)
}

/** e^r for r up to ln(2) / 2, by pairs of terms that do not wait for each other (Estrin's scheme). */
// @ts-ignore: decorator
@inline
function exponential(
  r: v128,
  e2: v128 = f64x2.splat(E2),
  e3: v128 = f64x2.splat(E3),
  e4: v128 = f64x2.splat(E4),
  e5: v128 = f64x2.splat(E5),
  e6: v128 = f64x2.splat(E6),
  e7: v128 = f64x2.splat(E7),
  one: v128 = f64x2.splat(1)
): v128 {
  const square = f64x2.mul(r, r)
  const high = f64x2.add(f64x2.mul(f64x2.add(f64x2.mul(r, e7), e6), square), f64x2.add(f64x2.mul(r, e5), e4))
  const low = f64x2.add(f64x2.mul(f64x2.add(f64x2.mul(r, e3), e2), square), f64x2.add(r, one))
  return f64x2.add(f64x2.mul(high, f64x2.mul(square, square)), low)
}

/** 2^t, beyond the range of float32 in double precision too. */
// @ts-ignore: decorator
@inline
export function powersOf2(unbounded: v128): v128 {
  const t = f64x2.min(f64x2.max(unbounded, f64x2.splat(-FAR)), f64x2.splat(FAR))
  const z = f64x2.add(t, f64x2.splat(MAGIC))
  const r = f64x2.mul(f64x2.sub(t, f64x2.sub(z, f64x2.splat(MAGIC))), f64x2.splat(LN2))
  return f64x2.mul(exponential(r), i64x2.shl(z, 52))
}
