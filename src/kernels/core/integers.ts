import { halvesOf, isFew } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { chunkSize, COST, inChunks } from './pace.ts'

/** Writes integers from 0 to 2^53 into an int32 or int64 tensor, the first at `start`. */
export function storeIntegers(out: Tensor, integers: ArrayLike<number>, start = 0): void {
  if (out.data instanceof Int32Array) {
    out.data.set(integers, start)
    return
  }
  if (isFew(out)) {
    const data = out.data as BigInt64Array
    for (let i = 0; i < integers.length; i++) data[start + i] = BigInt(integers[i])
    return
  }
  const halves = halvesOf(out)
  for (let i = 0, at = 2 * start; i < integers.length; i++, at += 2) {
    const value = integers[i]
    halves[at] = value
    halves[at + 1] = value / 4294967296
  }
}

/** {@link storeIntegers} that yields. */
export function* storeManyIntegers(out: Tensor, integers: ArrayLike<number>): Generator<void> {
  if (integers instanceof Int32Array && !(out.data instanceof Int32Array)) {
    const halves = halvesOf(out)
    return yield* inChunks(integers.length, (from, to) => storeWords(halves, integers, from, to))
  }
  const size = Math.min(integers.length, chunkSize(COST.element))
  const part = new Float64Array(size)
  yield* inChunks(integers.length, (from, to) => {
    for (let i = from; i < to; i++) part[i - from] = integers[i]
    storeIntegers(out, part.subarray(0, to - from), from)
  })
}

function storeWords(halves: Int32Array, integers: Int32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    halves[2 * i] = integers[i]
    halves[2 * i + 1] = 0
  }
}
