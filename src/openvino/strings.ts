import { fail } from '../errors.ts'

/** Bytes of the header of packed strings: an int32 each for the count, the begin of the first string, and each end. */
export const stringHeaderBytes = (count: number): number => 4 * (count + 2)

/**
 * The strings of a Const, packed as in OpenVINO's `string_aligned_buffer.cpp`: little-endian int32 numbers for the
 * count, the begin of the first string and the end of each, then the UTF-8 bytes, where begin and ends count from the
 * first of them. Zero bytes belong to a string.
 * @throws NodewiseError `invalid-file` where the packing is damaged or has another number of strings
 */
export function readStrings(bytes: Uint8Array, count: number): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const packed = view.getInt32(0, true)
  if (packed !== count) fail('invalid-file', `the constant holds ${packed} strings, its shape says ${count}`)
  const text = bytes.subarray(stringHeaderBytes(count))
  const offsetAt = (index: number): number => view.getInt32(4 + 4 * index, true)
  return Array.from({ length: count }, (_, i) => {
    const begin = offsetAt(i)
    const end = offsetAt(i + 1)
    if (begin < 0 || end < begin || end > text.length) {
      fail('invalid-file', `string ${i} of the constant lies at ${begin} to ${end} of ${text.length} bytes`)
    }
    return decodeString(text.subarray(begin, end), i)
  })
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeString(bytes: Uint8Array, index: number): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return fail('invalid-file', `string ${index} of the constant is not UTF-8`)
  }
}

/** Packs strings as {@link readStrings} reads them. */
export function packStrings(strings: readonly string[]): Uint8Array {
  const encoder = new TextEncoder()
  const texts = strings.map(text => encoder.encode(text))
  const header = stringHeaderBytes(strings.length)
  const bytes = new Uint8Array(texts.reduce((size, text) => size + text.length, header))
  const view = new DataView(bytes.buffer)
  view.setInt32(0, strings.length, true)
  let end = 0
  texts.forEach((text, i) => {
    bytes.set(text, header + end)
    end += text.length
    view.setInt32(8 + 4 * i, end, true)
  })
  return bytes
}
