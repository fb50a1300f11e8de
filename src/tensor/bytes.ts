import { fail } from '../errors.ts'
import { type DType, DTYPES, type StorageOf } from './dtype.ts'
import { isPacked, type Layout, packedBytes, unpack } from './packing.ts'
import { elementCount, fileBytes, Tensor } from './tensor.ts'

/**
 * A tensor of the elements in a file: little-endian, row-major, types of less than a byte packed. The tensor's array is
 * a view of `bytes` where that is possible, so nothing may write to either. It is a copy where the bytes are misaligned
 * or packed, and for bools other than 0 and 1.
 * @throws NodewiseError `invalid-file` where `bytes` are more or fewer than `dims` need
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

/**
 * Bytes of bools as kernels expect them: in a file any byte but 0 is true, in memory 1 is. `bytes` where that is so.
 */
const zerosAndOnes = (bytes: Uint8Array): Uint8Array =>
  bytes.some(byte => byte > 1) ? bytes.map(byte => (byte === 0 ? 0 : 1)) : bytes
