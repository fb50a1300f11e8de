import { fail } from '../errors.ts'

/** Bytes before the text of `count` packed strings: their number, the first begin, and an end each. */
export const stringHeaderBytes = (count: number): number => 4 * (count + 2)

/**
 * The strings of a Const: little-endian int32 count, begin of the first string, the end of each, then their UTF-8
 * bytes, which
 * begins and ends count from (OpenVINO `string_aligned_buffer.cpp`). Zero bytes belong to a string.
 * @throws NodewiseError `invalid-file` when the packing is damaged or holds another number of strings
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
