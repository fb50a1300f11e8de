import { logarithms, powersOf2 } from './power'
import { splat } from './simd'
import { NumberedArguments } from './sine'

/** Numbers of the functions, as in ../../kernels/transcendental.ts. */
const ASIN: i32 = 0
const ACOS: i32 = 1
const ATAN: i32 = 2
const SINH: i32 = 3
const COSH: i32 = 4
const ASINH: i32 = 5
const ACOSH: i32 = 6

const HALF_PI: f32 = 1.5707963267948966
const LN2: f64 = 0.6931471805599453
/** Below it a function that is odd, and whose slope is 1 at 0, is its argument, within a billionth. */
const SMALL: f64 = 1e-4

/**
 * Inverse trigonometric functions, hyperbolic ones and their inverses, of numbers side by side. Computes elements
 * `from … to - 1`.
 */
export function transcendental(args: NumberedArguments, from: u32, to: u32): void {
  const kind = args.kind
  let x = args.x + (from << 2)
  let y = args.y + (from << 2)
  const end = args.y + (to << 2)
  for (const vectors = end - ((end - y) & 15); y < vectors; x += 16, y += 16) v128.store(y, apply(kind, v128.load(x)))
  for (; y < end; x += 4, y += 4) v128.store32_lane(y, apply(kind, v128.load32_splat(x)), 0)
}

/** Called, not inlined: each function is long, and is there once. */
function apply(kind: i32, x: v128): v128 {
  if (kind <= ACOS) return inverse(x, kind == ACOS)
  if (kind == ATAN) return arctangent(x)
  const low = inDoubles(kind, f64x2.promote_low_f32x4(x))
  const high = inDoubles(kind, f64x2.promote_low_f32x4(i64x2.shuffle(x, x, 1, 0)))
  return i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2)
}

/** The sign of `s` at the magnitudes of `x`. */
// @ts-ignore: decorator
@inline
function signed(x: v128, s: v128): v128 {
  return v128.or(x, v128.and(s, splat(-0.0)))
}

/**
 * Arcsine or arccosine: a polynomial up to 1/2, as in Cephes; beyond, asin a = pi/2 - 2 asin(sqrt((1 - a) / 2)). Beyond
 * 1 that is NaN.
 */
// @ts-ignore: decorator
@inline
function inverse(x: v128, isCosine: bool): v128 {
  const a = f32x4.abs(x)
  const isBig = f32x4.gt(a, splat(0.5))
  const z = v128.bitselect(f32x4.mul(f32x4.sub(splat(1), a), splat(0.5)), f32x4.mul(a, a), isBig)
  const w = v128.bitselect(f32x4.sqrt(z), a, isBig)
  let p = f32x4.add(f32x4.mul(splat(4.2163199048e-2), z), splat(2.4181311049e-2))
  p = f32x4.add(f32x4.mul(p, z), splat(4.5470025998e-2))
  p = f32x4.add(f32x4.mul(p, z), splat(7.4953002686e-2))
  p = f32x4.add(f32x4.mul(p, z), splat(1.6666752422e-1))
  const r = f32x4.add(f32x4.mul(f32x4.mul(p, z), w), w)
  const twice = f32x4.add(r, r)
  const half = splat(HALF_PI)
  if (!isCosine) return signed(v128.bitselect(f32x4.sub(half, twice), r, isBig), x)
  const beyond = v128.bitselect(f32x4.sub(splat(2 * HALF_PI), twice), twice, f32x4.lt(x, splat(0)))
  return v128.bitselect(beyond, f32x4.sub(half, signed(r, x)), isBig)
}

/** Arctangent: a polynomial up to tan(pi/8), as in Cephes; beyond, pi/4 or pi/2 are taken away first. */
// @ts-ignore: decorator
@inline
function arctangent(x: v128): v128 {
  const a = f32x4.abs(x)
  const one = splat(1)
  const isHigh = f32x4.gt(a, splat(2.414213562373095))
  const isMiddle = f32x4.gt(a, splat(0.41421356237309503))
  const over = v128.bitselect(splat(-1), v128.bitselect(f32x4.sub(a, one), a, isMiddle), isHigh)
  const under = v128.bitselect(a, v128.bitselect(f32x4.add(a, one), one, isMiddle), isHigh)
  const t = f32x4.div(over, under)
  const z = f32x4.mul(t, t)
  let p = f32x4.sub(f32x4.mul(splat(8.05374449538e-2), z), splat(1.38776856032e-1))
  p = f32x4.add(f32x4.mul(p, z), splat(1.99777106478e-1))
  p = f32x4.sub(f32x4.mul(p, z), splat(3.33329491539e-1))
  const start = v128.bitselect(splat(HALF_PI), v128.and(isMiddle, splat(HALF_PI / 2)), isHigh)
  return signed(f32x4.add(start, f32x4.add(f32x4.mul(f32x4.mul(p, z), t), t)), x)
}

/** Hyperbolic functions and their inverses in double precision, in which nothing that float32 shows cancels. */
function inDoubles(kind: i32, x: v128): v128 {
  const a = f64x2.abs(x)
  const one = f64x2.splat(1)
  let y: v128
  if (kind <= COSH) {
    const e = powersOf2(f64x2.mul(a, f64x2.splat(1 / LN2)))
    const inverted = f64x2.div(one, e)
    y = f64x2.mul(kind == SINH ? f64x2.sub(e, inverted) : f64x2.add(e, inverted), f64x2.splat(0.5))
    if (kind == COSH) return y
  } else {
    let u: v128
    const square = f64x2.mul(x, x)
    if (kind == ASINH) u = f64x2.add(a, f64x2.sqrt(f64x2.add(square, one)))
    else if (kind == ACOSH) u = f64x2.add(x, f64x2.sqrt(f64x2.sub(square, one)))
    else u = f64x2.div(f64x2.add(one, a), f64x2.sub(one, a))
    y = f64x2.mul(logarithms(u), f64x2.splat(kind <= ACOSH ? LN2 : LN2 / 2))
    const infinity = f64x2.splat(Infinity)
    y = v128.bitselect(y, infinity, f64x2.lt(u, infinity))
    y = v128.bitselect(y, f64x2.splat(NaN), f64x2.gt(u, f64x2.splat(0)))
    if (kind == ACOSH) return y
  }
  const positive = v128.bitselect(a, y, f64x2.lt(a, f64x2.splat(SMALL)))
  return v128.or(positive, v128.and(x, f64x2.splat(-0.0)))
}
