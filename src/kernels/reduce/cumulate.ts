import { is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { axisLayout } from '../core/axis-layout.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { chunkSize, COST, Pace } from '../core/pace.ts'

/** Elements of a line between two chances to yield. */
const CHUNK = chunkSize(COST.element)

/** A range of a line of elements: `size` elements from offset `start` on, `step` apart. */
export interface Line {
  readonly start: number
  readonly step: number
  readonly size: number
  /** The sum or product of the elements before the range. */
  readonly before: number | bigint
  /** Results do not include their own element. */
  readonly exclusive: boolean
}

/**
 * Loops that write the cumulative sums or products of a line and return the last one, for elements of each kind.
 * Integers wrap at 32 bits, those of 64 bits at 64.
 */
export interface Cumulation {
  readonly floats: (from: Numbers, to: Numbers, line: Line) => number
  readonly integers: (from: Numbers, to: Numbers, line: Line) => number
  readonly big: (from: BigInts, to: BigInts, line: Line) => bigint
  /** The sum or product of no elements. */
  readonly start: number
}

/** Cumulative sums or products along an axis, from its end where `reverse`; floats are rounded once. */
export function* cumulate(
  { floats, integers, big, start: first }: Cumulation,
  data: Tensor,
  out: Tensor,
  axis: number,
  { exclusive, reverse }: { exclusive: boolean; reverse: boolean }
): Generator<void> {
  const { outer, size, inner } = axisLayout(data.dims, axis)
  if (out.data.length === 0) return
  const target = targetOf(out)
  const numbers = is64BitInteger(data.type) ? undefined : yield* readNumbers(data)
  const alongNumbers = isInteger(data.type) ? integers : floats
  const step = reverse ? -inner : inner
  const pace = new Pace()
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const start = o * size * inner + i + (reverse ? (size - 1) * inner : 0)
      let before: number | bigint = numbers ? first : BigInt(first)
      for (let done = 0; done < size; done += CHUNK) {
        const line = {
          start: start + done * step,
          step,
          size: Math.min(size - done, CHUNK),
          exclusive,
          before
        }
        before = numbers
          ? alongNumbers(numbers, target.numbers, line)
          : big(data.data as BigInts, out.data as BigInts, line)
        if (pace.isDue((line.size + 1) * COST.element)) yield
      }
    }
  }
  yield* target.finish()
}

export const SUMS: Cumulation = {
  start: 0,
  floats(from, to, { start, step, size, exclusive, before: first }) {
    let sum = first as number
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum += from[at]
      to[at] = exclusive ? before : sum
    }
    return sum
  },
  integers(from, to, { start, step, size, exclusive, before: first }) {
    let sum = first as number
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum = (sum + from[at]) | 0
      to[at] = exclusive ? before : sum
    }
    return sum
  },
  big(from, to, { start, step, size, exclusive, before: first }) {
    let sum = first as bigint
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum = BigInt.asUintN(64, sum + from[at])
      to[at] = exclusive ? before : sum
    }
    return sum
  }
}

export const PRODUCTS: Cumulation = {
  start: 1,
  floats(from, to, { start, step, size, exclusive, before: first }) {
    let product = first as number
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product *= from[at]
      to[at] = exclusive ? before : product
    }
    return product
  },
  integers(from, to, { start, step, size, exclusive, before: first }) {
    let product = first as number
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product = Math.imul(product, from[at])
      to[at] = exclusive ? before : product
    }
    return product
  },
  big(from, to, { start, step, size, exclusive, before: first }) {
    let product = first as bigint
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product = BigInt.asUintN(64, product * from[at])
      to[at] = exclusive ? before : product
    }
    return product
  }
}
