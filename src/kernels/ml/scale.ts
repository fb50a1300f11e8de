import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { unary, type UnaryLoop } from '../core/elementwise.ts'
import type { BigInts } from '../core/numbers.ts'

/**
 * `out = (x - offset) * scale`, with one offset and one scale for each position of the last axis, or one for all. What
 * is between is float64, so that an element is rounded once.
 * @param x real numbers of any type
 * @param out float32, of x's dims
 */
export function* scale(x: Tensor, out: Tensor, offset: readonly number[], factor: readonly number[]): Generator<void> {
  yield* unary({ float: numbersLoop(offset, factor), big: bigIntsLoop(offset, factor) }, x, out)
}

// Two loops, since one that meets 64-bit integers and numbers is slow for both.

const numbersLoop =
  (offset: readonly number[], factor: readonly number[]): UnaryLoop =>
  (x, out, from, to) => {
    const period = offset.length
    for (let i = from, k = from % period; i < to; i++, k = k + 1 === period ? 0 : k + 1)
      out[i] = (x[i] - offset[k]) * factor[k]
  }

const bigIntsLoop =
  (offset: readonly number[], factor: readonly number[]): UnaryLoop<BigInts, Numbers> =>
  (x, out, from, to) => {
    const period = offset.length
    for (let i = from, k = from % period; i < to; i++, k = k + 1 === period ? 0 : k + 1)
      out[i] = (Number(x[i]) - offset[k]) * factor[k]
  }
