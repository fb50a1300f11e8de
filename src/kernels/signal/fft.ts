import { bluesteinFft } from './bluestein.ts'
import type { Fft } from './complex.ts'
import { factorsOf, MAX_FACTOR } from './lengths.ts'
import { mixedRadixFft } from './mixed-radix.ts'

/** Makes the transform of a length. It computes its roots of unity once, so use it for all lines of that length. */
export function fftOf(length: number): Fft {
  const factors = factorsOf(length)
  if (factors.every(factor => factor <= MAX_FACTOR)) return mixedRadixFft(length, factors)
  return bluesteinFft(length, fftOf(2 ** Math.ceil(Math.log2(2 * length - 1))))
}
