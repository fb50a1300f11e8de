import { CELU, ELU, EXP, expSpan, MISH, SELU, SOFTPLUS } from './exponential'
import { erfSpan, geluSpan } from './gauss'
import { logSpan } from './logarithm'
import { GELU_TANH, logisticSpan, SIGMOID, sigmoidSpan, SILU, SWISH } from './logistic'
import { clip, fma, splat } from './simd'
import { tanhSpan } from './tanh'

/**
 * Functions of one element by number, as in the list of ../../kernels/elementwise.ts, beside those of ./exponential.ts
 * and ./logistic.ts; p and q are their parameters.
 */
export const NONE: i32 = 0
export const CLIP: i32 = 1
const GELU: i32 = 3
const TANH: i32 = 6
const LEAKY: i32 = 7
const HARD_SIGMOID: i32 = 8
const HARD_SWISH: i32 = 9
const ABS: i32 = 12
const NEGATE: i32 = 13
export const SQRT: i32 = 14
const RECIPROCAL: i32 = 15
const FLOOR: i32 = 16
const CEIL: i32 = 17
const ROUND: i32 = 18
const LOG: i32 = 19
const ERF: i32 = 20
const SQUARE: i32 = 21
const CUBE: i32 = 40
const ROOT: i32 = 41
const SIGN: i32 = 43
const THRESHOLDED: i32 = 46
const SOFTSIGN: i32 = 47
const SHRINK: i32 = 49
const DIVIDED: i32 = 51
export const AFFINE: i32 = 52
/** Itself from p on, else 0. */
const REACHING: i32 = 53
const SCALED_TANH: i32 = 54

// @ts-ignore: decorator
@inline
function apply(kind: i32, x: v128, p: v128, q: v128): v128 {
  switch (kind) {
    case CLIP:
      return clip(x, p, q)
    case LEAKY:
      return v128.bitselect(f32x4.mul(x, p), x, f32x4.lt(x, splat(0)))
    case HARD_SIGMOID:
      return f32x4.pmin(f32x4.pmax(fma(q, x, p), splat(0)), splat(1))
    case HARD_SWISH:
      return f32x4.mul(x, f32x4.pmin(f32x4.pmax(fma(q, x, p), splat(0)), splat(1)))
    case ABS:
      return f32x4.abs(x)
    case NEGATE:
      return f32x4.neg(x)
    case SQRT:
      return f32x4.sqrt(x)
    case RECIPROCAL:
      return f32x4.div(splat(1), x)
    case FLOOR:
      return f32x4.floor(x)
    case CEIL:
      return f32x4.ceil(x)
    case ROUND:
      return f32x4.nearest(x)
    case SQUARE:
      return f32x4.mul(x, x)
    case CUBE:
      return f32x4.mul(f32x4.mul(x, x), x)
    // x to the power 1/2 by IEEE 754 pow: unlike the square root 0 for -0 and Infinity for -Infinity.
    case ROOT:
      return v128.bitselect(splat(Infinity), f32x4.sqrt(f32x4.add(x, splat(0))), f32x4.eq(x, splat(-Infinity)))
    // Zeros keep their sign, and NaN stays NaN.
    case SIGN: {
      const one = v128.or(v128.and(x, splat(-0.0)), splat(1))
      return v128.bitselect(one, x, f32x4.gt(f32x4.abs(x), splat(0)))
    }
    case THRESHOLDED:
      return v128.and(x, f32x4.gt(x, p))
    case SOFTSIGN:
      return f32x4.div(x, f32x4.add(splat(1), f32x4.abs(x)))
    case SHRINK: {
      const high = v128.and(f32x4.sub(x, q), f32x4.gt(x, p))
      return v128.bitselect(f32x4.add(x, q), high, f32x4.lt(x, f32x4.neg(p)))
    }
    case DIVIDED:
      return f32x4.div(x, p)
    case AFFINE:
      return fma(q, x, p)
    case REACHING:
      return v128.and(x, f32x4.ge(x, p))
    default:
      return x
  }
}

