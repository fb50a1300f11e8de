/**
 * Powers of float32, in double precision: x^y is 2^(y log2 x), so that an error of 1e-10 of the logarithm is lost in
 * rounding. Without tables: a module that has data would write them over the heap when it is made.
 */

/** Powers in a line of `bytes` bytes, in which an operand moves by 4 bytes or stays. */
export function powerLine(x: usize, y: usize, to: usize, bytes: usize, xStep: u32, yStep: u32): void {
  const end = to + bytes
  const pairs = end - (bytes & 7)
  for (; to < pairs; to += 8, x += xStep << 1, y += yStep << 1) {
    const a = f32.load(x)
    const b = f32.load(x + xStep)
    const p = f32.load(y)
    const q = f32.load(y + yStep)
    if (isOrdinary(a, p) && isOrdinary(b, q)) {
      const powers = magnitudes(f64x2(<f64>a, <f64>b), f64x2(<f64>p, <f64>q))
      v128.store64_lane(to, f32x4.demote_f64x2_zero(powers), 0)
    } else {
      f32.store(to, power(a, p))
      f32.store(to, power(b, q), 4)
    }
  }
  if (to < end) f32.store(to, power(f32.load(x), f32.load(y)))
}

// @ts-ignore: decorator
@inline
function isOrdinary(x: f32, y: f32): bool {
  return x > 0 && x < Infinity && abs<f32>(y) < Infinity
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
  // x = 2^e m, with m from the root of 1/2 on, up to the root of 2.
  const shifted = i64x2.sub(x, i64x2.splat(0x3fe6a09e667f3bcd))
  const e = i64x2.shr_s(shifted, 52)
  const m = i64x2.sub(x, i64x2.shl(e, 52))
  const one = f64x2.splat(1)
  const s = f64x2.div(f64x2.sub(m, one), f64x2.add(m, one))
  const z = f64x2.mul(s, s)
  // The series of 2 atanh(s) / ln 2.
  let p = f64x2.splat(0.19235933878519512)
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.22195308321368668))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.26230818925253878))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.3205988979753252))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.4121985831111324))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.57707801635558535))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(0.9617966939259756))
  p = f64x2.add(f64x2.mul(p, z), f64x2.splat(2.8853900817779268))
  const exponents = f64x2.convert_low_i32x4_s(i32x4.shuffle(e, e, 0, 2, 0, 2))
  const logarithm = f64x2.add(exponents, f64x2.mul(p, s))
  return powersOf2(f64x2.mul(y, logarithm))
}

/** 2^t, beyond the range of float32 in double precision too. */
// @ts-ignore: decorator
@inline
function powersOf2(unbounded: v128): v128 {
  const t = f64x2.min(f64x2.max(unbounded, f64x2.splat(-400)), f64x2.splat(400))
  const n = f64x2.nearest(t)
  const r = f64x2.mul(f64x2.sub(t, n), f64x2.splat(0.6931471805599453))
  let p = f64x2.splat(2.7557319223985893e-6)
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(2.48015873015873e-5))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.984126984126984e-4))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.388888888888889e-3))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(8.333333333333333e-3))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(4.1666666666666664e-2))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(0.16666666666666666))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(0.5))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1))
  const whole = i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(n))
  return f64x2.mul(p, i64x2.shl(i64x2.add(whole, i64x2.splat(1023)), 52))
}
