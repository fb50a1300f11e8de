import { fail } from '../errors.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { type DType, DTYPES, type Storage } from '../tensor/dtype.ts'
import { requireBytes, requireTensor } from '../tensor/given.ts'
import { isPacked } from '../tensor/packing.ts'
import { elementCount, Tensor } from '../tensor/tensor.ts'
import { npyHeader, parseNpyHeader } from './npy-header.ts'
import { npyStrings, stringBytes } from './npy-strings.ts'

/** Element type of a file: a type of ours, or NumPy's `V1` or `V2`, which are bytes of an unknown type. */
type Held = DType | Void
type Void = 'void8' | 'void16'

const isVoid = (held: Held): held is Void => held === 'void8' || held === 'void16'

/**
 * A tensor from an `.npy` file of format version 1 to 3, little or big-endian, in C or Fortran order. Its array may be
 * a view of `bytes`. NumPy has no bfloat16, no float8 and no types of less than a byte. Where `as` asks for one, its
 * codes are read from a type that can carry them: bfloat16 from uint16, float8 and float4 from uint8, integers of less
 * than a byte from uint8 or int8, bool from uint8. Arrays of Python's ml_dtypes, which NumPy writes as `V1` and `V2`,
 * carry codes too.
 * @param as element type of the tensor; without it that of the file
 * @throws NodewiseError `invalid-file`, `unsupported-version`; `type-not-allowed` for element types without a
 *   counterpart; `type-mismatch` where the type of the file is not `as` and cannot carry it; `value-out-of-range` for a
 *   code that the type does not have; `bad-usage` for what are no bytes
 */
export function readNpy(bytes: Uint8Array, as?: DType): Tensor {
  requireBytes(bytes)
  if (as !== undefined && !Object.hasOwn(DTYPES, as)) fail('type-mismatch', `unknown element type "${String(as)}"`)
  const { descr, fortranOrder, shape, dataOffset } = parseNpyHeader(bytes)
  const item = parseDescr(descr)
  const type = as ?? item.held
  if (isVoid(type)) fail('type-mismatch', `the .npy file's type ${descr} does not say what its elements are`)
  if (!carries(item.held, type))
    fail('type-mismatch', `the .npy file holds ${isVoid(item.held) ? descr : item.held}, which is not ${type}`)
  const count = elementCount(shape)
  const size = count * item.bytes
  const present = bytes.length - dataOffset
  if (size > present)
    fail('invalid-file', `[${shape.join(', ')}] elements of type ${descr} take ${size} bytes, ${present} are there`)
  // Not `bytes.subarray`: of a Buffer it would be a Buffer again, whose `slice` gives views and not copies.
  const raw = new Uint8Array(bytes.buffer, bytes.byteOffset + dataOffset, size)
  const dims = fortranOrder ? [...shape].reverse() : shape
  const tensor =
    type === 'string' ? new Tensor(type, npyStrings(raw, item, count), dims) : numbers(raw, item, type, dims)
  return fortranOrder ? transposed(tensor, shape) : tensor
}

/** {@link readNpy} with a type that is only a hint: a file that cannot carry it is read as its own type. */
export function readNpyLike(bytes: Uint8Array, hint?: DType): Tensor {
  const { held } = parseDescr(parseNpyHeader(bytes).descr)
  return readNpy(bytes, hint !== undefined && carries(held, hint) ? hint : undefined)
}

/** Whether elements of a file can be codes of a type. */
function carries(held: Held, type: DType): boolean {
  if (held === type) return true
  const { kind, bits } = DTYPES[type]
  if (held === 'uint16' || held === 'void16') return type === 'bfloat16'
  if (held === 'int8') return isPacked(type) && kind !== 'float'
  if (held === 'uint8') return isPacked(type) || (kind === 'float' && bits === 8) || type === 'bool'
  return held === 'void8' && (isPacked(type) || (kind === 'float' && bits === 8))
}

/**
 * The tensor as an `.npy` file of format version 1, little-endian. Types that NumPy does not have are written as their
 * codes: bfloat16 as uint16; float8, float4, nf4 and unsigned integers of less than a byte as uint8; signed ones as
 * int8. Strings are written as `<U`.
 * @throws NodewiseError `write-failed` for a string that ends in NUL, which the format cannot hold; `bad-usage` for
 *   what is no tensor
 */
export function writeNpy(tensor: Tensor): Uint8Array {
  requireTensor(tensor)
  return joined(...npyParts(tensor))
}

/** The same as header and elements; the latter may be a view of the tensor's. */
export function npyParts(tensor: Tensor): [header: Uint8Array, elements: Uint8Array] {
  const data = tensor.data
  if (Array.isArray(data)) {
    const { bytes, width } = stringBytes(data)
    return [npyHeader(`<U${width}`, tensor.dims), bytes]
  }
  return [npyHeader(descrOf(tensor.type), tensor.dims), new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]
}

