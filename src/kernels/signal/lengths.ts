/**
 * Where the second half of the last axis is left out, since it mirrors the first: nowhere; in the output, whose input
 * is real; in the input, whose output is real.
 */
export type Half = 'none' | 'out' | 'in'

/** Length of the half that does not mirror the other, for a transform of the given length. */
export const halfOf = (length: number): number => Math.floor(length / 2) + 1

/** The axis and the number of points of a transform; a longer axis is truncated, a shorter one padded with zeros. */
export interface AxisTransform {
  readonly axis: number
  readonly length: number
}

/** A transform along one axis of several. */
export interface AxisStep extends AxisTransform {
  /** Dims before and after it. */
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Whether the input is a first half that is completed by its mirror image. */
  readonly mirrors: boolean
}

/** Transforms along axes of a signal, in the order in which the last axis is real where half of it is left out. */
export function axisSteps(signal: readonly number[], axes: readonly AxisTransform[], half: Half): AxisStep[] {
  const order = half === 'out' ? axes.toReversed() : axes
  const halved = half === 'none' ? undefined : axes.at(-1)
  let from = signal
  return order.map(transform => {
    const isHalved = transform === halved
    const { axis, length } = transform
    const to = from.with(axis, isHalved && half === 'out' ? halfOf(length) : length)
    const step = { axis, length, from, to, mirrors: isHalved && half === 'in' }
    from = to
    return step
  })
}

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
