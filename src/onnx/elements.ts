import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { type DType, DTYPES, is64BitInteger, type StorageOf } from '../tensor/dtype.ts'
import { isPacked } from '../tensor/packing.ts'
import { allocate, elementCount, fileBytes, Tensor } from '../tensor/tensor.ts'
import type { Payload } from './skim.ts'
import { decodeText } from './text.ts'

/**
 * The field of TensorProto that holds elements of a type where they are not in `raw_data` (onnx.proto, IR version 14).
 */
export function typedFieldOf(type: DType): string {
  switch (type) {
    case 'float32':
    case 'complex64':
      return 'float_data'
    case 'float64':
    case 'complex128':
      return 'double_data'
    case 'int64':
      return 'int64_data'
    case 'uint64':
    case 'uint32':
      return 'uint64_data'
    case 'string':
      return 'string_data'
    default:
      return 'int32_data'
  }
}

/**
 * How many entries of the typed field `count` elements take. An entry is a byte of packed elements for sub-byte types,
 * and half of an element for complex types.
 */
export const typedEntries = (type: DType, count: number): number =>
  isPacked(type) ? fileBytes(type, count) : count * DTYPES[type].slots

/** Minimum and maximum of entries that payloads of a typed field may hold, going by their length only. */
export function entryBounds(type: DType, payloads: readonly Payload[]): { min: number; max: number } {
  const bounds = { min: 0, max: 0 }
  for (const payload of payloads) {
    const exact = payload.tagged ? payload.elements : countExactly(type, payload)
    bounds.min += exact ?? Math.ceil(payload.length / MAX_VARINT)
    bounds.max += exact ?? payload.length
  }
  return bounds
}

/** Bytes of the longest varint. */
export const MAX_VARINT = 10

function countExactly(type: DType, { bytes, length }: Payload): number | undefined {
  const width = fixedWidth(type)
  if (width !== undefined) return length / width
  return bytes && countVarints(bytes)
}

/** Each varint ends with a byte below 128. */
function countVarints(bytes: Uint8Array): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] < 128) count++
  return count
}

/** Bytes of one entry of `float_data` and `double_data`; the other fields are varints. */
function fixedWidth(type: DType): 4 | 8 | undefined {
  const field = typedFieldOf(type)
  return field === 'float_data' ? 4 : field === 'double_data' ? 8 : undefined
}

/** The bytes of a payload, from memory or from the file. */
export const payloadBytes = ({ bytes, offset, length }: Payload, source: ByteSource): Uint8Array =>
  bytes ?? source.read(offset, length)

/**
 * Decodes the typed field of a tensor.
 * @throws NodewiseError `invalid-file` when it does not hold exactly what `dims` ask for, or a number is too large for
 *   the type
 */
export function decodeTyped(
  type: DType,
  dims: readonly number[],
  payloads: readonly Payload[],
  source: ByteSource
): Tensor {
  const expected = typedEntries(type, elementCount(dims))
  const { max } = entryBounds(type, payloads)
  // Checked before memory is allocated for what the dims claim.
  if (expected > max) wrongCount(expected, max)
  if (type === 'string') return new Tensor('string', decodeStrings(payloads, source, expected), dims)
  const width = fixedWidth(type)
  if (width !== undefined) return tensorOfBytes(type, dims, fixedBytes(payloads, source, width, expected), 'onnx')
  if (isPacked(type)) {
    const bytes = new Uint8Array(expected)
    decodeVarints(payloads, source, expected, narrowStore('uint8', bytes))
    return tensorOfBytes(type, dims, bytes, 'onnx')
  }
  const tensor = allocate(type, dims)
  const single = TAKE_BYTES.includes(type) ? singleBytes(payloads, source, expected) : undefined
  if (single) (tensor.data as StorageOf['int32']).set(single)
  else decodeVarints(payloads, source, expected, storeOf(tensor))
  return tensor
}

/**
 * Decodes integers of 64 bits as numbers; what is beyond 2^53 is cut to the last safe integer.
 * @throws NodewiseError `invalid-file` where there are not `count` of them
 */
export function decodeSafeIntegers(count: number, payloads: readonly Payload[], source: ByteSource): number[] {
  const numbers: number[] = []
  decodeVarints(payloads, source, count, (_, low, high) => {
    const number = high * 2 ** 32 + (low >>> 0)
    numbers.push(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number)))
  })
  return numbers
}

/** Types of which a number below 128 is what its varint is. */
const TAKE_BYTES: readonly DType[] = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32']

/** Numbers that take one byte each, as most zero points do: to copy them needs no loop over varints. */
function singleBytes(payloads: readonly Payload[], source: ByteSource, expected: number): Uint8Array | undefined {
  const [only] = payloads
  if (payloads.length !== 1 || only.tagged || only.length !== expected) return undefined
  const bytes = payloadBytes(only, source)
  return countVarints(bytes) === expected ? bytes : undefined
}

/** Stores element `index`, given as the low and the high 32 bits of its varint. */
type Store = (index: number, low: number, high: number) => void

