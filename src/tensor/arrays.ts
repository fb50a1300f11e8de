import { copyBytes, MIN_COPY, unwrittenMemory } from '../host.ts'
import { droppedArrays } from './dropped-arrays.ts'
import type { ArrayConstructor, NumericArray } from './dtype.ts'
import { keepPieces } from './freed-memory.ts'

/** The bytes of an array, in place. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Copies all elements of an array to another one of the same type, from element `at` on. */
export function copyArray(from: NumericArray, to: NumericArray, at = 0): void {
  if (from.byteLength < MIN_COPY) (to as Uint8Array).set(from as Uint8Array, at)
  else copyBytes(bytesOf(from), bytesOf(to), at * to.BYTES_PER_ELEMENT)
}

/** Bytes from which on to zero memory takes longer than to ask Node for it, and up to which systems reuse memory. */
const MIN_UNWRITTEN = 1 << 16
const MAX_UNWRITTEN = 1 << 30

/** An array of memory of its own that the caller writes, every element, before anybody else gets it. */
export function rawArray(of: ArrayConstructor, length: number): NumericArray {
  const bytes = length * of.BYTES_PER_ELEMENT
  if (bytes < MIN_UNWRITTEN || bytes > MAX_UNWRITTEN) return zeroed(of, length)
  droppedArrays.note(bytes)
  keepPieces()
  const memory = unwrittenMemory(bytes)
  return memory ? new of(memory) : zeroed(of, length)
}

/** An array of zeros. Engines make arrays of a constructor that they know beforehand in two thirds of the time. */
export function zeroed(of: ArrayConstructor, length: number): NumericArray {
  if (of === Float32Array) return new Float32Array(length)
  if (of === BigInt64Array) return new BigInt64Array(length)
  if (of === Uint8Array) return new Uint8Array(length)
  return new of(length)
}

/**
 * An array of its own with the same elements.
 * @param memory of as many bytes, where it is to lie
 */
export function copyOfArray(array: NumericArray, memory?: ArrayBuffer): NumericArray {
  if (memory === undefined && array.byteLength < MIN_UNWRITTEN) return array.slice()
  const of = array.constructor as ArrayConstructor
  const copy = memory ? new of(memory) : rawArray(of, array.length)
  copyArray(array, copy)
  return copy
}
