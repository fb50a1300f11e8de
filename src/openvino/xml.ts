import { NodewiseError, type Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import { decode, type Encoding, firstInvalidByte } from './encoding.ts'
import { PlainXmlReader } from './plain-xml.ts'
import { type Stop, strictXmlReader } from './strict-xml.ts'
import type { XmlTree } from './tree.ts'
import type { Bounds } from './xml-bounds.ts'

/** Maximum size of a file, since offsets are kept in 32 bits. */
const MAX_BYTES = 2 ** 32 - 1
/** Approximate memory of an element, with what layers and ports take for it. */
const BYTES_OF_ELEMENT = 512
/** Bytes that are read at a time. */
const MIN_WINDOW = 1 << 18
const MAX_WINDOW = 1 << 26
/** Longer messages are cut: they may have names of the file in them. */
const MAX_MESSAGE_LENGTH = 200
const TAG_END = 0x3e

/**
 * Reads the elements of an XML file (XML 1.0, strictly), a window at a time. Comments and processing instructions are
 * skipped. Refused are a DOCTYPE, and entities other than the five of XML and character references.
 * @throws NodewiseError `invalid-file` with line and column where it is no well-formed XML, `limit-exceeded` where it
 *   is nested deeper or has more elements than the limits allow
 */
export function readXml(
  source: ByteSource,
  file: string,
  encoding: Encoding,
  locate: (place: Place) => Place,
  limits: Limits
): XmlTree {
  const stop: Stop = (code, message, offset) => {
    throw new NodewiseError(code, message.slice(0, MAX_MESSAGE_LENGTH), locate({ file, offset }))
  }
  const bounds: Bounds = {
    depth: limits.xmlDepth,
    elements: Math.floor(limits.structureBytes / BYTES_OF_ELEMENT),
    tooMuch: (limit, what, offset) => exceed(limit, limits, what, locate({ file, offset }))
  }
  if (source.size === encoding.skip) return stop('invalid-file', 'the file is empty', 0)
  if (source.size > MAX_BYTES) return stop('limit-exceeded', `an XML file of ${source.size} bytes is too large`, 0)
  try {
    return readPlainly(source, encoding, stop, bounds) ?? readStrictly(source, encoding, stop, bounds)
  } catch (error) {
    if (error instanceof RangeError) return stop('limit-exceeded', 'the file holds a text or tag too long to read', 0)
    throw error
  }
}

/** The fast way, see {@link PlainXmlReader}; undefined where the file is not plain enough for it. */
function readPlainly(source: ByteSource, encoding: Encoding, stop: Stop, bounds: Bounds): XmlTree | undefined {
  const reader = new PlainXmlReader(bounds)
  for (const { text, start, length } of windowsOf(source, encoding, stop)) {
    if (text.length !== length || !reader.read(text, start)) return undefined
  }
  return reader.isWhole ? reader.tree : undefined
}

function readStrictly(source: ByteSource, encoding: Encoding, stop: Stop, bounds: Bounds): XmlTree {
  const reader = strictXmlReader(stop, bounds)
  for (const { text, start, length } of windowsOf(source, encoding, stop)) reader.write(text, start, length)
  return reader.end()
}

/** The windows of a file: the text of each, its offset, and its number of bytes. */
function* windowsOf(
  source: ByteSource,
  encoding: Encoding,
  stop: Stop
): Generator<{ text: string; start: number; length: number }> {
  for (let start = encoding.skip; start < source.size;) {
    const bytes = nextWindow(source, start, stop)
    yield { text: decodeAt(bytes, start, encoding, stop), start, length: bytes.length }
    start += bytes.length
  }
}

/**
 * Bytes from `start` to the last `>` in a window, so that a window never ends within a tag's name. The window is
 * enlarged until it has a `>`.
 */
function nextWindow(source: ByteSource, start: number, stop: Stop): Uint8Array {
  const left = source.size - start
  for (let size = MIN_WINDOW; size < left; size *= 2) {
    if (size > MAX_WINDOW)
      return stop('limit-exceeded', `more than ${MAX_WINDOW} bytes without the end of a tag`, start)
    const bytes = source.read(start, size)
    const end = bytes.lastIndexOf(TAG_END)
    if (end >= 0) return bytes.subarray(0, end + 1)
  }
  return source.read(start, left)
}

function decodeAt(bytes: Uint8Array, start: number, encoding: Encoding, stop: Stop): string {
  try {
    return decode(bytes, encoding)
  } catch (error) {
    if (error instanceof TypeError)
      return stop('invalid-file', 'the text is not UTF-8', start + firstInvalidByte(bytes))
    throw error
  }
}
