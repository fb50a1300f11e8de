import { erf, geluSpan } from './gauss'
import { GELU_TANH, logisticSpan, SIGMOID, SILU, SWISH } from './logistic'
import { exp, fma, log, splat, tanh } from './simd'

/**
 * Functions of one element by number, as in the list of ../../unary.ts, beside those of ./logistic.ts; p and q are
 * their parameters.
 */
export const NONE: i32 = 0
const CLIP: i32 = 1
const GELU: i32 = 3
const TANH: i32 = 6
const LEAKY: i32 = 7
const HARD_SIGMOID: i32 = 8
const HARD_SWISH: i32 = 9
const ELU: i32 = 10
const EXP: i32 = 11
const ABS: i32 = 12
const NEGATE: i32 = 13
const SQRT: i32 = 14
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
const CELU: i32 = 44
const SELU: i32 = 45
const THRESHOLDED: i32 = 46
const SOFTSIGN: i32 = 47
const MISH: i32 = 48
const SHRINK: i32 = 49

// @ts-ignore: decorator
@inline
function apply(kind: i32, x: v128, p: v128, q: v128): v128 {
  switch (kind) {
    // NaN stays NaN: pmax(a, b) is a < b ? b : a.
    case CLIP:
      return f32x4.pmin(f32x4.pmax(x, p), q)
    case LEAKY:
      return v128.bitselect(f32x4.mul(x, p), x, f32x4.lt(x, splat(0)))
    case HARD_SIGMOID:
      return f32x4.pmin(f32x4.pmax(fma(q, x, p), splat(0)), splat(1))
    case HARD_SWISH:
      return f32x4.mul(x, f32x4.pmin(f32x4.pmax(fma(q, x, p), splat(0)), splat(1)))
    case ELU:
      return v128.bitselect(f32x4.mul(p, f32x4.sub(exp(x), splat(1))), x, f32x4.lt(x, splat(0)))
    case EXP:
      return exp(x)
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
    case LOG:
      return log(x)
    case ERF:
      return erf(x)
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
    case CELU: {
      const low = f32x4.mul(p, f32x4.sub(exp(f32x4.div(x, p)), splat(1)))
      return f32x4.add(f32x4.pmax(x, splat(0)), f32x4.pmin(low, splat(0)))
    }
    case SELU: {
      const low = f32x4.mul(p, f32x4.sub(exp(x), splat(1)))
      return f32x4.mul(q, v128.bitselect(low, x, f32x4.lt(x, splat(0))))
    }
    case THRESHOLDED:
      return v128.and(x, f32x4.gt(x, p))
    case SOFTSIGN:
      return f32x4.div(x, f32x4.add(splat(1), f32x4.abs(x)))
    // tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), which is 1 from e^20 on.
    case MISH: {
      const e = exp(f32x4.pmin(x, splat(20)))
      const n = f32x4.mul(e, f32x4.add(e, splat(2)))
      return f32x4.mul(x, f32x4.div(n, f32x4.add(n, splat(2))))
    }
    case SHRINK: {
      const high = v128.and(f32x4.sub(x, q), f32x4.gt(x, p))
      return v128.bitselect(f32x4.add(x, q), high, f32x4.lt(x, f32x4.neg(p)))
    }
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

/** The same of tanh. On Node 20 V8 makes constants anew for each vector: two at once share them. */
// @ts-ignore: decorator
@inline
function tanhSpan(x: usize, y: usize, bytes: usize): void {
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  for (; y + 32 <= vectors; x += 32, y += 32) {
    const first = tanh(v128.load(x))
    const second = tanh(v128.load(x, 16))
    v128.store(y, first)
    v128.store(y, second, 16)
  }
  for (; y < vectors; x += 16, y += 16) v128.store(y, tanh(v128.load(x)))
  for (; y < end; x += 4, y += 4) f32.store(y, f32x4.extract_lane(tanh(v128.load32_splat(x)), 0))
}

/** y = f(x) for elements side by side; x and y may be the same. */
export function unarySpan(kind: i32, x: usize, y: usize, bytes: usize, a: f32, b: f32): void {
  if (bytes == 0) return
  const p = splat(a)
  const q = splat(b)
  switch (kind) {
    case CLIP:
      return loop(CLIP, x, y, bytes, p, q)
    case SILU:
      return logisticSpan(SILU, x, y, bytes, p)
    case GELU:
      return geluSpan(x, y, bytes)
    case GELU_TANH:
      return logisticSpan(GELU_TANH, x, y, bytes, p)
    case SIGMOID:
      return logisticSpan(SIGMOID, x, y, bytes, p)
    case TANH:
      return tanhSpan(x, y, bytes)
    case LEAKY:
      return loop(LEAKY, x, y, bytes, p, q)
    case HARD_SIGMOID:
      return loop(HARD_SIGMOID, x, y, bytes, p, q)
    case HARD_SWISH:
      return loop(HARD_SWISH, x, y, bytes, p, q)
    case ELU:
      return loop(ELU, x, y, bytes, p, q)
    case EXP:
      return loop(EXP, x, y, bytes, p, q)
    case ABS:
      return loop(ABS, x, y, bytes, p, q)
    case NEGATE:
      return loop(NEGATE, x, y, bytes, p, q)
    case SQRT:
      return loop(SQRT, x, y, bytes, p, q)
    case RECIPROCAL:
      return loop(RECIPROCAL, x, y, bytes, p, q)
    case FLOOR:
      return loop(FLOOR, x, y, bytes, p, q)
    case CEIL:
      return loop(CEIL, x, y, bytes, p, q)
    case ROUND:
      return loop(ROUND, x, y, bytes, p, q)
    case LOG:
      return loop(LOG, x, y, bytes, p, q)
    case ERF:
      return loop(ERF, x, y, bytes, p, q)
    case SQUARE:
      return loop(SQUARE, x, y, bytes, p, q)
    case CUBE:
      return loop(CUBE, x, y, bytes, p, q)
    case ROOT:
      return loop(ROOT, x, y, bytes, p, q)
    case SWISH:
      return logisticSpan(SWISH, x, y, bytes, p)
    case SIGN:
      return loop(SIGN, x, y, bytes, p, q)
    case CELU:
      return loop(CELU, x, y, bytes, p, q)
    case SELU:
      return loop(SELU, x, y, bytes, p, q)
    case THRESHOLDED:
      return loop(THRESHOLDED, x, y, bytes, p, q)
    case SOFTSIGN:
      return loop(SOFTSIGN, x, y, bytes, p, q)
    case MISH:
      return loop(MISH, x, y, bytes, p, q)
    case SHRINK:
      return loop(SHRINK, x, y, bytes, p, q)
    default:
      if (x != y) memory.copy(y, x, bytes)
  }
}
