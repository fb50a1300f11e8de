import type { NumberInnerLoop, UnaryLoop, UnaryLoops } from '../core/elementwise.ts'
import { erf } from './erf.ts'

// Loops of activation functions. Each result is computed in double precision and rounded once, by the array's type.

export const SIGMOID: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = 1 / (1 + Math.exp(-x[i]))
}

/** `log(1 + exp(x))` without overflow. */
export const softplusOf = (x: number): number => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)))
export const SOFTPLUS: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = softplusOf(x[i])
}

export const SOFTSIGN: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = x[i] / (1 + Math.abs(x[i]))
}
export const MISH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = x[i] * Math.tanh(softplusOf(x[i]))
}

/** `x Φ(x)` with the cumulative distribution function Φ of the normal distribution. */
export const geluOf = (x: number): number => 0.5 * x * (1 + erf(x * Math.SQRT1_2))
export const GELU: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = geluOf(x[i])
}
/** Gelu of a sum. */
export const BIAS_GELU: NumberInnerLoop = (a, p, s, b, q, t, out, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = geluOf(a[p] + b[q])
}

const SQRT_2_PER_PI = Math.sqrt(2 / Math.PI)
const geluTanhOf = (x: number): number => 0.5 * x * (1 + Math.tanh(SQRT_2_PER_PI * (x + 0.044715 * x * x * x)))
export const GELU_TANH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = geluTanhOf(x[i])
}
export const BIAS_GELU_TANH: NumberInnerLoop = (a, p, s, b, q, t, out, o, u, n) => {
  for (let i = 0; i < n; i++, p += s, q += t, o += u) out[o] = geluTanhOf(a[p] + b[q])
}

export const leakyRelu =
  (alpha: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < 0 ? alpha * x[i] : x[i]
  }

export const elu =
  (alpha: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < 0 ? alpha * Math.expm1(x[i]) : x[i]
  }

export const selu =
  (alpha: number, gamma: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = gamma * (x[i] > 0 ? x[i] : alpha * Math.expm1(x[i]))
  }

export const celu =
  (alpha: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.max(0, x[i]) + Math.min(0, alpha * Math.expm1(x[i] / alpha))
  }

export const thresholdedRelu =
  (alpha: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] > alpha ? x[i] : 0
  }

export const hardSigmoid =
  (alpha: number, beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.max(0, Math.min(1, alpha * x[i] + beta))
  }

/** `x` times a hard sigmoid of slope 1/6. */
export const HARD_SWISH: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = (x[i] * Math.min(Math.max(x[i] + 3, 0), 6)) / 6
}
/** `x` times a hard sigmoid of any slope. */
export const hardSwish =
  (alpha: number, beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] * Math.max(0, Math.min(1, alpha * x[i] + beta))
  }
export const HARD_SIGMOID_6: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.min(Math.max(x[i] + 3, 0), 6) / 6
}

/** `x` times the sigmoid of `beta x`. */
export const swish =
  (beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] / (1 + Math.exp(-beta * x[i]))
  }

/** `alpha x + beta` */
export const affine =
  (alpha: number, beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = alpha * x[i] + beta
  }

/** `alpha` times the hyperbolic tangent of `beta x`. */
export const scaledTanh =
  (alpha: number, beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = alpha * Math.tanh(beta * x[i])
  }

/** `alpha log(1 + exp(beta x))` */
export const parametricSoftplus =
  (alpha: number, beta: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = alpha * softplusOf(beta * x[i])
  }

/** `k x` times its sigmoid. */
export const scaledSilu =
  (k: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = (k * x[i]) / (1 + Math.exp(-k * x[i]))
  }

/** Moves elements towards zero by `bias`; those within `[-lambd, lambd]` become zero. Integers are truncated. */
export const shrink = (lambd: number, bias: number): UnaryLoops => ({
  float: (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] < -lambd ? x[i] + bias : x[i] > lambd ? x[i] - bias : 0
  },
  big: (x, out, i, to) => {
    for (; i < to; i++)
      out[i] = x[i] < -lambd ? truncatedSum(x[i], bias) : x[i] > lambd ? truncatedSum(x[i], -bias) : 0n
  }
})

/** `x + y`, truncated; exact however large x is. Without a finite sum 0, as arrays of narrower integers store it. */
function truncatedSum(x: bigint, y: number): bigint {
  if (!Number.isFinite(y)) return 0n
  const sum = x + BigInt(Math.trunc(y))
  const fraction = y % 1
  return fraction < 0 && sum > 0n ? sum - 1n : fraction > 0 && sum < 0n ? sum + 1n : sum
}
