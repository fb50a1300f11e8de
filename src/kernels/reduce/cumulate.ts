import { is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { slicesAlong } from '../core/select.ts'
import { WORK_PER_YIELD } from '../core/steps.ts'

/** What arithmetic of 64-bit integers costs. */
const BIG_COST = 8

/** A line of elements, and how it is gone through. */
export interface Line {
  readonly start: number
  readonly step: number
  readonly size: number
  /** What came before the line. */
  readonly before: number | bigint
  /** Each result leaves out its own element. */
  readonly exclusive: boolean
}

/**
 * Running sums or products of a line, which return what comes after it: 32-bit integers and narrower ones wrap at 32
 * bits, 64-bit ones at 64.
 */
export interface Cumulation {
  readonly floats: (from: Numbers, to: Numbers, line: Line) => number
  readonly integers: (from: Numbers, to: Numbers, line: Line) => number
  readonly big: (from: BigInts, to: BigInts, line: Line) => bigint
  /** What comes before the first element. */
  readonly start: number
}

/** Running results of the elements so far along an axis, from its end when `reverse`; floats are rounded once. */
export function* cumulate(
  { floats, integers, big, start: first }: Cumulation,
  data: Tensor,
  out: Tensor,
  axis: number,
  { exclusive, reverse }: { exclusive: boolean; reverse: boolean }
): Generator<void> {
  const { outer, size, inner } = slicesAlong(data.dims, axis)
  if (out.data.length === 0) return
  const target = targetOf(out)
  const numbers = is64BitInteger(data.type) ? undefined : yield* readNumbers(data)
  const alongNumbers = isInteger(data.type) ? integers : floats
  const step = reverse ? -inner : inner
  let work = 0
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const start = o * size * inner + i + (reverse ? (size - 1) * inner : 0)
      let before: number | bigint = numbers ? first : BigInt(first)
      for (let done = 0; done < size; done += WORK_PER_YIELD) {
        const line = {
          start: start + done * step,
          step,
          size: Math.min(size - done, WORK_PER_YIELD),
          exclusive,
          before
        }
        before = numbers
          ? alongNumbers(numbers, target.numbers, line)
          : big(data.data as BigInts, out.data as BigInts, line)
        work += line.size * (numbers ? 1 : BIG_COST)
        if (work < WORK_PER_YIELD) continue
        work = 0
        yield
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
