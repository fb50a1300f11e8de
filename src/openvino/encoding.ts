import { NodewiseError } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'

/** How the bytes of an XML file become text. */
export interface Encoding {
  readonly name: 'utf-8' | 'latin1'
  /** Bytes of the byte order mark before the text. */
  readonly skip: number
}

const UTF8_NAMES = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])
const LATIN1_NAMES = new Set(['iso-8859-1', 'latin1', 'latin-1'])
const DECLARATION = /^<\?xml[^>]*?encoding\s*=\s*["']([^"'<>]*)["']/

/**
 * Encoding of an XML file by its first bytes and its declaration.
 * @throws NodewiseError `invalid-file` for encodings other than UTF-8, ASCII and ISO-8859-1
 */
export function detectEncoding(source: ByteSource, file: string): Encoding {
  const head = source.read(0, Math.min(source.size, 256))
  const refuse = (name: string): never => {
    const place = { file, line: 1, column: 1, offset: 0 }
    throw new NodewiseError('invalid-file', `the encoding ${name} is not read: save the file as UTF-8`, place)
  }
  const [a, b] = head
  if ((a === 0xfe && b === 0xff) || (a === 0xff && b === 0xfe) || (head.length > 1 && (a === 0 || b === 0)))
    return refuse('UTF-16')
  const skip = a === 0xef && b === 0xbb && head[2] === 0xbf ? 3 : 0
  const declared = DECLARATION.exec(latin1(head.subarray(skip)))?.[1].toLowerCase() ?? 'utf-8'
  if (UTF8_NAMES.has(declared) || skip > 0) return { name: 'utf-8', skip }
  if (LATIN1_NAMES.has(declared)) return { name: 'latin1', skip }
  return refuse(JSON.stringify(declared))
}

/**
 * Text of `bytes`, which must not end within a character.
 * @throws TypeError when they are not in the encoding
 */
export function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding.name === 'latin1') return latin1(bytes)
  return utf8.decode(bytes)
}

/** Index of the first byte that is not UTF-8. */
export function firstInvalidByte(bytes: Uint8Array): number {
  const repaired = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return bytes.findIndex((byte, index) => byte !== repaired[index])
}

/** Text of ISO-8859-1. Not by TextDecoder, whose `latin1` is windows-1252. */
function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return text
}

/** Number of arguments that a call takes in every engine. */
const PIECE = 8192

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
