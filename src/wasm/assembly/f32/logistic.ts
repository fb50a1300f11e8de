import { FACTOR, MAGIC, polynomial, powerOf2, squareOf } from './exponential'
import { fma, hidden, loadSome, splat, storeSome } from './simd'

/** What {@link logisticSpan} computes, by the numbers of ./unary.ts: x / (1 + e^-u), with u = x. */
export const SILU: i32 = 2
/** u = 2 sqrt(2 / pi) (x + 0.044715 x^3): Gelu by tanh, since (1 + tanh v) / 2 = 1 / (1 + e^-2v). */
export const GELU_TANH: i32 = 4
/** 1 / (1 + e^-x). */
export const SIGMOID: i32 = 5
/** u = slope x. */
export const SWISH: i32 = 42

// Of the polynomial of degree 6 for 2^r with |r| <= 1/2, which begins with 1.
const C1: f32 = 0.693147182
const C2: f32 = 0.240226477
const C3: f32 = 0.0555036217
const C4: f32 = 0.00961852819
const C5: f32 = 0.00133902754
const C6: f32 = 0.000153209898
// From -88.4 on e^-u is Infinity, from 87.3 on less than the smallest normal number.
const LOW: f32 = -89
const HIGH: f32 = 87.3

/**
 * numerator / (1 + e^-u). e^-u is 2^n 2^r with n the nearest whole number to -u / ln 2 and r the rest. The error is at
 * most 1.2e-7 of the numerator. Subnormal e^-u counts as the smallest normal number, and what is above 2^127.5 as
 * Infinity. NaN stays NaN.
 */
// @ts-ignore: decorator
@inline
function logistic(
  numerator: v128,
  u: v128,
  one: v128,
  low: v128,
  high: v128,
  factor: v128,
  magic: v128,
  c1: v128,
  c2: v128,
  c3: v128,
  c4: v128,
  c5: v128,
  c6: v128
): v128 {
  // NaN passes both, since each keeps its first operand unless the second is beyond it.
  const c = f32x4.pmin(f32x4.pmax(u, low), high)
  const z = fma(magic, c, factor)
  // Rounded or not, this is the product of which z is the nearest number.
  const r = fma(f32x4.sub(magic, z), c, factor)
  const p = fma(one, polynomial(r, c1, c2, c3, c4, c5, c6), r)
  return f32x4.div(numerator, fma(one, p, powerOf2(z)))
}

/** One of the functions above for elements side by side; x and y may be the same, and `bytes` is not 0. */
// @ts-ignore: decorator
@inline
export function logisticSpan(kind: i32, x: usize, y: usize, bytes: usize, slope: v128): void {
  const end = y + bytes
  let limit = y + (bytes & ~15)
  // Elements lie at multiples of four bytes.
  const zero = <i32>(x & 3)
  const one = hidden(1, zero)
  const low = hidden(LOW, zero)
  const high = hidden(HIGH, zero)
  const factor = hidden(-FACTOR, zero)
  const magic = hidden(MAGIC, zero)
  const c1 = hidden(C1, zero)
  const c2 = hidden(C2, zero)
  const c3 = hidden(C3, zero)
  const c4 = hidden(C4, zero)
  const c5 = hidden(C5, zero)
  const c6 = hidden(C6, zero)
  const a = hidden(1.5957691216, zero)
  const b = hidden(0.0713548163, zero)
  // With the condition behind the body: V8 moves nothing out of a loop that may have no pass.
  do {
    const isWhole = y < limit
    if (!isWhole) limit = end
    do {
      const v = loadSome(x, isWhole)
      let u = v
      if (kind == SWISH) u = f32x4.mul(v, slope)
      if (kind == GELU_TANH) u = f32x4.mul(v, fma(a, squareOf(v), b))
      const w = logistic(kind == SIGMOID ? one : v, u, one, low, high, factor, magic, c1, c2, c3, c4, c5, c6)
      const step = storeSome(y, w, isWhole)
      x += step
      y += step
    } while (y < limit)
  } while (y < end)
}

/** y = 1 / (1 + e^-x) for elements side by side; x and y may be the same, and `bytes` is not 0. */
export function sigmoidSpan(x: usize, y: usize, bytes: usize): void {
  logisticSpan(SIGMOID, x, y, bytes, splat(1))
}
