/** What the operators of ai.onnx.ml do to scores at the end. */
export type PostTransform = 'NONE' | 'SOFTMAX' | 'LOGISTIC' | 'SOFTMAX_ZERO' | 'PROBIT'

/** All post transforms, by the words of the attributes. */
export const POST_TRANSFORMS: Readonly<Record<PostTransform, PostTransform>> = {
  NONE: 'NONE',
  SOFTMAX: 'SOFTMAX',
  LOGISTIC: 'LOGISTIC',
  SOFTMAX_ZERO: 'SOFTMAX_ZERO',
  PROBIT: 'PROBIT'
}

/**
 * Transforms a row of scores in place. As in ONNX Runtime, a single score is only changed by PROBIT.
 * @param scores the row is `scores[at … at + count)`
 */
export function transformScores(scores: Float64Array, at: number, count: number, post: PostTransform): void {
  if (post === 'NONE' || (count === 1 && post !== 'PROBIT')) return
  const end = at + count
  if (post === 'SOFTMAX' || post === 'SOFTMAX_ZERO')
    softmax(scores, at, end, post === 'SOFTMAX_ZERO' ? ALMOST_ZERO : -1)
  else for (let i = at; i < end; i++) scores[i] = post === 'LOGISTIC' ? logistic(scores[i]) : probit(scores[i])
}

/** SOFTMAX_ZERO leaves scores of this magnitude and less where they are, at zero: so do both runtimes. */
const ALMOST_ZERO = 1e-7

function softmax(scores: Float64Array, at: number, end: number, skipped: number): void {
  let largest = -Infinity
  for (let i = at; i < end; i++) if (scores[i] > largest) largest = scores[i]
  let sum = 0
  for (let i = at; i < end; i++) {
    if (Math.abs(scores[i]) <= skipped) scores[i] *= Math.exp(-largest)
    else sum += scores[i] = Math.exp(scores[i] - largest)
  }
  for (let i = at; i < end; i++) scores[i] /= sum
}

/** The logistic function; the exponential never overflows. */
export function logistic(x: number): number {
  const y = 1 / (1 + Math.exp(-Math.abs(x)))
  return x < 0 ? 1 - y : y
}

/** The constant of Winitzki's approximation of the inverse error function. */
const WINITZKI = 0.147

/**
 * The inverse of the normal distribution function by Winitzki's approximation of the inverse error function, as ONNX
 * Runtime and the reference implementation compute it: off by up to 0.006. Infinite at 0 and 1, NaN beyond.
 */
function probit(p: number): number {
  const x = 2 * p - 1
  const log = Math.log((1 - x) * (1 + x))
  if (log === -Infinity) return x < 0 ? -Infinity : Infinity
  const half = 2 / (Math.PI * WINITZKI) + log / 2
  const erfInv = Math.sqrt(Math.sqrt(half * half - log / WINITZKI) - half)
  return Math.SQRT2 * (x < 0 ? -erfInv : erfInv)
}

/** What the score of the first of two classes is, where only one score `s` was computed: `1 - s` or `-s`. */
export type FirstScore = 'one-minus' | 'minus'

/**
 * Writes the scores of two classes of which one score was computed, the second's. As in ONNX Runtime, SOFTMAX and
 * SOFTMAX_ZERO leave them as they are. It leaves one of the two undefined under PROBIT, which here is of both.
 */
export function writeTwo(score: number, first: FirstScore, post: PostTransform, out: Float32Array, at: number): void {
  const other = first === 'minus' ? -score : 1 - score
  out[at] = post === 'LOGISTIC' ? logistic(-score) : post === 'PROBIT' ? -probit(score) : other
  out[at + 1] = post === 'LOGISTIC' ? logistic(score) : post === 'PROBIT' ? probit(score) : score
}

/** Position of the largest of `scores[at … at + count)`, the first where several are; NaN is passed over. */
export function largestOf(scores: ArrayLike<number>, at: number, count: number): number {
  let best = 0
  for (let i = 1; i < count; i++) if (scores[at + i] > scores[at + best]) best = i
  return best
}
