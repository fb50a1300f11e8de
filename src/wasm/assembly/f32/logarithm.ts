import { fma, hidden, loadSome, splat, storeSome } from './simd'

/** The smallest normal number, and what brings smaller ones above it: 2 to the power of SHIFT. */
const NORMAL: f32 = 1.17549435e-38
const SCALE: f32 = 8388608
const SHIFT: f32 = 23
/** The bits of sqrt(1/2). */
const LOWEST: i32 = 0x3f3504f3
// Of the polynomial of degree 11 for log(1 + m), which begins with m - m^2 / 2.
const C3: f32 = 3.3333331174e-1
const C4: f32 = -2.4999993993e-1
const C5: f32 = 2.0000714765e-1
const C6: f32 = -1.6668057665e-1
const C7: f32 = 1.4249322787e-1
const C8: f32 = -1.2420140846e-1
const C9: f32 = 1.167699874e-1
const C10: f32 = -1.151461031e-1
const C11: f32 = 7.0376836292e-2
/** ln 2 in two parts, of which any exponent times the first one is exact. */
const LN2: f32 = 0.693359375
const REST: f32 = -2.1219444e-4

/**
 * Natural logarithm: x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt(2)), and a polynomial for log(1 + m). Zero gives
 * -Infinity, less NaN. A loop passes constants that it has made once.
 */
// @ts-ignore: decorator
@inline
export function log(
  v: v128,
  normal: v128 = splat(NORMAL),
  scale: v128 = splat(SCALE),
  shift: v128 = splat(SHIFT),
  lowest: v128 = i32x4.splat(LOWEST),
  infinity: v128 = splat(Infinity),
  one: v128 = splat(1),
  minusHalf: v128 = splat(-0.5),
  ln2: v128 = splat(LN2),
  rest: v128 = splat(REST),
  c3: v128 = splat(C3),
  c4: v128 = splat(C4),
  c5: v128 = splat(C5),
  c6: v128 = splat(C6),
  c7: v128 = splat(C7),
  c8: v128 = splat(C8),
  c9: v128 = splat(C9),
  c10: v128 = splat(C10),
  c11: v128 = splat(C11)
): v128 {
  const tiny = f32x4.lt(v, normal)
  const x = v128.bitselect(f32x4.mul(v, scale), v, tiny)
  const e = i32x4.shr_s(i32x4.sub(x, lowest), 23)
  const m = f32x4.sub(i32x4.sub(x, i32x4.shl(e, 23)), one)
  const n = f32x4.sub(f32x4.convert_i32x4_s(e), v128.and(tiny, shift))
  const s = f32x4.mul(m, m)
  let p = fma(c10, c11, m)
  p = fma(c9, p, m)
  p = fma(c8, p, m)
  p = fma(c7, p, m)
  p = fma(c6, p, m)
  p = fma(c5, p, m)
  p = fma(c4, p, m)
  p = fma(c3, p, m)
  p = f32x4.mul(f32x4.mul(p, m), s)
  p = fma(fma(p, n, rest), s, minusHalf)
  let r = fma(f32x4.add(m, p), n, ln2)
  r = f32x4.sub(r, v128.and(f32x4.eq(v, splat(0)), infinity))
  // Infinity and NaN stay what they are. All bits set are NaN.
  r = v128.bitselect(r, v, f32x4.lt(v, infinity))
  return v128.or(r, f32x4.lt(v, splat(0)))
}

/** y = log x for elements side by side; x and y may be the same, and `bytes` is not 0. */
export function logSpan(x: usize, y: usize, bytes: usize): void {
  const end = y + bytes
  let limit = y + (bytes & ~15)
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const normal = hidden(NORMAL, zero)
  const scale = hidden(SCALE, zero)
  const shift = hidden(SHIFT, zero)
  const lowest = i32x4.splat(LOWEST + zero)
  const infinity = hidden(Infinity, zero)
  const one = hidden(1, zero)
  const minusHalf = hidden(-0.5, zero)
  const ln2 = hidden(LN2, zero)
  const rest = hidden(REST, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  const c6 = hidden(C6, zero)
  const c7 = hidden(C7, zero)
  const c8 = hidden(C8, zero)
  const c9 = hidden(C9, zero)
  const c10 = hidden(C10, zero)
  const c11 = hidden(C11, zero)
  do {
    const isWhole = y < limit
    if (!isWhole) limit = end
    do {
      const v = loadSome(x, isWhole)
      const w = log(
        v,
        normal,
        scale,
        shift,
        lowest,
        infinity,
        one,
        minusHalf,
        ln2,
        rest,
        c3,
        c4,
        c5,
        c6,
        c7,
        c8,
        c9,
        c10,
        c11
      )
      const step = storeSome(y, w, isWhole)
      x += step
      y += step
    } while (y < limit)
  } while (y < end)
}
