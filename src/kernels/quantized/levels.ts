import { roundHalfToEven } from '../core/rounding.ts'

/** The nearest of `levels` levels, counted from 0, of a number within a range; ties to even. */
export const levelWithin = (value: number, low: number, high: number, levels: number): number =>
  roundHalfToEven(((value - low) / (high - low)) * (levels - 1))

/** {@link levelWithin} of any number; those outside of the range have its first or last level. */
export const levelOf = (value: number, low: number, high: number, levels: number): number =>
  value <= low ? 0 : value > high ? levels - 1 : levelWithin(value, low, high, levels)
