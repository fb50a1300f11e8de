import { copyBytes, MIN_COPY } from '../host.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { heapAllocate, isOnHeap, LINE } from './heap.ts'

/**
 * How an array of a job may be staged, that is copied to the heap for the kernel, where it does not lie there:
 * - `never`: the copy would cost more than the kernel gains
 * - `whole`: before the job starts (an output: after it has ended)
 * - `parts`: part by part, each while it is in the cache; as a whole where a job that is run in one go fits into the
 *   stage. Only for arrays whose parts lie in the order of the output blocks.
 */
export type Staging = 'never' | 'whole' | 'parts'

/** How an output may be; `shared`: part by part where threads share the parts, and else `never`. */
export type OutputStaging = Staging | 'shared'

/** How a job reads an input. */
export interface InputUse {
  readonly staging: Staging
  /** Elements that belong to one output block; only with `parts`. */
  readonly elementsPerBlock?: number
  /** The kernel reads 32-bit integers and these are narrower: they are staged wherever they lie, and widened. */
  readonly isWidened?: boolean
}

/** Whether an input has to be copied to the heap before a kernel can read it. */
export const isStaged = (use: InputUse, array: NumericArray): boolean => use.isWidened === true || !isOnHeap(array)

/** Bytes of an element as the kernel reads it. */
export const stagedBytes = (use: InputUse, array: NumericArray): number =>
  use.isWidened === true ? 4 : array.BYTES_PER_ELEMENT

/**
 * Copies the whole of an input to the heap.
 * @returns undefined when the heap is full
 */
export function stageWhole(use: InputUse, array: NumericArray): Uint8Array | undefined {
  const block = heapAllocate(array.length * stagedBytes(use, array), { zero: false })
  if (block !== undefined) copyElements(use, array, 0, array.length, block, 0)
  return block
}

/** Copies elements `from … to-1` of an input to `offset` in `target`. */
export function copyElements(
  use: InputUse,
  array: NumericArray,
  from: number,
  to: number,
  target: Uint8Array,
  offset: number
): void {
  const { buffer, byteOffset } = target
  if (use.isWidened === true) {
    new Int32Array(buffer, byteOffset + offset, to - from).set((array as Int32Array).subarray(from, to))
  } else {
    const { BYTES_PER_ELEMENT: width } = array
    copyBytes(new Uint8Array(array.buffer, array.byteOffset + from * width, (to - from) * width), target, offset)
  }
}

/** Bytes that an array takes on the stage, where others lie behind it: whole lines of the cache. */
export const alignedBytes = (bytes: number): number => Math.ceil(bytes / LINE) * LINE

/** A part of the heap through which arrays pass. */
export interface Stage {
  readonly bytes: Uint8Array
  /** The same memory. */
  readonly floats: Float32Array
}

/** Copies a whole array to `offset` in a part of the heap. */
export function copyTo(target: Stage, offset: number, array: NumericArray): void {
  if (array instanceof Float32Array && array.byteLength < MIN_COPY) target.floats.set(array, offset >> 2)
  else copyBytes(bytesOf(array), target.bytes, offset)
}

/** Copies the beginning of a part of the heap to the whole of an array. */
export function copyFrom(source: Stage, array: NumericArray): void {
  if (array instanceof Float32Array && array.byteLength < MIN_COPY) array.set(source.floats.subarray(0, array.length))
  else copyBytes(source.bytes, bytesOf(array), 0, 0, array.byteLength)
}
