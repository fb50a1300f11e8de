/** Element types of ONNX, with the names of `onnxruntime-common`, and those that only OpenVINO has. */
export type DType =
  | 'float32'
  | 'float64'
  | 'float16'
  | 'bfloat16'
  | 'float8e4m3fn'
  | 'float8e4m3fnuz'
  | 'float8e5m2'
  | 'float8e5m2fnuz'
  | 'float8e8m0'
  | 'float4e2m1'
  | 'nf4'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint1'
  | 'uint2'
  | 'uint3'
  | 'uint4'
  | 'uint6'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'bool'
  | 'string'
  | 'complex64'
  | 'complex128'

/**
 * Arrays that hold the elements of a tensor. 16-bit floats are bit patterns in a Uint16Array, 8-bit and 4-bit floats
 * codes in a Uint8Array. Integers of less than a byte take a byte each. Complex elements are two numbers, the real part
 * first.
 */
export type Storage =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigInt64Array
  | BigUint64Array
  | string[]

/** The storage of each element type. */
export interface StorageOf {
  float32: Float32Array
  float64: Float64Array
  float16: Uint16Array
  bfloat16: Uint16Array
  float8e4m3fn: Uint8Array
  float8e4m3fnuz: Uint8Array
  float8e5m2: Uint8Array
  float8e5m2fnuz: Uint8Array
  float8e8m0: Uint8Array
  float4e2m1: Uint8Array
  nf4: Uint8Array
  int2: Int8Array
  int4: Int8Array
  int8: Int8Array
  int16: Int16Array
  int32: Int32Array
  int64: BigInt64Array
  uint1: Uint8Array
  uint2: Uint8Array
  uint3: Uint8Array
  uint4: Uint8Array
  uint6: Uint8Array
  uint8: Uint8Array
  uint16: Uint16Array
  uint32: Uint32Array
  uint64: BigUint64Array
  bool: Uint8Array
  string: string[]
  complex64: Float32Array
  complex128: Float64Array
}

/** Elements of a type as JavaScript values: complex ones are [re, im]. */
export type ElementOf<T extends DType> = T extends 'string'
  ? string
  : T extends 'bool'
    ? boolean
    : T extends 'int64' | 'uint64'
      ? bigint
      : T extends 'complex64' | 'complex128'
        ? readonly [number, number]
        : number

export type Kind = 'float' | 'int' | 'uint' | 'bool' | 'string' | 'complex'

/** Storage of all types but strings. */
export type NumericArray = Exclude<Storage, string[]>
export type ArrayConstructor = {
  readonly BYTES_PER_ELEMENT: number
  new (length: number): NumericArray
  new (buffer: ArrayBufferLike, offset?: number, length?: number): NumericArray
}

export interface DTypeInfo {
  readonly kind: Kind
  /** Bits of an element in a file (strings: 0). */
  readonly bits: number
  /** Bytes of an element in memory (strings: those of a pointer). */
  readonly bytes: number
  /** Typed array of the storage; undefined for strings. */
  readonly array: ArrayConstructor | undefined
  /** Entries of the storage that an element takes: 2 for complex types, else 1. */
  readonly slots: 1 | 2
  /** `TensorProto.DataType` number, where ONNX has the type. */
  readonly onnx: number | undefined
  /** OpenVINO's lower-case name, where it has the type. */
  readonly openvino: string | undefined
  /** `precision` that OpenVINO writes on ports. */
  readonly precision: string | undefined
}

const POINTER_BYTES = 8

const typeInfo = (
  kind: Kind,
  bits: number,
  array: ArrayConstructor | undefined,
  onnx?: number,
  openvino?: string,
  precision?: string
): DTypeInfo => {
  const slots = kind === 'complex' ? 2 : 1
  const bytes = array ? slots * array.BYTES_PER_ELEMENT : POINTER_BYTES
  return { kind, bits, slots, bytes, array, onnx, openvino, precision: precision ?? openvino?.toUpperCase() }
}

/**
 * Facts of every element type. ONNX numbers: onnx.proto `TensorProto.DataType`; OpenVINO spellings: `element_type.cpp`.
 */
