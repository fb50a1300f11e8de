import { type DType, Tensor } from 'nodewise'
import { Refusal } from '../refusal.ts'

/** Names of element types: those of the protocol, `BF16` as Triton has it, and in its style those that it lacks. */
const NAMES: Readonly<Record<DType, string>> = {
  bool: 'BOOL',
  uint8: 'UINT8',
  uint16: 'UINT16',
  uint32: 'UINT32',
  uint64: 'UINT64',
  int8: 'INT8',
  int16: 'INT16',
  int32: 'INT32',
  int64: 'INT64',
  float16: 'FP16',
  float32: 'FP32',
  float64: 'FP64',
  bfloat16: 'BF16',
  string: 'BYTES',
  float8e4m3fn: 'FP8E4M3FN',
  float8e4m3fnuz: 'FP8E4M3FNUZ',
  float8e5m2: 'FP8E5M2',
  float8e5m2fnuz: 'FP8E5M2FNUZ',
  float8e8m0: 'FP8E8M0',
  float4e2m1: 'FP4E2M1',
  nf4: 'NF4',
  int2: 'INT2',
  int4: 'INT4',
  uint1: 'UINT1',
  uint2: 'UINT2',
  uint3: 'UINT3',
  uint4: 'UINT4',
  uint6: 'UINT6',
  complex64: 'COMPLEX64',
  complex128: 'COMPLEX128'
}

const TYPES = new Map(Object.entries(NAMES).map(([type, name]) => [name, type as DType]))

/** The protocol's name of an element type. */
export const datatypeOf = (type: DType): string => NAMES[type]

/** @throws Refusal `bad-request` for a name that is no type */
export function typeNamed(datatype: unknown, tensor: string): DType {
  const type = typeof datatype === 'string' ? TYPES.get(datatype) : undefined
  if (type !== undefined) return type
  throw new Refusal('bad-request', `input "${tensor}": ${JSON.stringify(datatype)} is no datatype of the protocol`)
}

/** A tensor as threads pass it on: what a Nodewise tensor holds, without its class. */
export interface PlainTensor {
  readonly type: DType
  readonly dims: readonly number[]
  readonly data: Tensor['data']
}

type NumericArray = Exclude<Tensor['data'], string[]>
type ArrayConstructor = {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): NumericArray
  new (buffer: ArrayBuffer, offset?: number, length?: number): NumericArray
}

const arrays = new Map<DType, ArrayConstructor | undefined>()

/** The array that holds elements of a type; undefined for strings. */
export function arrayOf(type: DType): ArrayConstructor | undefined {
  if (!arrays.has(type)) {
    const { data } = new Tensor(type, [], [0])
    arrays.set(type, Array.isArray(data) ? undefined : (data.constructor as ArrayConstructor))
  }
  return arrays.get(type)
}

/** Entries of the array that an element takes. */
export const slotsOf = (type: DType): number => (type === 'complex64' || type === 'complex128' ? 2 : 1)

/** Types of less than a byte, with the least and the greatest code of an element: in transit each takes a byte. */
export const NARROW: Partial<Readonly<Record<DType, readonly [number, number]>>> = {
  bool: [0, 1],
  int2: [-2, 1],
  int4: [-8, 7],
  uint1: [0, 1],
  uint2: [0, 3],
  uint3: [0, 7],
  uint4: [0, 15],
  uint6: [0, 63],
  float4e2m1: [0, 15],
  nf4: [0, 15]
}

/** Dims of a tensor and how many elements they hold. */
export interface Shape {
  readonly dims: readonly number[]
  readonly count: number
}

/** Most dims of a tensor, as Nodewise has it. */
const MAX_RANK = 64

/** @throws Refusal `bad-request` for dims that no tensor can have */
export function shapeOf(shape: unknown, tensor: string): Shape {
  const wrong = (why: string): never => {
    throw new Refusal('bad-request', `input "${tensor}": ${why}`)
  }
  if (!Array.isArray(shape)) return wrong('its shape is no array of sizes')
  if (shape.length > MAX_RANK) return wrong(`its rank ${shape.length} is above ${MAX_RANK}`)
  let count = 1
  for (const dim of shape as readonly unknown[]) {
    if (typeof dim !== 'number' || !Number.isSafeInteger(dim) || dim < 0) return wrong(`${String(dim)} is no size`)
    count *= dim
  }
  if (!Number.isSafeInteger(count)) return wrong('its shape holds more than 2^53 elements')
  return { dims: shape as number[], count }
}
