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

/** Powers in a line of `bytes` bytes, in which an operand moves by 4 bytes or stays. */
export function powerLine(x: usize, y: usize, to: usize, bytes: usize, xStep: u32, yStep: u32): void {
  if (xStep == 0 && bytes > 4) return powersOfOne(f32.load(x), y, to, bytes, yStep)
  const end = to + bytes
  for (const quads = end - (bytes & 15); to < quads; to += 16, x += xStep << 2, y += yStep << 2) {
    const bases = v128.load(x)
    const sizes = f32x4.abs(bases)
    const exponents = yStep == 0 ? v128.load32_splat(y) : v128.load(y)
    if (areOrdinary(sizes, exponents)) {
      const powers = magnitudes(sizes, exponents)
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

/** Logarithms to base 2 of two positive finite numbers. */
// @ts-ignore: decorator
@inline
export function logarithms(x: v128): v128 {
  // x = 2^e m, with m from the root of 1/2 on, up to the root of 2.
  const shifted = i64x2.sub(x, i64x2.splat(0x3fe6a09e667f3bcd))
  const e = i64x2.shr_s(shifted, 52)
  const m = i64x2.sub(x, i64x2.shl(e, 52))
  const one = f64x2.splat(1)
  const s = f64x2.div(f64x2.sub(m, one), f64x2.add(m, one))
  const z = f64x2.mul(s, s)
  // 2 atanh(s) / ln 2 = s p, where p is near its series: off by 1e-11.
  let p = f64x2.splat(0.3407803630550728)
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.41167005017440944))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.5770836287144363))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.9617966731158438))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(2.8853900817902636))
  const exponents = f64x2.convert_low_i32x4_s(i32x4.shuffle(e, e, 0, 2, 0, 2))
  return f64x2.add(exponents, f64x2.mul(p, s))
}

/** 2^t of four numbers as float32. Two pairs share constants, and do not wait for each other. */
// @ts-ignore: decorator
@inline
function fourPowersOf2(low: v128, high: v128): v128 {
  // Beyond the range of float32 in double precision too.
  const least = f64x2.splat(-400)
  const most = f64x2.splat(400)
  const t0 = f64x2.pmin(f64x2.pmax(low, least), most)
  const t1 = f64x2.pmin(f64x2.pmax(high, least), most)
  const n0 = f64x2.nearest(t0)
  const n1 = f64x2.nearest(t1)
  let c = f64x2.splat(LN2)
  const r0 = f64x2.mul(f64x2.sub(t0, n0), c)
  const r1 = f64x2.mul(f64x2.sub(t1, n1), c)
  c = f64x2.splat(E7)
  let p0 = f64x2.mul(r0, c)
  let p1 = f64x2.mul(r1, c)
  c = f64x2.splat(E6)
  p0 = f64x2.mul(f64x2.add(p0, c), r0)
  p1 = f64x2.mul(f64x2.add(p1, c), r1)
  c = f64x2.splat(E5)
  p0 = f64x2.mul(f64x2.add(p0, c), r0)
  p1 = f64x2.mul(f64x2.add(p1, c), r1)
  c = f64x2.splat(E4)
  p0 = f64x2.mul(f64x2.add(p0, c), r0)
  p1 = f64x2.mul(f64x2.add(p1, c), r1)
  c = f64x2.splat(E3)
  p0 = f64x2.mul(f64x2.add(p0, c), r0)
  p1 = f64x2.mul(f64x2.add(p1, c), r1)
  c = f64x2.splat(E2)
  p0 = f64x2.mul(f64x2.add(p0, c), r0)
  p1 = f64x2.mul(f64x2.add(p1, c), r1)
  c = f64x2.splat(1)
  p0 = f64x2.add(f64x2.mul(f64x2.add(p0, c), r0), c)
  p1 = f64x2.add(f64x2.mul(f64x2.add(p1, c), r1), c)
  return i32x4.shuffle(f32x4.demote_f64x2_zero(scaled(p0, n0)), f32x4.demote_f64x2_zero(scaled(p1, n1)), 0, 1, 4, 5)
}

/** `p` times 2^n of whole numbers n. */
// @ts-ignore: decorator
@inline
function scaled(p: v128, n: v128): v128 {
  const whole = i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(n))
  return f64x2.mul(p, i64x2.shl(i64x2.add(whole, i64x2.splat(1023)), 52))
}

/** 2^t, beyond the range of float32 in double precision too. */
// @ts-ignore: decorator
@inline
export function powersOf2(unbounded: v128): v128 {
  const t = f64x2.min(f64x2.max(unbounded, f64x2.splat(-400)), f64x2.splat(400))
  const n = f64x2.nearest(t)
  const r = f64x2.mul(f64x2.sub(t, n), f64x2.splat(LN2))
  let p = f64x2.splat(E7)
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(E6))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(E5))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(E4))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(E3))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(E2))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  return scaled(p, n)
}
