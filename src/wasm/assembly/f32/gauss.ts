import { exponential } from './exponential'
import { fma, hidden, loadSome, splat, storeSome } from './simd'

/** erf: an odd polynomial for |x| below 0.921875, else 1 - e^-poly(|x|). About 1 ulp of 1. */
// @ts-ignore: decorator
@inline
export function erf(v: v128): v128 {
  const sign = v128.and(v, splat(-0.0))
  const a = v128.xor(v, sign)
  const x = f32x4.pmin(splat(3.925), a)
  const s = f32x4.mul(x, x)
  let p = splat(-5.99104969e-4)
  p = fma(splat(4.99339588e-3), p, s)
  p = fma(splat(-2.67667342e-2), p, s)
  p = fma(splat(1.12818025e-1), p, s)
  p = fma(splat(-3.76124859e-1), p, s)
  p = fma(splat(1.28379151e-1), p, s)
  const small = fma(x, p, x)
  let q = splat(1.7294893e-5)
  q = fma(splat(-3.8320868e-4), q, x)
  q = fma(splat(3.88393435e-3), q, x)
  q = fma(splat(-2.42545605e-2), q, x)
  q = fma(splat(1.06777847e-1), q, x)
  q = fma(splat(6.34846687e-1), q, x)
  q = fma(splat(1.28717512e-1), q, x)
  q = fma(x, q, x)
  const big = f32x4.sub(splat(1), exponential(f32x4.neg(q)))
  const result = v128.bitselect(big, small, f32x4.gt(x, splat(0.921875)))
  // NaN: pmin gives the bound, so it is put back.
  return v128.bitselect(v128.or(result, sign), v, f32x4.eq(v, v))
}

/**
 * y = x Phi(x) for elements side by side, where Phi is the normal distribution: 1/2 + erf(x / sqrt 2) / 2, by a ratio
 * of polynomials that takes a third of the time of {@link erf}. The error is at most 1.6e-7 |x|. Below -5.2381 Phi
 * counts as 0. NaN stays NaN. x and y may be the same, and `bytes` is not 0.
 */
export function geluSpan(x: usize, y: usize, bytes: usize): void {
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const low = hidden(-5.2381043, zero)
  const high = hidden(5.2381043, zero)
  const half = hidden(0.5, zero)
  const one = hidden(1, zero)
  const p0 = hidden(3.98942262e-1, zero)
  const p1 = hidden(3.27405035e-2, zero)
  const p2 = hidden(4.50388948e-3, zero)
  const p3 = hidden(1.50626613e-4, zero)
  const p4 = hidden(5.0613521e-6, zero)
  const q1 = hidden(2.48734608e-1, zero)
  const q2 = hidden(2.77462546e-2, zero)
  const q3 = hidden(1.75880874e-3, zero)
  const q4 = hidden(6.3622676e-5, zero)
  const q5 = hidden(7.35873698e-7, zero)
  const q6 = hidden(-1.84245053e-9, zero)
  do {
    const isWhole = y < vectors
    const v = loadSome(x, isWhole)
    const c = f32x4.pmax(f32x4.pmin(v, high), low)
    const s = f32x4.mul(c, c)
    let p = fma(p3, p4, s)
    p = fma(p2, p, s)
    p = fma(p1, p, s)
    p = fma(p0, p, s)
    let q = fma(q5, q6, s)
    q = fma(q4, q, s)
    q = fma(q3, q, s)
    q = fma(q2, q, s)
    q = fma(q1, q, s)
    q = fma(one, q, s)
    const phi = f32x4.add(half, f32x4.div(f32x4.mul(c, p), q))
    const w = f32x4.mul(v, v128.andnot(phi, f32x4.lt(v, low)))
    const step = storeSome(y, w, isWhole)
    x += step
    y += step
  } while (y < end)
}
