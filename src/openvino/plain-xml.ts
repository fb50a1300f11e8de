import { type Element, XmlTree } from './tree.ts'
import { type Bounds, keepWithin } from './xml-bounds.ts'

const TAB = 0x09
const FEED = 0x0a
const RETURN = 0x0d
const BLANK = 0x20
const AMPERSAND = 0x26
const SLASH = 0x2f
const LESS = 0x3c
const EQUALS = 0x3d
const GREATER = 0x3e
const BRACKET = 0x5d

const HEAD = /^<\?xml version="1\.0"(?: encoding="[A-Za-z][\w.-]*")?(?: standalone="(?:yes|no)")? ?\?>/

/** ASCII characters that may start a name, and those that may follow: 1 at their codes. */
const NAME_START = codesOf(/[A-Za-z_]/)
const NAME_CHARACTER = codesOf(/[\w.-]/)

function codesOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(code < 0x80 && pattern.test(String.fromCharCode(code))))
}

/** Maximum of attributes in a tag: each is compared with all before it to find duplicates, which is quadratic. */
const MAX_ATTRIBUTES = 64

/**
 * Reads XML in the form in which programs write it: tags, attributes, and text of one byte a character. At anything
 * else (comments, entities, line ends in values, possible faults) it stops, and the strict reader of `xml.ts` starts
 * from the beginning. It gives the same tree as the strict reader, several times as fast.
 */
export class PlainXmlReader {
  readonly tree = new XmlTree()
  private readonly open: Element[] = []
  private readonly bounds: Bounds

  constructor(bounds: Bounds) {
    this.bounds = bounds
  }

  /** Whether there is a root element and all elements are closed. */
  get isWhole(): boolean {
    return this.open.length === 0 && this.tree.size > 0
  }

  /** Reads the next piece of the file, which starts at byte `start`. Returns false where it stops. */
  read(text: string, start: number): boolean {
    let at = this.tree.size === 0 ? (HEAD.exec(text)?.[0].length ?? 0) : 0
    while (at < text.length) {
      const tag = text.indexOf('<', at)
      const end = tag < 0 ? text.length : tag
      if (end > at && !this.readText(text, at, end, tag < 0)) return false
      if (tag < 0) return true
      at = text.charCodeAt(tag + 1) === SLASH ? this.close(text, tag + 2) : this.start(text, tag, start)
      if (at < 0) return false
    }
    return true
  }

  /** Adds text between tags. Returns false where it stops, also at text that the end of the piece cuts. */
  private readText(text: string, from: number, to: number, isCut: boolean): boolean {
    let isBlank = true
    let hasReturn = false
    for (let i = from; i < to; i++) {
      const code = text.charCodeAt(i)
      if (code > BLANK) {
        if (code === AMPERSAND || code === BRACKET) return false
        isBlank = false
      } else if (code === RETURN) hasReturn = true
      else if (code !== BLANK && code !== FEED && code !== TAB) return false
    }
    if (isBlank) return true
    if (isCut || hasReturn || this.open.length === 0) return false
    this.tree.addText(this.open[this.open.length - 1], text.slice(from, to))
    return true
  }

  /** Reads a closing tag from its name on. Returns the index after the tag, or -1 where it stops. */
  private close(text: string, from: number): number {
    const element = this.open.pop()
    if (element === undefined) return -1
    const name = this.tree.name(element)
    const end = from + name.length
    if (!text.startsWith(name, from) || text.charCodeAt(end) !== GREATER) return -1
    this.tree.close(element)
    return end + 1
  }

  /** Reads an opening tag. Returns the index after the tag, or -1 where it stops. */
  private start(text: string, tag: number, pieceStart: number): number {
    const { tree, open } = this
    const isSecondRoot = open.length === 0 && tree.size > 0
    let at = nameEnd(text, tag + 1)
    if (at < 0 || isSecondRoot || !endsName(text.charCodeAt(at))) return -1
    // The strict reader would come to the same element.
    keepWithin(this.bounds, open.length, tree.size, pieceStart + tag)
    const element = tree.open(text.slice(tag + 1, at), pieceStart + tag)
    for (let attributes = 0; attributes <= MAX_ATTRIBUTES; attributes++) {
      const afterBlanks = skipBlanks(text, at)
      const code = text.charCodeAt(afterBlanks)
      if (code === GREATER) {
        open.push(element)
        return afterBlanks + 1
      }
      if (code === SLASH) {
        tree.close(element)
        return text.charCodeAt(afterBlanks + 1) === GREATER ? afterBlanks + 2 : -1
      }
      if (afterBlanks === at) return -1
      at = this.attribute(text, afterBlanks, element)
      if (at < 0) return -1
    }
    return -1
  }

  /** Reads an attribute. Returns the index after it, or -1 where it stops. */
  private attribute(text: string, from: number, element: Element): number {
    const end = nameEnd(text, from)
    if (end < 0 || text.charCodeAt(end) !== EQUALS) return -1
    const quote = text[end + 1]
    if (quote !== '"' && quote !== "'") return -1
    const close = text.indexOf(quote, end + 2)
    for (let i = end + 2; i < close; i++) {
      const code = text.charCodeAt(i)
      if (code < BLANK || code === AMPERSAND || code === LESS) return -1
    }
    const name = text.slice(from, end)
    if (close < 0 || this.tree.attribute(element, name) !== undefined) return -1
    this.tree.addAttribute(name, text.slice(end + 2, close))
    return close + 1
  }
}

/** Index after the name that starts at `from`; -1 where none does. */
function nameEnd(text: string, from: number): number {
  if (NAME_START[text.charCodeAt(from)] !== 1) return -1
  let end = from + 1
  while (NAME_CHARACTER[text.charCodeAt(end)] === 1) end++
  return end
}

/** Whether a tag's name ends before a character. */
const endsName = (code: number): boolean => code === GREATER || code === SLASH || isSpace(code)

const isSpace = (code: number): boolean => code === BLANK || code === FEED || code === TAB || code === RETURN

function skipBlanks(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}
