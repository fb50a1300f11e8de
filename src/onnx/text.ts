const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Text of bytes that should be UTF-8. Bytes that are not UTF-8 become lone surrogates U+DC80 to U+DCFF, as in Python's
 * `surrogateescape`, so that different bytes give different texts.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return decodeEscaping(bytes)
  }
}

function decodeEscaping(bytes: Uint8Array): string {
  let text = ''
  let validFrom = 0
  for (let i = 0; i < bytes.length;) {
    const length = characterLength(bytes, i)
    if (length > 0) {
      i += length
      continue
    }
    text += utf8.decode(bytes.subarray(validFrom, i)) + String.fromCharCode(0xdc00 + bytes[i])
    validFrom = ++i
  }
  return text + utf8.decode(bytes.subarray(validFrom))
}

/** Number of bytes of the UTF-8 character at `at`; 0 where the bytes are none (RFC 3629, section 4). */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first < 0x80) return 1
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0
  if (length === 0 || at + length > bytes.length) return 0
  const second = bytes[at + 1]
  const min = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const max = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < min || second > max) return 0
  for (let i = 2; i < length; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0
  return length
}

const encoder = new TextEncoder()

/** The bytes of a text that {@link decodeText} made, also of one that was not UTF-8. */
export function encodeText(text: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(text)) return encoder.encode(text)
  const bytes: number[] = []
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00)
    else bytes.push(...encoder.encode(character))
  }
  return Uint8Array.from(bytes)
}
