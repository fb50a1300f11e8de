import { bluesteinFft } from './bluestein.ts'
import type { Fft } from './complex.ts'
import { mixedRadixFft } from './mixed-radix.ts'

/** Above this prime factor Bluestein's algorithm costs less than the factor's definition as a sum. */
export const MAX_FACTOR = 61

/** Makes the transform of a length. It computes its roots of unity once, so use it for all lines of that length. */
export function fftOf(length: number): Fft {
  const factors = factorsOf(length)
  if (factors.every(factor => factor <= MAX_FACTOR)) return mixedRadixFft(length, factors)
  return bluesteinFft(length, fftOf(2 ** Math.ceil(Math.log2(2 * length - 1))))
}

/** The factors of a length: fours first, since their butterflies cost least, then primes. */
export function factorsOf(length: number): number[] {
  const factors: number[] = []
  let rest = length
  for (let factor = 4; rest > 1; factor = factor === 4 ? 2 : factor === 2 ? 3 : factor + 2) {
    if (factor > 4 && factor * factor > rest) factor = rest
    for (; rest % factor === 0; rest /= factor) factors.push(factor)
  }
  return factors
}
