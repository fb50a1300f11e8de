import { fail } from '../errors.ts'
import type { DeclaredDim } from '../graph/graph.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { isPacked } from '../tensor/packing.ts'
import { product, type Tensor } from '../tensor/tensor.ts'

/**
 * A tensor from bytes that hold its elements alone, little-endian and row-major. One dim that is no size follows from
 * how many elements there are.
 * @throws NodewiseError `type-mismatch` without a type or for strings; `shape-mismatch` where several dims are open or
 *   the elements do not fill the dims
 */
export function readRaw(bytes: Uint8Array, type: DType | undefined, dims: readonly DeclaredDim[] | undefined): Tensor {
  if (type === undefined || DTYPES[type].array === undefined)
    return fail('type-mismatch', `bytes alone do not say their elements; a type of numbers must be declared`)
  if (dims === undefined) return fail('shape-mismatch', 'bytes alone have no dims, and none are declared')
  const open = dims.flatMap((dim, i) => (typeof dim === 'number' ? [] : [i]))
  if (open.length > 1 || (open.length > 0 && isPacked(type)))
    return fail('shape-mismatch', `bytes alone have no dims, and ${open.length} of those that are declared are open`)
  const { array, slots } = DTYPES[type]
  const each = array.BYTES_PER_ELEMENT * slots * product(dims.filter(dim => typeof dim === 'number'))
  if (open.length > 0 && (each === 0 || bytes.length % each !== 0))
    return fail('shape-mismatch', `${bytes.length} bytes are not whole rows of ${each} bytes (${type})`)
  const sizes = dims.map(dim => (typeof dim === 'number' ? dim : bytes.length / each))
  // Not the bytes themselves where they are a Buffer, whose `slice` gives views and not copies.
  return tensorOfBytes(type, sizes, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length), 'onnx')
}