export const DTYPES: Readonly<Record<DType, DTypeInfo>> = {
  float32: typeInfo('float', 32, Float32Array, 1, 'f32', 'FP32'),
  float64: typeInfo('float', 64, Float64Array, 11, 'f64', 'FP64'),
  float16: typeInfo('float', 16, Uint16Array, 10, 'f16', 'FP16'),
  bfloat16: typeInfo('float', 16, Uint16Array, 16, 'bf16'),
  float8e4m3fn: typeInfo('float', 8, Uint8Array, 17, 'f8e4m3'),
  float8e4m3fnuz: typeInfo('float', 8, Uint8Array, 18),
  float8e5m2: typeInfo('float', 8, Uint8Array, 19, 'f8e5m2'),
  float8e5m2fnuz: typeInfo('float', 8, Uint8Array, 20),
  float8e8m0: typeInfo('float', 8, Uint8Array, 24, 'f8e8m0'),
  float4e2m1: typeInfo('float', 4, Uint8Array, 23, 'f4e2m1'),
  nf4: typeInfo('float', 4, Uint8Array, undefined, 'nf4'),
  int2: typeInfo('int', 2, Int8Array, 26),
  int4: typeInfo('int', 4, Int8Array, 22, 'i4'),
  int8: typeInfo('int', 8, Int8Array, 3, 'i8'),
  int16: typeInfo('int', 16, Int16Array, 5, 'i16'),
  int32: typeInfo('int', 32, Int32Array, 6, 'i32'),
  int64: typeInfo('int', 64, BigInt64Array, 7, 'i64'),
  uint1: typeInfo('uint', 1, Uint8Array, undefined, 'u1', 'BIN'),
  uint2: typeInfo('uint', 2, Uint8Array, 25, 'u2'),
  uint3: typeInfo('uint', 3, Uint8Array, undefined, 'u3'),
  uint4: typeInfo('uint', 4, Uint8Array, 21, 'u4'),
  uint6: typeInfo('uint', 6, Uint8Array, undefined, 'u6'),
  uint8: typeInfo('uint', 8, Uint8Array, 2, 'u8'),
  uint16: typeInfo('uint', 16, Uint16Array, 4, 'u16'),
  uint32: typeInfo('uint', 32, Uint32Array, 12, 'u32'),
  uint64: typeInfo('uint', 64, BigUint64Array, 13, 'u64'),
  bool: typeInfo('bool', 8, Uint8Array, 9, 'boolean', 'BOOL'),
  string: typeInfo('string', 0, undefined, 8, 'string'),
  complex64: typeInfo('complex', 64, Float32Array, 14),
  complex128: typeInfo('complex', 128, Float64Array, 15)
}

/** All element types, in the order of the table. */
export const ALL_DTYPES = Object.keys(DTYPES) as readonly DType[]

const byOnnx = new Map(
  ALL_DTYPES.flatMap(type => (DTYPES[type].onnx === undefined ? [] : [[DTYPES[type].onnx, type] as const]))
)
const byName = new Map<string, DType>(ALL_DTYPES.map(type => [type, type]))
for (const type of ALL_DTYPES) {
  const { openvino } = DTYPES[type]
  if (openvino !== undefined) byName.set(openvino, type)
}

/** The type with this `TensorProto.DataType` number, or undefined. */
export const dtypeFromOnnx = (code: number): DType | undefined => byOnnx.get(code)

/** The type with this name: ONNX's as JavaScript uses it (`float32`) or OpenVINO's short one (`f32`), or undefined. */
export const dtypeFromName = (name: string): DType | undefined => byName.get(name)

/** The name that a dialect prints: `float32` for ONNX, `f32` for OpenVINO (where it has one). */
export const dtypeName = (type: DType, dialect: 'onnx' | 'openvino'): string =>
  (dialect === 'openvino' ? DTYPES[type].openvino : undefined) ?? type

export const isInteger = (type: DType): boolean => DTYPES[type].kind === 'int' || DTYPES[type].kind === 'uint'
export const isFloat = (type: DType): boolean => DTYPES[type].kind === 'float'
/** Whether it is a float of 16 bits. */
export const isHalf = (type: DType): boolean => type === 'float16' || type === 'bfloat16'
/** Whether the storage is a BigInt array. */
export const is64BitInteger = (type: DType): type is 'int64' | 'uint64' => type === 'int64' || type === 'uint64'

/** Types of a kind, for operators' type lists. */
export const dtypesOf = (...kinds: Kind[]): DType[] => ALL_DTYPES.filter(type => kinds.includes(DTYPES[type].kind))

/** Largest int32, and largest finite float32. */
export const MAX_INT32 = 2 ** 31 - 1
export const MAX_FLOAT32 = (2 - 2 ** -23) * 2 ** 127
