import type { Tensor } from '../../tensor/tensor.ts'
import { targetOf } from '../core/numbers.ts'
import { inChunks } from '../core/pace.ts'

/**
 * Fills a tensor of numbers with draws, in order.
 * @param cost nanoseconds of a draw
 */
export function* fillDrawn(out: Tensor, draw: () => number, cost: number): Generator<void> {
  const target = targetOf(out)
  const { numbers } = target
  const fillRange = (from: number, to: number): void => {
    for (let i = from; i < to; i++) numbers[i] = draw()
  }
  yield* inChunks(numbers.length, fillRange, cost)
  yield* target.finish()
}