function storeOf(tensor: Tensor): Store {
  const { type } = tensor
  if (is64BitInteger(type)) {
    const { buffer, byteOffset, length } = tensor.data as StorageOf['int64']
    const halves = new Int32Array(buffer, byteOffset, 2 * length)
    return (index, low, high) => {
      halves[2 * index] = low
      halves[2 * index + 1] = high
    }
  }
  const data = tensor.data as StorageOf['uint8' | 'int32' | 'uint32']
  if (type === 'int32')
    return (index, low) => {
      data[index] = low
    }
  if (type === 'bool')
    return (index, low) => {
      data[index] = low === 0 ? 0 : 1
    }
  if (type === 'uint32') {
    return (index, low, high) => {
      if (high !== 0) doesNotFit(index, type)
      data[index] = low
    }
  }
  return narrowStore(type, data)
}

/** Stores numbers of at most 16 bits. Those with the top bit set may be given as signed or as unsigned numbers. */
function narrowStore(type: DType, data: StorageOf['uint8' | 'int32' | 'uint32']): Store {
  const range = 2 ** DTYPES[type].bits
  return (index, low) => {
    if (low < -range / 2 || low >= range) doesNotFit(index, type)
    data[index] = low
  }
}

const doesNotFit = (index: number, type: DType): never =>
  fail('invalid-file', `number ${index} is too large for type ${type}`)

const wrongCount = (expected: number, found: number): never =>
  fail('invalid-file', `its dims ask for ${expected} entries, ${found} are there`)

const broken = (): never => fail('invalid-file', 'its elements are cut off')

/** Stores every varint of the payloads. */
function decodeVarints(payloads: readonly Payload[], source: ByteSource, expected: number, store: Store): void {
  let index = 0
  for (const payload of payloads) {
    const bytes = payloadBytes(payload, source)
    for (let at = 0; at < bytes.length;) {
      if (payload.tagged) at = afterTag(bytes, at)
      let low = 0
      let high = 0
      let byte = 128
      for (let shift = 0; byte >= 128; shift += 7) {
        if (at >= bytes.length || shift > 63) broken()
        byte = bytes[at++]
        const bits = byte & 127
        if (shift < 28) low |= bits << shift
        else if (shift > 28) high |= bits << (shift - 32)
        else {
          low |= bits << 28
          high = bits >>> 4
        }
      }
      if (index >= expected) wrongCount(expected, index + 1)
      store(index++, low, high)
    }
  }
  if (index !== expected) wrongCount(expected, index)
}

/** The bytes of all entries of a fixed-width field, without tags. */
function fixedBytes(payloads: readonly Payload[], source: ByteSource, width: number, expected: number): Uint8Array {
  if (payloads.length === 1 && !payloads[0].tagged) return payloadBytes(payloads[0], source)
  const all = new Uint8Array(expected * width)
  let length = 0
  for (const payload of payloads) {
    const bytes = payloadBytes(payload, source)
    for (let at = 0; at < bytes.length;) {
      const from = payload.tagged ? afterTag(bytes, at) : at
      at = payload.tagged ? from + width : bytes.length
      if (at > bytes.length) broken()
      if (length + at - from > all.length) wrongCount(expected, Math.floor((length + at - from) / width))
      // A view of a few bytes takes longer than to copy them.
      if (payload.tagged) for (let i = from; i < at; i++) all[length++] = bytes[i]
      else {
        all.set(bytes, length)
        length += at - from
      }
    }
  }
  if (length !== all.length) wrongCount(expected, Math.floor(length / width))
  return all
}

function decodeStrings(payloads: readonly Payload[], source: ByteSource, expected: number): string[] {
  const texts: string[] = []
  const seen: SeenTexts = []
  for (const payload of payloads) {
    const bytes = payloadBytes(payload, source)
    for (let at = 0; at < bytes.length;) {
      at = afterTag(bytes, at)
      let length = 0
      for (let scale = 1; ; scale *= 128) {
        if (at >= bytes.length) broken()
        length += (bytes[at] & 127) * scale
        if (bytes[at++] < 128) break
      }
      if (length > bytes.length - at) broken()
      texts.push(textIn(bytes, at, (at += length), seen))
    }
  }
  if (texts.length !== expected) wrongCount(expected, texts.length)
  return texts
}

/** By length, the last text of so many bytes. */
type SeenTexts = { readonly bytes: Uint8Array; readonly text: string }[]

const MAX_SEEN = 32

/** Decodes the text of bytes `from … to - 1`, or finds it: long lists are mostly a few words again and again. */
function textIn(bytes: Uint8Array, from: number, to: number, seen: SeenTexts): string {
  const last = seen[to - from]
  if (last !== undefined && standsAt(last.bytes, bytes, from)) return last.text
  const own = bytes.subarray(from, to)
  const text = decodeText(own)
  if (own.length < MAX_SEEN) seen[own.length] = { bytes: own, text }
  return text
}

function standsAt(part: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < part.length; i++) if (part[i] !== bytes[at + i]) return false
  return true
}

/** Index after the tag at `at`. */
function afterTag(bytes: Uint8Array, at: number): number {
  while (bytes[at] >= 128) at++
  return at + 1
}
