import { fail } from '../errors.ts'
import { type DType, DTYPES, type ElementOf, is64BitInteger, isInteger, type Storage } from './dtype.ts'
import { type Codes, decodeFloat, encodeFloat, isCodedFloat, widen } from './floats.ts'
import { Tensor } from './tensor.ts'

/** Arrays whose entries are JavaScript numbers. */
export type Numbers = Exclude<Storage, string[] | BigInt64Array | BigUint64Array>

/** An element as a JavaScript value; a complex one is [re, im]. */
export type Element = ElementOf<DType>

/**
 * The elements as numbers, exact: a Float32Array for coded floats, otherwise the tensor's own array (do not write to
 * it). Bools are 0 and 1.
 * @throws NodewiseError `internal` for 64-bit integers (see {@link toDoubles}), strings and complex numbers
 */
export function toNumbers(tensor: Tensor): Numbers {
  const { type, data } = tensor
  if (isCodedFloat(type)) return widen(type, data as Codes)
  const { kind } = DTYPES[type]
  if (kind === 'string' || kind === 'complex' || is64BitInteger(type))
    fail('internal', `elements of type ${type} are no plain numbers`)
  return data as Numbers
}

/** The elements as numbers, 64-bit integers rounded to the nearest. */
export const toDoubles = (tensor: Tensor): Numbers =>
  is64BitInteger(tensor.type) ? roundedDoubles(tensor) : toNumbers(tensor)

/**
 * An integer as a number. Only the order matters beyond 2^53 (slice ends such as 2^63-1); a bound that no size reaches
 * says the same.
 */
export const safeNumber = (integer: bigint): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(integer)))

/** Element `i` in row-major order, exact. */
export function elementAt(tensor: Tensor, i: number): Element {
  const { type } = tensor
  const data = tensor.data
  if (isCodedFloat(type)) return decodeFloat(type, data[i] as number)
  const { kind } = DTYPES[type]
  if (kind === 'bool') return data[i] !== 0
  if (kind === 'complex') return [data[2 * i] as number, data[2 * i + 1] as number]
  return data[i]
}

/** All elements in row-major order; see {@link elementAt}. */
export function elementsOf(tensor: Tensor): Element[] {
  const count = tensor.data.length / DTYPES[tensor.type].slots
  return Array.from({ length: count }, (_, i) => elementAt(tensor, i))
}

/**
 * A list of elements as a tensor, numbers rounded to its type: the inverse of {@link elementsOf}.
 * @throws NodewiseError `type-mismatch` for elements that do not fit the type
 */
export function listOf<T extends DType>(type: T, elements: readonly Element[]): Tensor<T> {
  if (isCodedFloat(type)) {
    const codes = elements.map(element => encodeFloat(type, Number(element)))
    return new Tensor<T>(type, codes)
  }
  if (type === 'complex64' || type === 'complex128') return new Tensor(type, elements.flat(), [elements.length])
  return new Tensor(type, elements as readonly (number | bigint | boolean | string)[])
}

/**
 * Reads integers of any type as exact numbers. Those beyond 2^53 read as Infinity or -Infinity, so that no bounds check
 * takes them for valid indices; {@link exactIndex} has their value.
 */
export function indexReader(tensor: Tensor): (i: number) => number {
  demandIntegers(tensor)
  const data = tensor.data as Numbers
  if (!is64BitInteger(tensor.type)) return i => data[i]
  if (isFew(tensor)) return i => safeOrInfinite((tensor.data as BigInt64Array)[i])
  const halves = halvesOf(tensor)
  const signed = tensor.type === 'int64'
  return i => safeInteger(signed ? halves[2 * i + 1] : halves[2 * i + 1] >>> 0, halves[2 * i] >>> 0)
}

/** The integer at `i`, exact whatever its size. */
export function exactIndex(tensor: Tensor, i: number): bigint {
  demandIntegers(tensor)
  return BigInt((tensor.data as Numbers | BigInt64Array)[i])
}

/**
 * Integers of any type as an array for fast reading: an Int32Array where all fit, else a Float64Array with Infinity or
 * -Infinity for numbers beyond 2^53. It may be the tensor's own array: do not write to it.
 */
