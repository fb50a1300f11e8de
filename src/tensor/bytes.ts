import { fail } from '../errors.ts'
import { type DType, DTYPES, type StorageOf } from './dtype.ts'
import { isPacked, type Layout, packedBytes, unpack } from './packing.ts'
import { elementCount, fileBytes, Tensor } from './tensor.ts'

/**
 * A tensor of elements as they lie in a file: little-endian, row-major, sub-byte types packed. The tensor's array is a
 * view of
 * `bytes` where that is possible, so nothing may write to either; else (misaligned or packed bytes, bool other than 0
 * and 1) a copy.
 * @throws NodewiseError `invalid-file` when there are more or fewer bytes than `dims` ask for
 */
export function tensorOfBytes(type: DType, dims: readonly number[], bytes: Uint8Array, layout: Layout): Tensor {
  const count = elementCount(dims)
  const expected = isPacked(type) ? packedBytes(type, count, layout) : fileBytes(type, count)
  if (bytes.length !== expected) {
    fail(
      'invalid-file',
      `[${dims.join(', ')}] elements of type ${type} take ${expected} bytes, ${bytes.length} are there`
    )
  }
  if (isPacked(type)) return new Tensor(type, unpack(type, bytes, count, layout) as StorageOf[DType], dims)
  const { array, slots } = DTYPES[type]
  if (array === undefined) fail('invalid-file', 'strings do not lie as raw bytes')
  const aligned = bytes.byteOffset % array.BYTES_PER_ELEMENT === 0 ? bytes : new Uint8Array(bytes)
  const data = new array(aligned.buffer, aligned.byteOffset, count * slots)
  return new Tensor(type, (type === 'bool' ? zerosAndOnes(data as Uint8Array) : data) as StorageOf[DType], dims)
}

/** Any byte but 0 is true; kernels count on 1. */
const zerosAndOnes = (bytes: Uint8Array): Uint8Array =>
  bytes.some(byte => byte > 1) ? bytes.map(byte => (byte === 0 ? 0 : 1)) : bytes
