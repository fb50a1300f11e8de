import { fail } from '../errors.ts'
import type { Constant, Dialect } from '../graph/graph.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { elementCount, fileBytes } from '../tensor/tensor.ts'

/** Types that hold all numbers of types that ONNX lacks, or has since opset 25 only. */
const HELD: Readonly<Partial<Record<DType, DType>>> = {
  uint1: 'uint8',
  uint2: 'uint8',
  uint3: 'uint8',
  uint6: 'uint8',
  int2: 'int8',
  nf4: 'float32'
}

/**
 * A constant as a dialect stores it: in a wider type where it does not have the type.
 * @throws NodewiseError `unsupported-op` where nothing holds its numbers
 */
export function storable(constant: Constant, dialect: Dialect): Constant {
  const { type, dims, place } = constant
  const wider = dialect === 'onnx' ? HELD[type] : undefined
  if (wider === undefined) {
    if (DTYPES[type][dialect] === undefined) fail('unsupported-op', `${dialect} has no constants of type ${type}`)
    return constant
  }
  const byteLength = fileBytes(wider, elementCount(dims))
  return { type: wider, dims, byteLength, place, read: () => convert(constant.read(), wider) }
}
