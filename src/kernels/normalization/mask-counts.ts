import type { Tensor } from '../../tensor/tensor.ts'
import { inChunks } from '../core/pace.ts'

/**
 * Counts the elements of each row of a mask that are 1.
 * @param counts zeros, one for each row
 */
export function* countOnes(mask: Tensor | undefined, counts: Int32Array): Generator<void> {
  if (mask === undefined) return
  const bits = mask.data as Int32Array
  const [, length] = mask.dims
  yield* inChunks(bits.length, (from, to) => {
    for (let i = from; i < to; i++) if (bits[i] === 1) counts[Math.floor(i / length)]++
  })
}
