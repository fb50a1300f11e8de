import { allocateRaw } from '../tensor/tensor.ts'
import { heapAllocate, heapFree } from './heap.ts'
import { jobWatcher } from './job-watcher.ts'

/** Arrays for what a kernel needs in between. */
export interface Temporaries {
  /** An array on the heap, or an ordinary one where the heap is full; it holds anything. */
  allocate(count: number): Float32Array
  /** The same for numbers of float64. */
  allocateDoubles(count: number): Float64Array<ArrayBuffer>
  /** The same for integers of 32 bits. */
  allocateIntegers(count: number): Int32Array
  /** As {@link allocate}, for what jobs alone write and read: where they are recorded, it stays where it is. */
  allocateBetween(count: number): Float32Array
  /** Gives all of them back. */
  free(): void
}

/** Temporaries of one run of a kernel, which frees them however it ends. */
export function temporaries(): Temporaries {
  const blocks: Uint8Array[] = []
  const allocate = (count: number): Float32Array => {
    const block = heapAllocate(count * 4, { zero: false })
    if (block === undefined) return allocateRaw('float32', [count]).data
    blocks.push(block)
    return new Float32Array(block.buffer, block.byteOffset, count)
  }
  return {
    allocate,
    allocateDoubles(count) {
      const { buffer, byteOffset } = allocate(2 * count)
      return new Float64Array(buffer as ArrayBuffer, byteOffset, count)
    },
    allocateIntegers(count) {
      const { buffer, byteOffset } = allocate(count)
      return new Int32Array(buffer, byteOffset, count)
    },
    allocateBetween(count) {
      const kept = jobWatcher()?.take(count * 4)
      return kept ? new Float32Array(kept.buffer, kept.byteOffset, count) : allocate(count)
    },
    free: () => blocks.forEach(heapFree)
  }
}
