import type { Numbers } from './elements.ts'

/** What is in a list of numbers. NaN do not count in the others, which are absent where nothing counts. */
export interface Statistics {
  readonly min?: number
  readonly max?: number
  readonly mean?: number
  readonly nans: number
}

/** Least, greatest and mean, in one pass. */
export function statisticsOf(numbers: Numbers): Statistics {
  let [min, max, sum, nans] = [Infinity, -Infinity, 0, 0]
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]
    if (number !== number) {
      nans++
      continue
    }
    if (number < min) min = number
    if (number > max) max = number
    sum += number
  }
  const counted = numbers.length - nans
  return { ...(counted > 0 && { min, max, mean: sum / counted }), nans }
}
