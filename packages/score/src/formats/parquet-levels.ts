import { NodewiseError } from 'nodewise'

/** Bits of a value that a rolling word of 32 bits takes beside the bits that are left in it. */
const ROLLING_BITS = 24

const broken = (why: string): never => {
  throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${why}`)
}

/**
 * Reads runs of equal values and of packed ones (Parquet's RLE/bit-packing hybrid), which levels and indices stand in,
 * until `out` is full.
 * @throws NodewiseError `invalid-file` where they end before
 */
export function readHybrid(
  bytes: Uint8Array,
  begin: number,
  end: number,
  width: number,
  out: Uint8Array | Int32Array
): void {
  if (width > 32) broken(`levels of ${width} bits`)
  let [at, seen] = [begin, 0]
  while (seen < out.length) {
    let header = 0
    for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
      if (at >= end || shift > 28) broken('levels end within a run')
      byte = bytes[at++]
      header |= (byte & 0x7f) << shift
    }
    const count = header >>> 1
    if ((header & 1) === 1) {
      const values = Math.min(8 * count, out.length - seen)
      unpack(bytes, at, Math.min(end, at + count * width), width, out, seen, values)
      at += count * width
      seen += values
    } else {
      const size = (width + 7) >> 3
      if (at + size > end) broken('levels end within a run')
      let value = 0
      for (let i = 0; i < size; i++) value |= bytes[at++] << (8 * i)
      const values = Math.min(count, out.length - seen)
      out.fill(value, seen, seen + values)
      seen += values
    }
    if (count === 0 && at >= end && seen < out.length) broken('levels end too early')
  }
}

function unpack(
  bytes: Uint8Array,
  begin: number,
  end: number,
  width: number,
  out: Uint8Array | Int32Array,
  first: number,
  count: number
): void {
  if (width === 0) return void out.fill(0, first, first + count)
  if (8 * (end - begin) < count * width) broken('levels end within a run')
  if (width > ROLLING_BITS) return unpackWide(bytes, begin, width, out, first, count)
  const mask = (1 << width) - 1
  let [at, word, bits] = [begin, 0, 0]
  for (let i = first; i < first + count; i++) {
    while (bits < width) {
      word |= bytes[at++] << bits
      bits += 8
    }
    out[i] = word & mask
    word >>>= width
    bits -= width
  }
}

function unpackWide(
  bytes: Uint8Array,
  begin: number,
  width: number,
  out: Uint8Array | Int32Array,
  first: number,
  count: number
): void {
  const byteAt = (at: number): number => (at < bytes.length ? bytes[at] : 0)
  const mask = width === 32 ? -1 : (1 << width) - 1
  for (let i = 0; i < count; i++) {
    const at = begin + Math.floor((i * width) / 8)
    const shift = (i * width) % 8
    const low = byteAt(at) | (byteAt(at + 1) << 8) | (byteAt(at + 2) << 16) | (byteAt(at + 3) << 24)
    const high = shift === 0 ? 0 : byteAt(at + 4) << (32 - shift)
    out[first + i] = ((low >>> shift) | high) & mask
  }
}

/** Packs values below 2 to the power of `width`, which is at most 24, as one run: of the same value, or of bits. */
export function writeHybrid(values: Uint8Array | Int32Array, width: number): Uint8Array {
  const [first] = values
  let same = 1
  while (same < values.length && values[same] === first) same++
  if (same >= values.length) return writeRun(first, values.length, width)
  const groups = Math.ceil(values.length / 8)
  const header = varint(2 * groups + 1)
  const out = new Uint8Array(header.length + groups * width)
  out.set(header)
  if (width === 1) packBits(values, out, header.length)
  else pack(values, width, out, header.length)
  return out
}

/** A run of the same value. */
export function writeRun(value: number, count: number, width: number): Uint8Array {
  const bytes = Uint8Array.from({ length: (width + 7) >> 3 }, (_, i) => (value >> (8 * i)) & 0xff)
  return Buffer.concat([varint(2 * count), bytes])
}

/** Packs zeros and ones, eight to a byte. */
export function packBits(values: ArrayLike<number>, out: Uint8Array, begin: number): void {
  const whole = values.length & ~7
  let at = begin
  for (let i = 0; i < whole; i += 8)
    out[at++] =
      values[i] |
      (values[i + 1] << 1) |
      (values[i + 2] << 2) |
      (values[i + 3] << 3) |
      (values[i + 4] << 4) |
      (values[i + 5] << 5) |
      (values[i + 6] << 6) |
      (values[i + 7] << 7)
  for (let i = whole; i < values.length; i++) out[at] |= values[i] << (i & 7)
}

function pack(values: Uint8Array | Int32Array, width: number, out: Uint8Array, begin: number): void {
  let [at, word, bits] = [begin, 0, 0]
  for (let i = 0; i < values.length; i++) {
    word |= values[i] << bits
    bits += width
    while (bits >= 8) {
      out[at++] = word
      word >>>= 8
      bits -= 8
    }
  }
  if (bits > 0) out[at] = word
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Uint8Array.from([...bytes, rest])
}

/** Bits that hold values up to this one. */
export const bitsFor = (greatest: number): number => 32 - Math.clz32(greatest)
