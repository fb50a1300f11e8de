import { C2, C3, C4, C5, C6, FACTOR, lessOne, MAGIC } from './exponential'
import { fma, hidden, loadSome, splat, storeSome } from './simd'

/**
 * y = tanh x for elements side by side, by tanh |x| = m / (m + 2) with m = e^2|x| - 1, whose digits do not cancel.
 * About 1.5 ulp. NaN stays NaN. x and y may be the same, and `bytes` is not 0.
 */
export function tanhSpan(x: usize, y: usize, bytes: usize): void {
  const end = y + bytes
  let limit = y + (bytes & ~15)
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const signs = hidden(-0.0, zero)
  const high = hidden(20, zero)
  const factor = hidden(FACTOR, zero)
  const magic = hidden(MAGIC, zero)
  const ln2 = hidden(0.693147182, zero)
  const one = hidden(1, zero)
  const two = hidden(2, zero)
  const c2 = hidden(C2, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  const c6 = hidden(C6, zero)
  do {
    const isWhole = y < limit
    if (!isWhole) limit = end
    do {
      const v = loadSome(x, isWhole)
      const sign = v128.and(v, signs)
      const a = v128.xor(v, sign)
      const c = f32x4.pmin(f32x4.add(a, a), high)
      const z = fma(magic, c, factor)
      const minus = f32x4.sub(magic, z)
      const r = fma(c, minus, ln2)
      const m = lessOne(r, z, one, c2, c3, c4, c5, c6)
      const step = storeSome(y, v128.or(f32x4.div(m, f32x4.add(m, two)), sign), isWhole)
      x += step
      y += step
    } while (y < limit)
  } while (y < end)
}

/** x = cap tanh(x / cap) for `bytes` bytes, a multiple of 16. */
export function capSpan(x: usize, bytes: usize, cap: f32): void {
  if (bytes == 0) return
  const most = splat(cap)
  const end = x + bytes
  for (let at = x; at < end; at += 16) v128.store(at, f32x4.div(v128.load(at), most))
  tanhSpan(x, x, bytes)
  for (let at = x; at < end; at += 16) v128.store(at, f32x4.mul(v128.load(at), most))
}
