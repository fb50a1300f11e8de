import { copyStrided } from '../kernels/core/copy-strided.ts'
import { allocateRaw, stridesOf, type Tensor } from '../tensor/tensor.ts'

/** The tensor with its axes in another order, as Transpose does. */
export function permuted(tensor: Tensor, order: readonly number[]): Tensor {
  const target = allocateRaw(
    tensor.type,
    order.map(axis => tensor.dims[axis])
  )
  const [from, to] = [stridesOf(tensor.dims), stridesOf(target.dims)]
  const loops = order.map((axis, i) => ({ count: target.dims[i], from: from[axis], to: to[i] }))
  for (const _ of copyStrided(tensor, target, loops));
  return target
}
