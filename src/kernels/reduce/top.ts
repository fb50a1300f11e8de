import { MAX_INT32 } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { storeManyIntegers } from '../core/integers.ts'
import type { Positions } from '../core/positions.ts'
import { gatherOffsets } from '../gather/gather.ts'
import { ravelPositions } from '../gather/indices.ts'

/**
 * Writes what was selected along an axis.
 * @param positions along the axis, in the order of the results; they are written over
 * @param indices for the positions, where they are asked for
 * @param values for the elements, likewise
 */
export function* storeSelected(
  data: Tensor,
  positions: Positions,
  axis: number,
  indices: Tensor | undefined,
  values: Tensor | undefined
): Generator<void> {
  if (indices) yield* storeManyIntegers(indices, positions)
  if (!values) return
  const offsets = data.data.length > MAX_INT32 ? new Float64Array(positions) : positions
  yield* ravelPositions(offsets, values.dims, data.dims, axis)
  yield* gatherOffsets(data, offsets, values, 1)
}
