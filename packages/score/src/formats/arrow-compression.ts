import { compressionRegistry, CompressionType } from 'apache-arrow'
import { decompress as decompressZstd } from 'fzstd'
import { NodewiseError } from 'nodewise'

/** Bytes of the length that stands before each compressed buffer, and of the largest that is unpacked. */
const PREFIX = 8
const MAX_BYTES = 2 ** 30

/** Bytes that a byte of LZ4 can stand for. */
const LZ4_RATIO = 255

const LZ4_MAGIC = 0x184d2204
/** Bits of the first byte of a frame's header: what else the header and the blocks have. */
const FLAG = { blockChecksum: 0x10, contentSize: 0x08, dictionary: 0x01 } as const
/** The bit of a block's length that says that it is not compressed. */
const PLAIN = 0x8000_0000
/** Least length of a copy. */
const MIN_MATCH = 4

const broken = (why: string): never => {
  throw new NodewiseError('invalid-file', `a compressed buffer ${why}`)
}

/** Lets the reader of Arrow unpack bodies: pandas and pyarrow write Feather as LZ4 frames. */
export function addCodecs(): void {
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: bytes => decodeLz4Frame(bytes, lengthOf(bytes, bytes.length * LZ4_RATIO))
  })
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: bytes => decompressZstd(bytes, new Uint8Array(lengthOf(bytes, MAX_BYTES)))
  })
}

/** The length that a buffer unpacks to: the reader hands on what follows it in the same memory. */
function lengthOf({ buffer, byteOffset }: Uint8Array, most: number): number {
  const length = Number(new DataView(buffer, byteOffset - PREFIX, PREFIX).getBigInt64(0, true))
  if (!(length >= 0 && length <= Math.min(most, MAX_BYTES)))
    throw new NodewiseError('limit-exceeded', `a compressed buffer says that it unpacks to ${length} bytes`)
  return length
}

/**
 * Unpacks a frame of LZ4 (lz4_Frame_format.md 1.6): blocks one after the other, of which each may copy from those
 * before.
 * @param length of what comes out
 * @throws NodewiseError `invalid-file`
 */
export function decodeLz4Frame(bytes: Uint8Array, length: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < PREFIX || view.getUint32(0, true) !== LZ4_MAGIC) broken('is no frame of LZ4')
  const flags = bytes[4]
  // Version 1; a dictionary would have to be known.
  if (flags >> 6 !== 1 || (flags & FLAG.dictionary) !== 0) broken('is a frame of LZ4 of another kind')
  let at = (flags & FLAG.contentSize) === 0 ? 7 : 15
  const out = new Uint8Array(length)
  let end = 0
  for (;;) {
    if (at + 4 > bytes.length) broken('ends within a frame')
    const word = view.getUint32(at, true)
    at += 4
    if (word === 0) break
    const size = word & ~PLAIN
    if (size > bytes.length - at) broken('ends within a block')
    const block = bytes.subarray(at, at + size)
    if (word >= PLAIN) {
      if (size > length - end) broken('is longer than it says')
      out.set(block, end)
      end += size
    } else end = decodeLz4Block(block, out, end)
    at += size + ((flags & FLAG.blockChecksum) === 0 ? 0 : 4)
  }
  return end === length ? out : broken('is shorter than it says')
}

/**
 * Unpacks a block of LZ4 behind what is there: literals and a copy of earlier bytes by turns.
 * @returns where it ends
 */
function decodeLz4Block(block: Uint8Array, out: Uint8Array, start: number): number {
  let [at, end] = [0, start]
  const lengthFrom = (nibble: number): number => {
    let length = nibble
    if (nibble < 15) return length
    for (let byte = 255; byte === 255; length += byte) {
      if (at >= block.length) broken('ends within a length')
      byte = block[at++]
    }
    return length
  }
  while (at < block.length) {
    const token = block[at++]
    const literals = lengthFrom(token >> 4)
    if (literals > block.length - at || literals > out.length - end) broken('has literals beyond its end')
    out.set(block.subarray(at, at + literals), end)
    at += literals
    end += literals
    // The last sequence has no copy.
    if (at === block.length) break
    if (at + 2 > block.length) broken('ends within a copy')
    const distance = block[at] | (block[at + 1] << 8)
    at += 2
    const length = lengthFrom(token & 15) + MIN_MATCH
    if (distance === 0 || distance > end || length > out.length - end) broken('copies what is not there')
    if (distance >= length) out.copyWithin(end, end - distance, end - distance + length)
    // What is copied overlaps what it becomes: a pattern that is repeated.
    else for (let i = 0; i < length; i++) out[end + i] = out[end + i - distance]
    end += length
  }
  return end
}
