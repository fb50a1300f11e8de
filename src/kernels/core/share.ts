import { isPartial, type Movable } from '../../shapes/fact.ts'
import { withDims } from '../../tensor/tensor.ts'

/**
 * The same elements under other dims of the same count; nothing is copied. Elements of a partial tensor (symbols among
 * them) are not looked at, which `withDims` would do.
 */
export const shareAs = (tensor: Movable, dims: readonly number[]): Movable =>
  isPartial(tensor) ? { type: tensor.type, dims, data: tensor.data } : withDims(tensor, dims)
