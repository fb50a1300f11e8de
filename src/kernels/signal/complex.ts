import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'

/** A line of complex numbers. */
export interface Complex {
  readonly re: Float64Array
  readonly im: Float64Array
}

/** A discrete Fourier transform of one length, in double precision. */
export interface Fft {
  readonly length: number
  /**
   * Replaces a line by its transform `Σ x[j] exp(-2πi jk/n)`, or, where `inverse`, by `Σ x[j] exp(2πi jk/n)`, which is
   * not divided by n.
   */
  transform(line: Complex, inverse: boolean, pace: Pace): Generator<void>
}

/** Zeros to compute with, for one call. */
export const complexLine = (length: number): Complex => ({ re: doubles(length), im: doubles(length) })

/** The line with real and imaginary parts exchanged: its transform, exchanged again, is the inverse transform. */
export const swapped = ({ re, im }: Complex): Complex => ({ re: im, im: re })

/** Nanoseconds for one root of unity. */
export const ROOT_COST = 2 * COST.transcendental