/** One loop for each function: called with a constant, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function loop(kind: i32, x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  for (; y < vectors; x += 16, y += 16) v128.store(y, apply(kind, v128.load(x), p, q))
  // Up to three elements at the end go through a vector of one element each.
  for (; y < end; x += 4, y += 4) f32.store(y, f32x4.extract_lane(apply(kind, v128.load32_splat(x), p, q), 0))
}

// Each in a function of its own: in one function of all these loops V8 makes each up to twice as slow.

function clipLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(CLIP, x, y, bytes, p, q)
}

function siluLoop(x: usize, y: usize, bytes: usize, p: v128): void {
  logisticSpan(SILU, x, y, bytes, p)
}

function geluTanhLoop(x: usize, y: usize, bytes: usize, p: v128): void {
  logisticSpan(GELU_TANH, x, y, bytes, p)
}

function leakyLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(LEAKY, x, y, bytes, p, q)
}

function hardSigmoidLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(HARD_SIGMOID, x, y, bytes, p, q)
}

function hardSwishLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(HARD_SWISH, x, y, bytes, p, q)
}

function eluLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(ELU, x, y, bytes, p, q)
}

function expLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(EXP, x, y, bytes, p, q)
}

function absLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(ABS, x, y, bytes, p, q)
}

function negateLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(NEGATE, x, y, bytes, p, q)
}

function sqrtLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(SQRT, x, y, bytes, p, q)
}

function reciprocalLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(RECIPROCAL, x, y, bytes, p, q)
}

function floorLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(FLOOR, x, y, bytes, p, q)
}

function ceilLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(CEIL, x, y, bytes, p, q)
}

function roundLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(ROUND, x, y, bytes, p, q)
}

function squareLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(SQUARE, x, y, bytes, p, q)
}

function cubeLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(CUBE, x, y, bytes, p, q)
}

function rootLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(ROOT, x, y, bytes, p, q)
}

function swishLoop(x: usize, y: usize, bytes: usize, p: v128): void {
  logisticSpan(SWISH, x, y, bytes, p)
}

function signLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(SIGN, x, y, bytes, p, q)
}

function celuLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(CELU, x, y, bytes, p, q)
}

function seluLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(SELU, x, y, bytes, p, q)
}

function thresholdedLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(THRESHOLDED, x, y, bytes, p, q)
}

function softsignLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(SOFTSIGN, x, y, bytes, p, q)
}

function mishLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(MISH, x, y, bytes, p, q)
}

function shrinkLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(SHRINK, x, y, bytes, p, q)
}

function softplusLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  expSpan(SOFTPLUS, x, y, bytes, p, q)
}

function dividedLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(DIVIDED, x, y, bytes, p, q)
}

function affineLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(AFFINE, x, y, bytes, p, q)
}

function reachingLoop(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  loop(REACHING, x, y, bytes, p, q)
}

/** y = p tanh(q x). */
function scaledTanhSpan(x: usize, y: usize, bytes: usize, p: v128, q: v128): void {
  affineLoop(x, y, bytes, q, splat(0))
  tanhSpan(y, y, bytes)
  affineLoop(y, y, bytes, p, splat(0))
}

/** y = f(x) for elements side by side; x and y may be the same. */
export function unarySpan(kind: i32, x: usize, y: usize, bytes: usize, a: f32, b: f32): void {
  if (bytes == 0) return
  const p = splat(a)
  const q = splat(b)
  switch (kind) {
    case CLIP:
      return clipLoop(x, y, bytes, p, q)
    case SILU:
      return siluLoop(x, y, bytes, p)
    case GELU:
      return geluSpan(x, y, bytes)
    case GELU_TANH:
      return geluTanhLoop(x, y, bytes, p)
    case SIGMOID:
      return sigmoidSpan(x, y, bytes)
    case TANH:
      return tanhSpan(x, y, bytes)
    case LEAKY:
      return leakyLoop(x, y, bytes, p, q)
    case HARD_SIGMOID:
      return hardSigmoidLoop(x, y, bytes, p, q)
    case HARD_SWISH:
      return hardSwishLoop(x, y, bytes, p, q)
    case ELU:
      return eluLoop(x, y, bytes, p, q)
    case EXP:
      return expLoop(x, y, bytes, p, q)
    case ABS:
      return absLoop(x, y, bytes, p, q)
    case NEGATE:
      return negateLoop(x, y, bytes, p, q)
    case SQRT:
      return sqrtLoop(x, y, bytes, p, q)
    case RECIPROCAL:
      return reciprocalLoop(x, y, bytes, p, q)
    case FLOOR:
      return floorLoop(x, y, bytes, p, q)
    case CEIL:
      return ceilLoop(x, y, bytes, p, q)
    case ROUND:
      return roundLoop(x, y, bytes, p, q)
    case LOG:
      return logSpan(x, y, bytes)
    case ERF:
      return erfSpan(x, y, bytes)
    case SQUARE:
      return squareLoop(x, y, bytes, p, q)
    case CUBE:
      return cubeLoop(x, y, bytes, p, q)
    case ROOT:
      return rootLoop(x, y, bytes, p, q)
    case SWISH:
      return swishLoop(x, y, bytes, p)
    case SIGN:
      return signLoop(x, y, bytes, p, q)
    case CELU:
      return celuLoop(x, y, bytes, p, q)
    case SELU:
      return seluLoop(x, y, bytes, p, q)
    case THRESHOLDED:
      return thresholdedLoop(x, y, bytes, p, q)
    case SOFTSIGN:
      return softsignLoop(x, y, bytes, p, q)
    case MISH:
      return mishLoop(x, y, bytes, p, q)
    case SHRINK:
      return shrinkLoop(x, y, bytes, p, q)
    case SOFTPLUS:
      return softplusLoop(x, y, bytes, p, q)
    case DIVIDED:
      return dividedLoop(x, y, bytes, p, q)
    case AFFINE:
      return affineLoop(x, y, bytes, p, q)
    case REACHING:
      return reachingLoop(x, y, bytes, p, q)
    case SCALED_TANH:
      return scaledTanhSpan(x, y, bytes, p, q)
    default:
      if (x != y) memory.copy(y, x, bytes)
  }
}
