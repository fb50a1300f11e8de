import { splat } from './simd'

/** A function of numbers side by side, which its kernel knows by number. */
@unmanaged
export class NumberedArguments {
  x: usize
  y: usize
  kind: i32
}

/** Numbers of the functions; sines are 0. */
const COSINE: i32 = 1
const TANGENT: i32 = 2

/** Up to this magnitude a double holds how far a number is from a multiple of a quarter turn. */
const MAX_ANGLE: f32 = 65536
const QUARTER: f64 = 1.5707963267948966
/** A quarter turn in two parts, for tangents: 37 bits, so that products with whole numbers are exact, and the rest. */
const HIGH: f64 = 1.5707963267923333
const LOW: f64 = 2.563344151594519e-12

/**
 * Computes elements `from … to - 1`.
 * @returns whether it stopped at a number of a larger magnitude
 */
export function sine(args: NumberedArguments, from: u32, to: u32): bool {
  const kind = args.kind
  let x = args.x + (from << 2)
  let y = args.y + (from << 2)
  const end = args.y + (to << 2)
  for (const vectors = end - ((end - y) & 15); y < vectors; x += 16, y += 16) {
    const v = v128.load(x)
    if (v128.any_true(f32x4.gt(f32x4.abs(v), splat(MAX_ANGLE)))) return true
    v128.store(y, sineOf(v, kind))
  }
  for (; y < end; x += 4, y += 4) {
    const v = v128.load32_splat(x)
    if (v128.any_true(f32x4.gt(f32x4.abs(v), splat(MAX_ANGLE)))) return true
    v128.store32_lane(y, sineOf(v, kind), 0)
  }
  return false
}

/**
 * The rest of two angles beside `turns` quarter turns, to within 1e-11; for tangents with all digits of float32, since
 * next to zeros and poles a tangent errs by as large a share of itself as the rest does.
 */
// @ts-ignore: decorator
@inline
function restOf(angles: v128, turns: v128, isTangent: bool): v128 {
  const angle = f64x2.promote_low_f32x4(angles)
  const count = f64x2.promote_low_f32x4(turns)
  if (!isTangent) return f32x4.demote_f64x2_zero(f64x2.sub(angle, f64x2.mul(count, f64x2.splat(QUARTER))))
  const rest = f64x2.sub(angle, f64x2.mul(count, f64x2.splat(HIGH)))
  return f32x4.demote_f64x2_zero(f64x2.sub(rest, f64x2.mul(count, f64x2.splat(LOW))))
}

// @ts-ignore: decorator
@inline
function upper(v: v128): v128 {
  return i64x2.shuffle(v, v, 1, 0)
}

/**
 * Polynomials of sine and cosine up to an eighth of a turn, as in Cephes; the sign of a sine, and of a tangent, is that
 * of its angle.
 */
// @ts-ignore: decorator
@inline
function sineOf(v: v128, kind: i32): v128 {
  const angle = f32x4.abs(v)
  const turns = f32x4.nearest(f32x4.mul(angle, splat(<f32>(1 / QUARTER))))
  const isTangent = kind == TANGENT
  const low = restOf(angle, turns, isTangent)
  const r = i64x2.shuffle(low, restOf(upper(angle), upper(turns), isTangent), 0, 2)
  const z = f32x4.mul(r, r)
  let s = f32x4.add(f32x4.mul(splat(-1.9515295891e-4), z), splat(8.3321608736e-3))
  s = f32x4.add(f32x4.mul(s, z), splat(-1.6666654611e-1))
  s = f32x4.add(f32x4.mul(f32x4.mul(s, z), r), r)
  let c = f32x4.add(f32x4.mul(splat(2.443315711809948e-5), z), splat(-1.388731625493765e-3))
  c = f32x4.add(f32x4.mul(c, z), splat(4.166664568298827e-2))
  c = f32x4.add(f32x4.sub(f32x4.mul(f32x4.mul(c, z), z), f32x4.mul(z, splat(0.5))), splat(1))
  let n = i32x4.trunc_sat_f32x4_s(turns)
  const sign = v128.and(v, splat(-0.0))
  if (kind == COSINE) n = i32x4.add(n, i32x4.splat(1))
  const isOdd = i32x4.neg(v128.and(n, i32x4.splat(1)))
  if (isTangent) {
    const quotient = f32x4.div(v128.bitselect(f32x4.neg(c), s, isOdd), v128.bitselect(s, c, isOdd))
    return v128.xor(quotient, sign)
  }
  const flipped = v128.xor(v128.bitselect(c, s, isOdd), i32x4.shl(v128.and(n, i32x4.splat(2)), 30))
  return kind == COSINE ? flipped : v128.xor(flipped, sign)
}