const NUMERIC: Readonly<Record<string, Held | undefined>> = {
  b1: 'bool',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  f2: 'float16',
  f4: 'float32',
  f8: 'float64',
  c8: 'complex64',
  c16: 'complex128',
  V1: 'void8',
  V2: 'void16'
}
const DESCR = new Map(Object.entries(NUMERIC).map(([descr, held]) => [held, descr]))

function descrOf(type: DType): string {
  const { kind, array } = DTYPES[type]
  const size = array?.BYTES_PER_ELEMENT ?? 0
  const descr = DESCR.get(type) ?? `${kind === 'int' ? 'i' : 'u'}${size}`
  return descr.endsWith('1') ? `|${descr}` : `<${descr}`
}

/** The element type of a file. */
interface NpyItem {
  readonly held: Held
  readonly kind: string
  readonly bytes: number
  readonly bigEndian: boolean
}

function parseDescr(descr: string): NpyItem {
  const parts = /^([<>|=]?)([a-zA-Z])(\d+)$/.exec(descr)
  const kind = parts?.[2] ?? ''
  const size = Number(parts?.[3])
  const bytes = kind === 'U' ? 4 * size : size
  const held = kind === 'U' || kind === 'S' ? 'string' : NUMERIC[kind + size]
  if (/^[|<>=]?O\d*$/.test(descr))
    fail('type-not-allowed', 'the .npy file holds objects of Python; array.astype(str) makes texts of them')
  if (held === undefined || !Number.isSafeInteger(bytes)) {
    fail('type-not-allowed', `element type ${JSON.stringify(descr)} of the .npy file is not supported`)
  }
  return { held, kind, bytes, bigEndian: parts?.[1] === '>' }
}

function numbers(raw: Uint8Array, item: NpyItem, type: DType, dims: readonly number[]): Tensor {
  if (isPacked(type)) return new Tensor(type, checkedCodes(raw, item.held === 'int8', type), dims)
  const unit = item.kind === 'c' ? item.bytes / 2 : item.bytes
  return tensorOfBytes(type, dims, item.bigEndian ? swapped(raw, unit) : raw, 'onnx')
}

/** Codes of a type of less than a byte, as its storage has them. Throws for codes that the type does not have. */
function checkedCodes(bytes: Uint8Array, signed: boolean, type: DType): Uint8Array | Int8Array {
  const { kind, bits } = DTYPES[type]
  const min = kind === 'int' ? -(2 ** (bits - 1)) : 0
  const max = 2 ** (kind === 'int' ? bits - 1 : bits) - 1
  const codes = kind === 'int' ? new Int8Array(bytes.length) : new Uint8Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) {
    const value = signed ? (bytes[i] << 24) >> 24 : bytes[i]
    const code = kind === 'int' && !signed ? signedCode(value, bits) : value
    if (code < min || code > max) fail('value-out-of-range', `${value} at position ${i} is no code of ${type}`)
    codes[i] = code
  }
  return codes
}

/** The signed code in an unsigned byte, which has the low bits only or is sign-extended. */
const signedCode = (byte: number, bits: number): number =>
  byte < 2 ** bits ? (byte << (32 - bits)) >> (32 - bits) : (byte << 24) >> 24

/** The bytes with each group of `unit` bytes reversed. */
function swapped(bytes: Uint8Array, unit: number): Uint8Array {
  const result = new Uint8Array(bytes.length)
  for (let i = 0; i < bytes.length; i += unit) {
    for (let j = 0; j < unit; j++) result[i + j] = bytes[i + unit - 1 - j]
  }
  return result
}

/**
 * Transposes a tensor as read from a file in Fortran order, whose dims are `dims` reversed, to a row-major tensor of
 * `dims`.
 */
function transposed(tensor: Tensor, dims: readonly number[]): Tensor {
  const { slots, array } = DTYPES[tensor.type]
  const source = tensor.data
  const target: Storage = array === undefined ? new Array<string>(source.length) : (new array(source.length) as Storage)
  const strides: number[] = []
  dims.reduce((stride, dim) => {
    strides.push(stride)
    return stride * dim
  }, slots)
  const position = dims.map(() => 0)
  let from = 0
  for (let to = 0; to < source.length; to += slots) {
    for (let slot = 0; slot < slots; slot++) target[to + slot] = source[from + slot]
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      from += strides[axis]
      if (++position[axis] < dims[axis]) break
      from -= strides[axis] * dims[axis]
      position[axis] = 0
    }
  }
  return new Tensor(tensor.type, target, dims)
}

function joined(header: Uint8Array, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(header.length + data.length)
  bytes.set(header)
  bytes.set(data, header.length)
  return bytes
}
