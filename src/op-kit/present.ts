import type { DType } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { KernelContext } from './define.ts'

/** Makes keys or values with their past: as result `index` where somebody wants it; undefined where nobody does. */
export const presentMaker = (
  call: KernelContext,
  index: number
): ((type: DType, dims: readonly number[]) => Tensor) | undefined =>
  call.wanted(index) ? (type, dims) => call.rawOutput(index, dims, type) : undefined
