import { fail } from '../errors.ts'
import { type DType, DTYPES } from './dtype.ts'

/**
 * How elements of less than a byte are packed in a file.
 *
 * - `onnx`: a stream of bits, the first element in the lowest bits (onnx.proto, `TensorProto.raw_data`).
 * - `openvino` (`element_iterator.hpp` of OpenVINO 2026.4): 2 and 4 bits as in ONNX; 1 bit with the first element in
 *   the highest bit; 3 and 6 bits in groups of three bytes, of which two hold the low bits and the third the high bits.
 */
export type Layout = 'onnx' | 'openvino'

/** Whether a file packs several elements of `type` into one byte. */
export const isPacked = (type: DType): boolean => DTYPES[type].bits % 8 !== 0

/** Whether bytes of a file may differ from those in memory: packed types, and bool, where any byte but 0 is true. */
export const isCoded = (type: DType): boolean => isPacked(type) || type === 'bool'

/** Whether `count` elements fill whole bytes (or groups of three bytes), so that those after them can be read alone. */
export const fillsBytes = (type: DType, count: number, layout: Layout): boolean =>
  !isPacked(type) || 8 * packedBytes(type, count, layout) === count * bitsOf(type)

/**
 * Bytes that `count` elements of less than a byte take in a file; groups of three bytes (OpenVINO) count as a whole.
 */
export function packedBytes(type: DType, count: number, layout: Layout): number {
  const bits = bitsOf(type)
  return isSplit(bits, layout) ? 3 * Math.ceil((count * bits) / 24) : Math.ceil((count * bits) / 8)
}

/**
 * Unpacks elements of less than a byte into one code a byte; signed types are sign-extended. As in OpenVINO, the last
 * group of a type of 3 or 6 bits may be cut, to `ceil(bits * count / 8)` bytes in all; missing bytes count as zero.
 * @throws NodewiseError `invalid-file` where `bytes` are too few
 */
export function unpack(type: DType, bytes: Uint8Array, count: number, layout: Layout): Uint8Array | Int8Array {
  const bits = bitsOf(type)
  const needed = Math.ceil((count * bits) / 8)
  if (bytes.length < needed)
    fail('invalid-file', `${count} elements of type ${type} need ${needed} bytes, ${bytes.length} are there`)
  const codes = new Uint8Array(count)
  if (isSplit(bits, layout)) unpackSplit(bytes, codes, bits)
  else if (isHighFirst(bits, layout)) unpackHighFirst(bytes, codes)
  else unpackLowFirst(bytes, codes, bits)
  return DTYPES[type].kind === 'int' ? extendSigns(codes, bits) : codes
}

/**
 * Packs codes of a type of less than a byte as a file has them. Bits of a code beyond the width of the type are
 * dropped; unused bits of the last byte are zero.
 */
export function pack(type: DType, codes: Uint8Array | Int8Array, layout: Layout): Uint8Array {
  const bits = bitsOf(type)
  const bytes = new Uint8Array(packedBytes(type, codes.length, layout))
  if (isSplit(bits, layout)) packSplit(codes, bytes, bits)
  else if (isHighFirst(bits, layout)) packHighFirst(codes, bytes)
  else packLowFirst(codes, bytes, bits)
  return bytes
}

function bitsOf(type: DType): number {
  const { bits } = DTYPES[type]
  if (bits === 0 || bits >= 8) fail('internal', `${type} is not packed`)
  return bits
}

const isSplit = (bits: number, layout: Layout): boolean => layout === 'openvino' && (bits === 3 || bits === 6)
const isHighFirst = (bits: number, layout: Layout): boolean => layout === 'openvino' && bits === 1

function unpackLowFirst(bytes: Uint8Array, codes: Uint8Array, bits: number): void {
  const mask = (1 << bits) - 1
  let held = 0
  let heldBits = 0
  let next = 0
  for (let i = 0; i < codes.length; i++) {
    if (heldBits < bits) {
      held |= bytes[next++] << heldBits
      heldBits += 8
    }
    codes[i] = held & mask
    held >>= bits
    heldBits -= bits
  }
}

function packLowFirst(codes: Uint8Array | Int8Array, bytes: Uint8Array, bits: number): void {
  const mask = (1 << bits) - 1
  let held = 0
  let heldBits = 0
  let next = 0
  for (let i = 0; i < codes.length; i++) {
    held |= (codes[i] & mask) << heldBits
    heldBits += bits
    if (heldBits >= 8) {
      bytes[next++] = held
      held >>= 8
      heldBits -= 8
    }
  }
  if (heldBits > 0) bytes[next] = held
}

function unpackHighFirst(bytes: Uint8Array, codes: Uint8Array): void {
  for (let i = 0; i < codes.length; i++) codes[i] = (bytes[i >> 3] >> (7 - (i & 7))) & 1
}

function packHighFirst(codes: Uint8Array | Int8Array, bytes: Uint8Array): void {
  for (let i = 0; i < codes.length; i++) bytes[i >> 3] |= (codes[i] & 1) << (7 - (i & 7))
}

/**
 * Codes of 3 bits have 2 low bits and 1 high bit, codes of 6 bits 4 low and 2 high ones. A group of three bytes has the
 * low bits of all its codes in two bytes, then the high bits, each time with the first code in the highest bits.
 */
function unpackSplit(bytes: Uint8Array, codes: Uint8Array, bits: number): void {
  const low = bits === 3 ? 2 : 4
  const high = bits - low
  const group = 24 / bits
  for (let i = 0, base = 0; i < codes.length; i += group, base += 3) {
    const lows = (bytes[base] << 8) | bytes[base + 1]
    const highs = bytes[base + 2]
    const size = Math.min(group, codes.length - i)
    for (let j = 0; j < size; j++) {
      const lowPart = (lows >> (16 - low * (j + 1))) & ((1 << low) - 1)
      const highPart = (highs >> (8 - high * (j + 1))) & ((1 << high) - 1)
      codes[i + j] = (highPart << low) | lowPart
    }
  }
}

function packSplit(codes: Uint8Array | Int8Array, bytes: Uint8Array, bits: number): void {
  const low = bits === 3 ? 2 : 4
  const high = bits - low
  const group = 24 / bits
  for (let i = 0, base = 0; i < codes.length; i += group, base += 3) {
    let lows = 0
    let highs = 0
    const size = Math.min(group, codes.length - i)
    for (let j = 0; j < size; j++) {
      lows |= (codes[i + j] & ((1 << low) - 1)) << (16 - low * (j + 1))
      highs |= ((codes[i + j] >> low) & ((1 << high) - 1)) << (8 - high * (j + 1))
    }
    bytes[base] = lows >> 8
    bytes[base + 1] = lows
    bytes[base + 2] = highs
  }
}

function extendSigns(codes: Uint8Array, bits: number): Int8Array {
  const signed = new Int8Array(codes.buffer)
  const shift = 32 - bits
  for (let i = 0; i < signed.length; i++) signed[i] = (signed[i] << shift) >> shift
  return signed
}