export function toIndices(tensor: Tensor): Int32Array | Float64Array {
  demandIntegers(tensor)
  if (is64BitInteger(tensor.type)) return narrowIndices(tensor)
  const data = tensor.data as Numbers
  if (data instanceof Int32Array) return data
  return data instanceof Uint32Array && data.some(value => value > 0x7fffffff)
    ? new Float64Array(data)
    : new Int32Array(data)
}

/** Integers of any type, exact. For shapes and other short lists: BigInts are slow. */
export function toBigInts(tensor: Tensor): bigint[] {
  demandIntegers(tensor)
  return Array.from(tensor.data as ArrayLike<number | bigint>, BigInt)
}

/**
 * The 32-bit halves of 64-bit integers, low half first: every platform that Node has WebAssembly on is little-endian.
 */
export function halvesOf(tensor: Tensor): Int32Array {
  const { buffer, byteOffset, length } = tensor.data as BigInt64Array
  return new Int32Array(buffer, byteOffset, 2 * length)
}

function demandIntegers(tensor: Tensor): void {
  if (!isInteger(tensor.type)) fail('type-mismatch', `integers are needed, the tensor is of type ${tensor.type}`)
}

/** So few 64-bit integers are read one by one in less time than it takes to make a view of their halves. */
const FEW = 8

/** Whether reading 64-bit integers as halves does not pay. */
export const isFew = (tensor: Tensor): boolean => tensor.data.length <= FEW

/** The number of a BigInt that is a safe integer, else Infinity with its sign. */
function safeOrInfinite(value: bigint): number {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  return number > 0 ? Infinity : -Infinity
}

/** `high * 2^32 + low` where that is a safe integer, else Infinity with its sign; `low` is unsigned. */
function safeInteger(high: number, low: number): number {
  if (high >= 0x200000) return Infinity
  if (high < -0x200000 || (high === -0x200000 && low === 0)) return -Infinity
  return high * 0x100000000 + low
}

function narrowIndices(tensor: Tensor): Int32Array | Float64Array {
  if (isFew(tensor)) {
    const numbers = wideIndices(tensor, tensor.data.length)
    return numbers.every(value => value === (value | 0)) ? Int32Array.from(numbers) : numbers
  }
  const halves = halvesOf(tensor)
  const count = halves.length / 2
  const indices = new Int32Array(count)
  const signed = tensor.type === 'int64'
  for (let i = 0; i < count; i++) {
    const low = halves[2 * i]
    const high = halves[2 * i + 1]
    if (high !== low >> 31 || (!signed && high !== 0)) return wideIndices(tensor, count)
    indices[i] = low
  }
  return indices
}

function wideIndices(tensor: Tensor, count: number): Float64Array {
  const read = indexReader(tensor)
  const indices = new Float64Array(count)
  for (let i = 0; i < count; i++) indices[i] = read(i)
  return indices
}

function roundedDoubles(tensor: Tensor): Float64Array {
  const numbers = new Float64Array(tensor.data.length)
  roundInto(tensor, numbers)
  return numbers
}

/** Writes 64-bit integers as numbers, rounded to the nearest. */
export function roundInto(tensor: Tensor, numbers: Float64Array): void {
  if (isFew(tensor)) {
    for (let i = 0; i < numbers.length; i++) numbers[i] = Number(tensor.data[i])
    return
  }
  const halves = halvesOf(tensor)
  const signed = tensor.type === 'int64'
  for (let i = 0; i < numbers.length; i++) {
    const high = halves[2 * i + 1]
    numbers[i] = (signed ? high : high >>> 0) * 0x100000000 + (halves[2 * i] >>> 0)
  }
}

/** The largest finite magnitude; 0 where there is none. */
export function largestMagnitude(numbers: Numbers): number {
  let most = 0
  for (let i = 0; i < numbers.length; i++) {
    const magnitude = Math.abs(numbers[i])
    if (magnitude > most && magnitude < Infinity) most = magnitude
  }
  return most
}
