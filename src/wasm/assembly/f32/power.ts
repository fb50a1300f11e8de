/**
 * Powers of float32, in double precision: x^y is 2^(y log2 x), so that an error of 1e-10 of the logarithm is lost in
 * rounding. Without tables: a module that has data would write them over the heap when it is made.
 */

/** Powers in a line of `bytes` bytes, in which an operand moves by 4 bytes or stays. */
export function powerLine(x: usize, y: usize, to: usize, bytes: usize, xStep: u32, yStep: u32): void {
  const end = to + bytes
  const pairs = end - (bytes & 7)
  for (; to < pairs; to += 8, x += xStep << 1, y += yStep << 1) {
    const bases = f64x2.promote_low_f32x4(pairAt(x, xStep))
    const exponents = f64x2.promote_low_f32x4(pairAt(y, yStep))
    if (areOrdinary(bases, exponents)) {
      v128.store64_lane(to, f32x4.demote_f64x2_zero(magnitudes(bases, exponents)), 0)
    } else {
      f32.store(to, power(f32.load(x), f32.load(y)))
      f32.store(to, power(f32.load(x + xStep), f32.load(y + yStep)), 4)
    }
  }
  if (to < end) f32.store(to, power(f32.load(x), f32.load(y)))
}

// @ts-ignore: decorator
@inline
function pairAt(x: usize, step: u32): v128 {
  return step == 0 ? v128.load32_splat(x) : v128.load64_zero(x)
}

/** Whether both bases are positive and finite, and both exponents finite. */
// @ts-ignore: decorator
@inline
function areOrdinary(x: v128, y: v128): bool {
  const infinity = f64x2.splat(Infinity)
  const areBases = v128.and(f64x2.gt(x, f64x2.splat(0)), f64x2.lt(x, infinity))
  return i64x2.all_true(v128.and(areBases, f64x2.lt(f64x2.abs(y), infinity)))
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
  else result = <f32>f64x2.extract_lane(magnitudes(f64x2.splat(<f64>size), f64x2.splat(<f64>y)), 0)
  return isOdd ? copysign<f32>(result, x) : result
}

/** Powers of two positive finite numbers to finite exponents. */
// @ts-ignore: decorator
@inline
function magnitudes(x: v128, y: v128): v128 {
  return powersOf2(f64x2.mul(y, logarithms(x)))
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

/** 2^t, beyond the range of float32 in double precision too. */
// @ts-ignore: decorator
@inline
export function powersOf2(unbounded: v128): v128 {
  const t = f64x2.min(f64x2.max(unbounded, f64x2.splat(-400)), f64x2.splat(400))
  const n = f64x2.nearest(t)
  const r = f64x2.mul(f64x2.sub(t, n), f64x2.splat(0.6931471805599453))
  // e^r, off by 5e-11.
  let p = f64x2.splat(1.979024902268497e-4)
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.3944759454926437e-3))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(8.333497669237492e-3))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(4.166629362093687e-2))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(0.16666665864585833))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(0.500000006804188))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  const whole = i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(n))
  return f64x2.mul(p, i64x2.shl(i64x2.add(whole, i64x2.splat(1023)), 52))
}
