import { fail } from '../errors.ts'
import { requireText } from '../tensor/given.ts'

/**
 * A JSON document whose integers are exact: a literal is a bigint where it is an integer, and a number where it has a
 * fraction or an exponent or is `-0`. Objects have no prototype.
 */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json }

export const isJsonObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Integers of more digits are read as floats, since no integer type holds them. */
const MAX_DIGITS = 20
const MAX_DEPTH = 128

/**
 * Parses JSON (RFC 8259) and keeps 64-bit integers exact.
 * @throws NodewiseError `invalid-file` with line and column, for syntax errors, a key given twice, and nesting deeper
 *   than 128; `bad-usage` for what is no text
 */
export function parseJsonExact(text: string): Json {
  requireText(text)
  const parser = new Parser(text)
  const value = parser.value(0)
  parser.end()
  return value
}

/**
 * The document as JSON text. Bigints are written as integers, -0 as `-0`, and NaN and infinities as the strings "NaN",
 * "Infinity" and "-Infinity", which `tensorFromJson` reads.
 * @param indent blanks for each level; without it the text is one line. Arrays without objects are always one line.
 * @throws NodewiseError `limit-exceeded` where the text is longer than a string can be
 */
export function stringifyExact(value: Json, indent?: number): string {
  try {
    return written(value, indent, '')
  } catch (error) {
    if (error instanceof RangeError) fail('limit-exceeded', 'the values are too many for one JSON text')
    throw error
  }
}

function written(value: Json, indent: number | undefined, margin: string): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number')
    return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? String(value) : `"${value}"`
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (indent !== undefined && Array.isArray(value) && !value.some(isJsonObject)) return written(value, undefined, '')
  const inner = margin + ' '.repeat(indent ?? 0)
  const colon = indent === undefined ? ':' : ': '
  const parts = isJsonObject(value)
    ? Object.entries(value).map(([key, item]) => `${quoted(key)}${colon}${written(item, indent, inner)}`)
    : value.map(item => written(item, indent, inner))
  const [open, close] = isJsonObject(value) ? ['{', '}'] : ['[', ']']
  if (indent === undefined || parts.length === 0) return open + parts.join(',') + close
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`
}

/**
 * Characters that `JSON.stringify` leaves unescaped, but that a terminal might act upon: controls beyond ASCII, line
 * separators, and marks of writing direction.
 */
const TERMINAL_CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text of which nothing is escaped, as most are. */
const PLAIN = /^[ !#-[\]-~]*$/

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : escaped(text))

const escaped = (text: string): string =>
  JSON.stringify(text).replace(TERMINAL_CONTROLS, character =>
    [...Array(character.length).keys()].map(i => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')
  )

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const BLANKS = /[ \t\n\r]*/y
const WORD = /[A-Za-z]+/y

class Parser {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  value(depth: number): Json {
    if (depth > MAX_DEPTH) this.broken(`it is nested deeper than ${MAX_DEPTH} levels`)
    this.skipBlanks()
    const first = this.text[this.at]
    if (first === '[') return this.array(depth)
    if (first === '{') return this.object(depth)
    if (first === '"') return this.string()
    if (first === '-' || (first >= '0' && first <= '9')) return this.number()
    return this.word()
  }

  end(): void {
    this.skipBlanks()
    if (this.at < this.text.length) this.broken('text follows its end')
  }

  private array(depth: number): Json[] {
    const items: Json[] = []
    this.at++
    if (this.accept(']')) return items
    do items.push(this.value(depth + 1))
    while (this.accept(','))
    if (!this.accept(']')) this.broken('"," or "]" is missing')
    return items
  }

  private object(depth: number): Json {
    const object: Record<string, Json> = Object.create(null) as Record<string, Json>
    this.at++
    if (this.accept('}')) return object
    do {
      this.skipBlanks()
      if (this.text[this.at] !== '"') this.broken('a key in double quotes is missing')
      const key = this.string()
      if (key in object) this.broken(`the key ${JSON.stringify(key)} is given twice`)
      if (!this.accept(':')) this.broken('":" is missing')
      object[key] = this.value(depth + 1)
    } while (this.accept(','))
    if (!this.accept('}')) this.broken('"," or "}" is missing')
    return object
  }

  private string(): string {
    let end = this.at + 1
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1
    try {
      const value = JSON.parse(this.text.slice(this.at, end + 1)) as string
      this.at = end + 1
      return value
    } catch {
      this.broken('a string is not closed or has a character that must be escaped')
    }
  }

  private number(): number | bigint {
    NUMBER.lastIndex = this.at
    const found = NUMBER.exec(this.text)
    if (found === null) this.broken('a number is malformed')
    const [literal, fraction, exponent] = found
    this.at += literal.length
    if (/[\w.]/.test(this.text[this.at] ?? '')) this.broken('a number is malformed')
    const isInteger =
      fraction === undefined && exponent === undefined && literal !== '-0' && literal.length <= MAX_DIGITS + 1
    return isInteger ? BigInt(literal) : Number(literal)
  }

  private word(): null | boolean {
    WORD.lastIndex = this.at
    const word = WORD.exec(this.text)?.[0] ?? ''
    if (word === 'true' || word === 'false' || word === 'null') {
      this.at += word.length
      return word === 'null' ? null : word === 'true'
    }
    if (/^(nan|inf|infinity)$/i.test(word))
      this.broken('NaN and infinities are written "NaN", "Infinity" and "-Infinity"')
    this.broken(this.at < this.text.length ? 'a value is missing' : 'it ends too early')
  }

  private accept(mark: string): boolean {
    this.skipBlanks()
    if (this.text[this.at] !== mark) return false
    this.at++
    return true
  }

  private skipBlanks(): void {
    BLANKS.lastIndex = this.at
    BLANKS.exec(this.text)
    this.at = BLANKS.lastIndex
  }

  private broken(what: string): never {
    const before = this.text.slice(0, this.at).split('\n')
    fail('invalid-file', `not JSON: ${what} (line ${before.length}, column ${before[before.length - 1].length + 1})`)
  }
}
