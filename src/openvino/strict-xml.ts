import { SaxesParser } from 'saxes'
import type { ErrorCode } from '../errors.ts'
import { type Element, XmlTree } from './tree.ts'
import { type Bounds, keepWithin } from './xml-bounds.ts'

const TAG_START = 0x3c

/** Throws a `NodewiseError` at an offset of the file. */
export type Stop = (code: ErrorCode, message: string, offset: number) => never

/**
 * A reader of XML 1.0 in full, fed window by window: feeds a parser and builds the tree from its events. Apart from
 * what reads plain files, since the parser's expressions take 5 ms to make.
 */
export function strictXmlReader(stop: Stop, bounds: Bounds) {
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
    keepWithin(bounds, open.length, tree.size, offset)
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
