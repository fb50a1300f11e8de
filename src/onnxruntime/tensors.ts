import { isTensor, NodewiseError, Tensor, type Value } from 'nodewise'
import { Tensor as CommonTensor } from 'onnxruntime-common'
import { pack, unpack } from '../tensor/packing.ts'

/** Types of `onnxruntime-common`. */
const TYPES: ReadonlySet<string> = new Set([
  'float32',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'int32',
  'int64',
  'string',
  'bool',
  'float16',
  'float64',
  'uint32',
  'uint64',
  'int4',
  'uint4'
])

/** Whether `onnxruntime-common` holds two elements of the type in a byte, where Nodewise has a byte for each. */
const isPacked = (type: string): type is 'int4' | 'uint4' => type === 'int4' || type === 'uint4'

/**
 * Whether it is a tensor of `onnxruntime-common`: of this copy or another, since what is required and what is imported
 * of that package are two.
 */
const isCommon = (given: unknown): given is CommonTensor =>
  given instanceof CommonTensor ||
  (typeof given === 'object' &&
    given !== null &&
    TYPES.has((given as CommonTensor).type) &&
    Array.isArray((given as CommonTensor).dims) &&
    typeof (given as CommonTensor).location === 'string')

/**
 * A tensor of `onnxruntime-common` as one of Nodewise, over the same memory but for 4 bits.
 * @throws NodewiseError `type-mismatch` for what is no tensor, or lies on a GPU
 */
export function toOwn(name: string, given: unknown): Tensor {
  if (given instanceof Tensor) return given
  if (!isCommon(given)) throw new NodewiseError('type-mismatch', `"${name}" is not given as a tensor`)
  if ((given.location as string) === 'none') throw new NodewiseError('type-mismatch', `"${name}" has been disposed of`)
  if (given.location !== 'cpu' && given.location !== 'cpu-pinned')
    throw new NodewiseError('type-mismatch', `"${name}" lies in a ${given.location}; await its getData() first`)
  const { type, data, dims } = given
  if (isPacked(type)) return new Tensor(type, unpack(type, data as Uint8Array, given.size, 'onnx'), dims)
  // Newer engines have an array of their own for float16.
  const isView = type === 'float16' && ArrayBuffer.isView(data) && !(data instanceof Uint16Array)
  const held = isView ? new Uint16Array(data.buffer, data.byteOffset, given.size) : data
  return new Tensor(type, held, dims)
}

/**
 * A tensor of `onnxruntime-common` that an output is written into.
 * @throws NodewiseError `type-mismatch` where its memory is not that of a tensor of Nodewise
 */
export function writable(name: string, given: unknown): Tensor {
  const own = toOwn(name, given)
  if (isPacked(own.type)) throw new NodewiseError('type-mismatch', `"${name}" cannot be written into: it has 4 bits`)
  return own
}

/**
 * A value of Nodewise as a tensor of `onnxruntime-common`, over the same memory but for 4 bits.
 * @throws NodewiseError `type-mismatch` for sequences, maps and types that `onnxruntime-common` does not have
 */
export function toCommon(name: string, value: Value): CommonTensor {
  if (!isTensor(value)) throw refused(name, `a ${value.type}`)
  const { type, data, dims } = value
  if (!TYPES.has(type)) throw refused(name, `of type ${type}`)
  return new CommonTensor(type as 'float32', isPacked(type) ? pack(type, data as Int8Array, 'onnx') : data, dims)
}

const refused = (name: string, what: string): NodewiseError =>
  new NodewiseError(
    'type-mismatch',
    `"${name}" is ${what}, which onnxruntime-common has no value for; the session of "nodewise" gives it`
  )
