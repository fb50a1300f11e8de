import { fail } from '../errors.ts'

/** Maximum of strings of no bytes (`<U0`): they take memory out of proportion to the file, so more are an attack. */
const MAX_EMPTY_STRINGS = 2 ** 20
const MAX_ARRAY = 2 ** 31
const LAST_CODE_POINT = 0x10ffff

/**
 * The strings of an `.npy` file: `U` items are UTF-32, `S` items bytes that are read as UTF-8; both are padded with
 * NUL.
 * @param raw bytes of `count` items
 * @throws NodewiseError `invalid-file` for text that is not Unicode
 */
export function npyStrings(
  raw: Uint8Array,
  item: { kind: string; bytes: number; bigEndian: boolean },
  count: number
): string[] {
  if (item.bytes === 0 && count > MAX_EMPTY_STRINGS)
    fail('limit-exceeded', `${count} strings without any bytes in the file`)
  const read = item.kind === 'S' ? bytesReader(raw, item.bytes) : codePointsReader(raw, item.bytes, item.bigEndian)
  return Array.from({ length: count }, (_, i) => read(i * item.bytes))
}

function bytesReader(raw: Uint8Array, itemBytes: number): (offset: number) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  return offset => {
    let end = offset + itemBytes
    while (end > offset && raw[end - 1] === 0) end--
    try {
      return decoder.decode(raw.subarray(offset, end))
    } catch {
      fail('invalid-file', `the string at byte ${offset} of the elements is not UTF-8`)
    }
  }
}

function codePointsReader(raw: Uint8Array, itemBytes: number, bigEndian: boolean): (offset: number) => string {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length)
  return offset => {
    let end = offset + itemBytes
    while (end > offset && view.getUint32(end - 4, true) === 0) end -= 4
    let text = ''
    for (let at = offset; at < end; at += 4) {
      const point = view.getUint32(at, !bigEndian)
      if (point > LAST_CODE_POINT)
        fail('invalid-file', `${point} is no Unicode character, at byte ${at} of the elements`)
      text += String.fromCodePoint(point)
    }
    return text
  }
}

/**
 * Strings as UTF-32 items.
 * @returns the items, and their width in characters: that of the longest string, at least 1
 * @throws NodewiseError `write-failed` for a string that ends in NUL, `limit-exceeded` where they are too long together
 */
export function stringBytes(texts: readonly string[]): { bytes: Uint8Array; width: number } {
  const width = texts.reduce((longest, text) => Math.max(longest, lengthInCodePoints(text)), 1)
  const size = texts.length * width * 4
  if (size > MAX_ARRAY)
    fail('limit-exceeded', `${texts.length} strings of up to ${width} characters are too much for an .npy file`)
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  texts.forEach((text, i) => {
    if (text.endsWith('\0')) fail('write-failed', `an .npy file cannot hold a string that ends in NUL (element ${i})`)
    let at = i * width * 4
    for (const character of text) {
      view.setUint32(at, character.codePointAt(0) ?? 0, true)
      at += 4
    }
  })
  return { bytes, width }
}

const lengthInCodePoints = (text: string): number => [...text].length
