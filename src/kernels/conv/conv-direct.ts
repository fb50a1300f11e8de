import { planeSizes } from '../../shapes/window.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { BigInts } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import { eachRun, type Run, tapsOf } from '../core/windows.ts'
import type { ConvPlan } from './conv-plan.ts'

/** How products of one kind of element are summed. */
export interface Arithmetic<A, S extends A> {
  /** Sums of a plane, to be filled with a start value. */
  sums(count: number): S & { fill(value: unknown): void }
  readonly zero: number | bigint
  /** `sums[to + i*toStep] += weights[at] * x[from + i*fromStep]` for `i < count` */
  add(
    sums: S,
    to: number,
    toStep: number,
    x: A,
    from: number,
    fromStep: number,
    weights: A,
    at: number,
    count: number
  ): void
}

/** Floats and integers up to 16 bits: sums in double precision. */
export const NUMBERS: Arithmetic<Numbers, Float64Array> = {
  sums: count => new Float64Array(count),
  zero: 0,
  add(sums, to, toStep, x, from, fromStep, weights, at, count) {
    const scale = weights[at]
    for (let i = 0; i < count; i++, to += toStep, from += fromStep) sums[to] += scale * x[from]
  }
}

/** 32-bit integers, whose products a double cannot hold. */
export const INTS: Arithmetic<Numbers, Int32Array> = {
  sums: count => new Int32Array(count),
  zero: 0,
  add(sums, to, toStep, x, from, fromStep, weights, at, count) {
    const scale = weights[at]
    for (let i = 0; i < count; i++, to += toStep, from += fromStep) sums[to] += Math.imul(scale, x[from])
  }
}

/** 64-bit integers, signed or unsigned: the low 64 bits of sums and products are the same. */
export const BIGS: Arithmetic<BigInts, BigInt64Array> = {
  sums: count => new BigInt64Array(count),
  zero: 0n,
  add(sums, to, toStep, x, from, fromStep, weights, at, count) {
    const scale = weights[at]
    for (let i = 0; i < count; i++, to += toStep, from += fromStep) sums[to] += scale * x[from]
  }
}

/** Elements of the operands and of the output of a convolution. */
export interface ConvArrays<A> {
  readonly x: A
  readonly w: A
  readonly bias: A | undefined
  readonly out: A
}

/**
 * Convolves (or convolves transposed) tap by tap for each pair of channels. Used for few channels, where im2col does
 * not pay, and for integers that wrap.
 */
export function* convolveDirectly<A extends Numbers | BigInts, S extends A>(
  arithmetic: Arithmetic<A, S>,
  { x, w, bias, out }: ConvArrays<A>,
  plan: ConvPlan,
  isTransposed: boolean
): Generator<void> {
  const { batch, groups, windowChannels, elementChannels, axes } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const input = isTransposed
    ? { channels: windowChannels, plane: windows }
    : { channels: elementChannels, plane: elements }
  const output = isTransposed
    ? { channels: elementChannels, plane: elements }
    : { channels: windowChannels, plane: windows }
  const { add } = arithmetic
  const sums = arithmetic.sums(output.plane)
  const reads = tapsOf(axes)
  const pace = new Pace()
  for (let g = 0; g < batch * groups; g++) {
    const group = g % groups
    for (let o = 0; o < output.channels; o++) {
      sums.fill(bias ? bias[group * output.channels + o] : arithmetic.zero)
      for (let i = 0; i < input.channels; i++) {
        const [window, element] = isTransposed ? [i, o] : [o, i]
        const at = ((group * windowChannels + window) * elementChannels + element) * taps
        const from = (g * input.channels + i) * input.plane
        const forward: Run = (tap, window, element, count, step) =>
          add(sums, window, 1, x, from + element, step, w, at + tap, count)
        const backward: Run = (tap, window, element, count, step) =>
          add(sums, element, step, x, from + window, 1, w, at + tap, count)
        yield* eachRun(reads, pace, isTransposed ? backward : forward, COST.multiplyAdd)
      }
      const start = (g * output.channels + o) * output.plane
      for (let p = 0; p < output.plane; p++) out[start + p] = sums[p]
    }
  }
}
