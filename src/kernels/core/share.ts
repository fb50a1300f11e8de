import { isPartial, type Movable } from '../../shapes/fact.ts'
import { withDims } from '../../tensor/tensor.ts'

/**
 * The same elements under other dims of the same count; nothing is copied. Elements of a partial tensor (symbols among
 * them) are not looked at, which `withDims` would do.
 */
export const shareAs = (tensor: Movable, dims: readonly number[]): Movable =>
  isPartial(tensor) ? { type: tensor.type, dims, data: tensor.data } : withDims(tensor, dims)

/** Whether elements stay where they are when axes change places: axes of more than one element stay in order. */
export function staysInOrder(dims: readonly number[], order: readonly number[]): boolean {
  let last = -1
  for (const axis of order) {
    if (dims[axis] === 1) continue
    if (axis < last) return false
    last = axis
  }
  return true
}
