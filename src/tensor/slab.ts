import type { ArrayConstructor, NumericArray } from './dtype.ts'

/** Bytes of memory that are taken at once. An array that stays keeps all of them. */
const SLAB_BYTES = 1 << 15
/** Most bytes of an array that is cut from it. */
export const MAX_SLAB_ARRAY = (1 << 12) - 1

/**
 * Memory from which small arrays are cut one after the other; none of it serves twice, so it is zero. Engines take half
 * a microsecond to make an array of more than 64 bytes by itself, and 50 ns for a view of memory that is there.
 */
export class Slab {
  private buffer = new ArrayBuffer(0)
  private at = 0

  /**
   * An array of zeros, of at most {@link MAX_SLAB_ARRAY} bytes. It is no array to be transferred.
   * @param bytes of the array, where they are known: engines take longer to ask constructors of many kinds
   */
  take(of: ArrayConstructor, length: number, bytes = length * of.BYTES_PER_ELEMENT): NumericArray {
    if (this.at + bytes > this.buffer.byteLength) {
      this.buffer = new ArrayBuffer(SLAB_BYTES)
      this.at = 0
    }
    const { at, buffer } = this
    // Elements of 8 bytes have to be aligned.
    this.at = (at + bytes + 7) & -8
    if (of === Float32Array) return new Float32Array(buffer, at, length)
    if (of === BigInt64Array) return new BigInt64Array(buffer, at, length)
    if (of === Uint8Array) return new Uint8Array(buffer, at, length)
    return new of(buffer, at, length)
  }

  /** A copy of an array of at most {@link MAX_SLAB_ARRAY} bytes. */
  copy(array: NumericArray): NumericArray {
    const copy = this.take(array.constructor as ArrayConstructor, array.length)
    ;(copy as Uint8Array).set(array as Uint8Array)
    return copy
  }
}
