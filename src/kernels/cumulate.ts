import { is64BitInteger, isInteger } from '../tensor/dtype.ts'
import { type Numbers, toNumbers } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { WORK_PER_YIELD } from './elementwise.ts'
import { type BigInts, targetOf } from './numbers.ts'
import { slicesAlong } from './select.ts'

/** A line of elements, and how it is gone through. */
export interface Line {
  readonly start: number
  readonly step: number
  readonly size: number
  /** Each result leaves out its own element. */
  readonly exclusive: boolean
}

/** Running sums or products of a line: 32-bit integers and narrower ones wrap at 32 bits, 64-bit ones at 64. */
export interface Cumulation {
  readonly floats: (from: Numbers, to: Numbers, line: Line) => void
  readonly integers: (from: Numbers, to: Numbers, line: Line) => void
  readonly big: (from: BigInts, to: BigInts, line: Line) => void
}

/** Running results of the elements so far along an axis, from its end when `reverse`; floats are rounded once. */
export function* cumulate(
  { floats, integers, big }: Cumulation, data: Tensor, out: Tensor, axis: number, { exclusive, reverse }: { exclusive: boolean; reverse: boolean }
): Generator<void> {
  const { outer, size, inner } = slicesAlong(data.dims, axis)
  if (out.data.length === 0) return
  const target = targetOf(out)
  const numbers = is64BitInteger(data.type) ? undefined : toNumbers(data)
  const alongNumbers = isInteger(data.type) ? integers : floats
  const step = reverse ? -inner : inner
  let work = 0
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const line = { start: o * size * inner + i + (reverse ? (size - 1) * inner : 0), step, size, exclusive }
      if (numbers) alongNumbers(numbers, target.numbers, line)
      else big(data.data as BigInts, out.data as BigInts, line)
      work += size
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
  target.finish()
}

export const SUMS: Cumulation = {
  floats(from, to, { start, step, size, exclusive }) {
    let sum = 0
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum += from[at]
      to[at] = exclusive ? before : sum
    }
  },
  integers(from, to, { start, step, size, exclusive }) {
    let sum = 0
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum = sum + from[at] | 0
      to[at] = exclusive ? before : sum
    }
  },
  big(from, to, { start, step, size, exclusive }) {
    let sum = 0n
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = sum
      sum = BigInt.asUintN(64, sum + from[at])
      to[at] = exclusive ? before : sum
    }
  }
}

export const PRODUCTS: Cumulation = {
  floats(from, to, { start, step, size, exclusive }) {
    let product = 1
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product *= from[at]
      to[at] = exclusive ? before : product
    }
  },
  integers(from, to, { start, step, size, exclusive }) {
    let product = 1
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product = Math.imul(product, from[at])
      to[at] = exclusive ? before : product
    }
  },
  big(from, to, { start, step, size, exclusive }) {
    let product = 1n
    for (let n = 0, at = start; n < size; n++, at += step) {
      const before = product
      product = BigInt.asUintN(64, product * from[at])
      to[at] = exclusive ? before : product
    }
  }
}
