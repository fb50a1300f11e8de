/**
 * Where the second half of the last axis is left out, since it mirrors the first: nowhere; in the output, whose input
 * is real; in the input, whose output is real.
 */
export type Half = 'none' | 'out' | 'in'

/** Length of the half that does not mirror the other, for a transform of the given length. */
export const halfOf = (length: number): number => Math.floor(length / 2) + 1

/** Above this prime factor Bluestein's algorithm costs less than the factor's definition as a sum. */
export const MAX_FACTOR = 61

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
