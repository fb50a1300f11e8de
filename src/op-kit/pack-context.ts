import type { DType } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'

/** What `pack` may ask. */
export interface PackContext {
  /** Most threads to use, the calling one included. */
  readonly threads: number
  /**
   * Memory for what is packed, which the session keeps; it holds anything before.
   * @throws NodewiseError `limit-exceeded`; the kernel then runs without a packed form
   */
  allocate(type: DType, dims: readonly number[]): Tensor
  /**
   * A constant in memory of its own, read for this alone: it may be written over and given as what is packed. Nothing
   * is known of it then but its packed form.
   * @param name the operand
   * @returns undefined where it is of another type, or where others may read it: it has to be copied then, as always
   *   where there is no such function
   * @throws NodewiseError as {@link allocate}; what reading throws
   */
  takeOver?(name: string, type: DType): Tensor | undefined
}
