import { SaxesParser } from 'saxes'
import { type ErrorCode, NodewiseError, type Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import { decode, type Encoding, firstInvalidByte } from './encoding.ts'
import { PlainXmlReader } from './plain-xml.ts'
import { type Element, XmlTree } from './tree.ts'

/** Maximum size of a file, since offsets are kept in 32 bits. */
const MAX_BYTES = 2 ** 32 - 1
/** Approximate memory of an element, with what layers and ports take for it. */
const BYTES_OF_ELEMENT = 512
/** Bytes that are read at a time. */
const MIN_WINDOW = 1 << 18
const MAX_WINDOW = 1 << 26
/** Longer messages are cut: they may have names of the file in them. */
const MAX_MESSAGE_LENGTH = 200
const TAG_START = 0x3c
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
  const reader = new PlainXmlReader(bounds.depth, bounds.elements)
  for (const { text, start, length } of windowsOf(source, encoding, stop)) {
    if (text.length !== length || !reader.read(text, start)) return undefined
  }
  return reader.isWhole ? reader.tree : undefined
}

function readStrictly(source: ByteSource, encoding: Encoding, stop: Stop, bounds: Bounds): XmlTree {
  const tree = treeBuilder(stop, bounds)
  for (const { text, start, length } of windowsOf(source, encoding, stop)) tree.write(text, start, length)
  return tree.end()
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

/** Throws a `NodewiseError` at an offset of the file. */
type Stop = (code: ErrorCode, message: string, offset: number) => never

/** Maxima of nesting depth and number of elements, and what throws where one is exceeded. */
interface Bounds {
  readonly depth: number
  readonly elements: number
  readonly tooMuch: (limit: keyof Limits, what: string, offset: number) => never
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

/** Feeds windows of text to the parser and builds the tree from its events. */
function treeBuilder(stop: Stop, bounds: Bounds) {
  const parser = new SaxesParser({ position: false })
  const tree = new XmlTree()
  const open: Element[] = []
  let closed: Element | undefined
  let window = windowOf('', 0, 0)
  /** UTF-16 units of the windows before this one; the parser's position counts from the first. */
  let unitsBefore = 0

  /** Index in the window of what the parser reads next. */
  const here = (): number => parser.position - unitsBefore

  const refuse = (message: string, index: number): never =>
    stop('invalid-file', message, window.offsetOf(Math.max(0, index)))

  parser.on('error', error => {
    const { text } = window
    const message = error.message.replace(/\.$/, '')
    const element = open.at(-1)
    if (/close tag|closing tag:/.test(message)) {
      const crossed = message.startsWith('unexpected') ? closed : undefined
      const detail = crossed === undefined ? message : `the closing tag does not match <${tree.name(crossed)}>`
      return refuse(`mismatched tags: ${detail}`, text.lastIndexOf('</', here() - 1))
    }
    if (message.startsWith('text data outside')) return refuse('text outside the root element', textStart(text, here()))
    if (element === undefined) return refuse(message, here() - 1)
    if (message.startsWith('unclosed tag'))
      return stop('invalid-file', `<${tree.name(element)}> is not closed`, tree.offset(element))
    if (/^duplicate attribute|one root/.test(message)) return stop('invalid-file', message, tree.offset(element))
    return refuse(message, here() - 1)
  })
  parser.on('doctype', () => refuse('a DOCTYPE is not read', window.text.lastIndexOf('<!DOCTYPE', here() - 1)))
  parser.on('opentagstart', tag => {
    const offset = window.offsetOf(tagStart(window.text, here(), tag.name))
    if (open.length >= bounds.depth)
      bounds.tooMuch('xmlDepth', `elements are nested deeper than ${bounds.depth}`, offset)
    if (tree.size >= bounds.elements)
      bounds.tooMuch('structureBytes', `the file has more than ${bounds.elements} elements`, offset)
    open.push(tree.open(tag.name, offset))
  })
  parser.on('attribute', ({ name, value }) => tree.addAttribute(name, value))
  const addText = (text: string): void => {
    if (open.length > 0 && !isBlank(text)) tree.addText(open[open.length - 1], text)
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    closed = open.pop()
    if (closed !== undefined) tree.close(closed)
  })

  return {
    write(text: string, byteStart: number, byteLength: number): void {
      unitsBefore += window.text.length
      window = windowOf(text, byteStart, byteLength)
      parser.write(text)
    },
    end(): XmlTree {
      parser.close()
      return tree
    }
  }
}

/** Index of the `<` of a tag whose name ends one character before `index`, or two where these are a line end. */
function tagStart(text: string, index: number, name: string): number {
  const start = index - name.length - 2
  return text.charCodeAt(start) === TAG_START ? start : start - 1
}

/** Index of the text after the last tag before `index`. It is in the window, since windows end with tags. */
function textStart(text: string, index: number): number {
  let start = text.lastIndexOf('>', index - 2) + 1
  while (start < index - 1 && isBlank(text[start])) start++
  return start
}

function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 32) return false
  return true
}

/** A window of text. `offsetOf` maps an index to its byte offset; from call to call, indices must not get smaller. */
function windowOf(
  text: string,
  byteStart: number,
  byteLength: number
): { text: string; offsetOf: (index: number) => number } {
  if (text.length === byteLength) return { text, offsetOf: index => byteStart + index }
  let unit = 0
  let byte = byteStart
  return {
    text,
    offsetOf: index => {
      for (; unit < index && unit < text.length; unit++) {
        const code = text.charCodeAt(unit)
        byte += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3
      }
      return byte
    }
  }
}
