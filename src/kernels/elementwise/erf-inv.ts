import type { UnaryLoop } from '../core/elementwise.ts'
import { erf } from './erf.ts'

const SLOPE = 2 / Math.sqrt(Math.PI)
const LOG_ROOT_PI = Math.log(Math.PI) / 2
/** From here on the distance to 1 is used, which has more significant digits. */
const TAIL = 0.9
/**
 * Terms of the continued fraction of erfc, which give full double precision from about 1.1 on, where the tail begins.
 */
const FRACTION_TERMS = 120

/**
 * The number whose error function is `x`, to a few units in the last place of a double; ±Infinity for ±1, NaN beyond.
 */
export function erfInv(x: number): number {
  const magnitude = Math.abs(x)
  if (!(magnitude < 1)) return magnitude === 1 ? x * Infinity : NaN
  if (x === 0) return x
  const found = magnitude < TAIL ? solveCentre(magnitude) : solveTail(1 - magnitude, magnitude)
  return x < 0 ? -found : found
}

/**
 * An approximation within 0.4 % (S. Winitzki, "A handy approximation for the error function and its inverse", 2008).
 */
function guess(x: number): number {
  const a = 0.147
  const log = Math.log1p(-x * x)
  const b = 2 / (Math.PI * a) + log / 2
  return Math.sqrt(Math.sqrt(b * b - log / a) - b)
}

/** Halley's method on `erf(y) - x`; each iteration triples the number of exact digits. */
function solveCentre(x: number): number {
  let y = guess(x)
  for (let step = 0; step < 3; step++) {
    const error = (erf(y) - x) / (SLOPE * Math.exp(-y * y))
    y -= error / (1 + y * error)
  }
  return y
}

/**
 * Newton's method on `log(erfc(y)) - log(rest)`, where `erfc(y) = exp(-y²) / (√π K)` with a continued fraction K.
 * Nothing is subtracted from 1, which would cancel digits.
 */
function solveTail(rest: number, x: number): number {
  const goal = Math.log(rest) + LOG_ROOT_PI
  let y = guess(x)
  for (let step = 0; step < 4; step++) {
    let fraction = y
    for (let k = FRACTION_TERMS; k > 0; k--) fraction = y + k / 2 / fraction
    y += (-y * y - Math.log(fraction) - goal) / (2 * fraction)
  }
  return y
}

export const ERF_INV: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = erfInv(x[i])
}
