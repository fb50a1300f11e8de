import { fail } from '../../errors.ts'
import type { Element, XmlTree } from '../tree.ts'

/** An attribute of an element: name and value. */
export type Pair = readonly [name: string, value: string | number]

/**
 * Text of an XML file, written from its start to its end in the form of pugixml, with which OpenVINO writes: a line for
 * each tag, indented by tabs. Whoever writes takes the text away in pieces, so the file is never whole in memory. (The
 * builders of the XML packages take a tree of the whole file.)
 */
export class XmlText {
  private parts: string[] = []
  private length = 0
  private depth = 0
  /** Whether the opening tag of the innermost element still lacks its `>`. */
  private isOpen = false
  /** Set where the next tag goes on the same line, since text stands before it. */
  private afterText = false

  constructor() {
    this.add('<?xml version="1.0"?>\n')
  }

  /** Characters that have not been taken. */
  get size(): number {
    return this.length
  }

  /** Returns the text that has not been taken yet, and forgets it. */
  take(): string {
    const text = this.parts.join('')
    this.parts = []
    this.length = 0
    return text
  }

  open(name: string, attributes: Iterable<Pair> = []): void {
    this.startLine()
    this.add(`<${name}`)
    for (const [key, value] of attributes) this.add(` ${key}="${escapeValue(value)}"`)
    this.isOpen = true
    this.depth++
  }

  close(name: string): void {
    this.depth--
    if (this.isOpen) this.add(' />\n')
    else this.add(this.afterText ? `</${name}>\n` : `${'\t'.repeat(this.depth)}</${name}>\n`)
    this.isOpen = false
    this.afterText = false
  }

  /** Text at the start of the innermost element. */
  text(text: string): void {
    if (text === '') return
    this.endTag()
    this.add(escapeText(text))
    this.afterText = true
  }

  /** An element without children, with text or none. */
  leaf(name: string, attributes: Iterable<Pair> = [], text = ''): void {
    this.open(name, attributes)
    this.text(text)
    this.close(name)
  }

  /** An element of a file as it is; `attributes` replace its own where they are given. */
  copy(xml: XmlTree, element: Element, attributes: Iterable<Pair> = xml.attributePairs(element)): void {
    const name = xml.name(element)
    this.open(name, attributes)
    this.text(xml.text(element))
    for (const child of xml.children(element)) this.copy(xml, child)
    this.close(name)
  }

  private startLine(): void {
    if (this.isOpen) this.add('>\n')
    this.isOpen = false
    if (!this.afterText) this.add('\t'.repeat(this.depth))
    this.afterText = false
  }

  private endTag(): void {
    if (this.isOpen) this.add('>')
    this.isOpen = false
  }

  private add(text: string): void {
    this.parts.push(text)
    this.length += text.length
  }
}

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeValue(value: string | number): string {
  if (typeof value === 'number') return String(value)
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!/[&<"\x00-\x1f\ufffe\uffff]/.test(value)) return value
  return value.replace(/[&<"]/g, character => SPECIAL[character]).replace(CONTROL, controlReference)
}

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, character => SPECIAL[character]).replace(CONTROL_OF_TEXT, controlReference)
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\x00-\x1f\ufffe\uffff]/g
/** Line feeds and tabs stay as they are in text; a carriage return would become a line feed. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL_OF_TEXT = /[\x00-\x08\x0b-\x1f\ufffe\uffff]/g

/** The reference to a control character: XML 1.0 knows a tab and line ends only. */
function controlReference(character: string): string {
  const code = character.charCodeAt(0)
  if (code !== 9 && code !== 10 && code !== 13) {
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    fail('value-out-of-range', `a name or attribute holds the character ${name}, which XML cannot hold`)
  }
  return `&#${code};`
}
