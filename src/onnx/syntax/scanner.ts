import { NodewiseError } from '../../errors.ts'
import type { Position } from './positions.ts'

/** A literal of the text format: a number as it is written, or a text without its quotes. */
export interface Literal {
  readonly kind: 'int' | 'float' | 'string'
  readonly text: string
}

/** The least and the greatest that a whole number may be. */
export type Bounds = readonly [least: bigint, most: bigint]

export const INT64: Bounds = [-(2n ** 63n), 2n ** 63n - 1n]

const SPACE = /[ \t\n\v\f\r]*(?:#[^\n]*[ \t\n\v\f\r]*)*/y
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y
const QUOTED = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"/y
/** As `ParserBase::Parse(Literal&)` of ONNX: an exponent, or a point, makes a float. */
const NUMBER = /-?\d+(\.\d*)?([eE][+-]?\d+)?/y
const SPECIAL = /-?(?:infinity|inf|nan)(?![A-Za-z0-9_])/iy

/** Reads the text format token by token (onnx/defs/parser.h). Blanks and comments (`# …`) may stand between tokens. */
export class Scanner {
  readonly #text: string
  #at = 0
  /** The line that was last asked for, and where it starts. */
  #line = 1
  #lineStart = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Whether nothing but blanks is left. */
  get isAtEnd(): boolean {
    this.#skip()
    return this.#at === this.#text.length
  }

  /** The next character; empty at the end. */
  get next(): string {
    this.#skip()
    return this.#text.charAt(this.#at)
  }

  /** Where the next token stands; asked for in the order of the text, since only what lies between is looked at. */
  get position(): Position {
    this.#skip()
    for (let end: number; (end = this.#text.indexOf('\n', this.#lineStart)) >= 0 && end < this.#at; this.#line++)
      this.#lineStart = end + 1
    return { line: this.#line, column: this.#at - this.#lineStart + 1 }
  }

  /** Takes a text where it is next. */
  takes(text: string): boolean {
    this.#skip()
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  expect(text: string): void {
    if (!this.takes(text)) this.fail(`${JSON.stringify(text)} is expected`)
  }

  /** The identifier that is next, without taking it; empty where there is none. */
  get word(): string {
    this.#skip()
    return this.#match(IDENTIFIER)?.[0] ?? ''
  }

  /** Whether a word that is next is followed by what the pattern matches. */
  follows(word: string, pattern: RegExp): boolean {
    return pattern.test(this.#text.slice(this.#at + word.length, this.#at + word.length + 100))
  }

  identifier(): string {
    const found = this.word
    if (found === '') this.fail('a name is expected')
    this.#at += found.length
    return found
  }

  /** An identifier, or any text in quotes. */
  name(): string {
    return this.next === '"' ? this.quoted() : this.identifier()
  }

  quoted(): string {
    this.#skip()
    const found = this.#match(QUOTED) ?? this.fail('a text in quotes is expected')
    this.#at += found[0].length
    return found[1].replace(/\\([\s\S])/g, '$1')
  }

  /** Names joined by points: `ai.onnx.ml`. */
  qualified(): string {
    let name = this.identifier()
    while (this.takes('.')) name += `.${this.identifier()}`
    return name
  }

  literal(): Literal {
    if (this.next === '"') return { kind: 'string', text: this.quoted() }
    const special = this.#match(SPECIAL)
    const found = special ?? this.#match(NUMBER) ?? this.fail('a value is expected')
    this.#at += found[0].length
    const isFloat = special !== undefined || found[1] !== undefined || found[2] !== undefined
    return { kind: isFloat ? 'float' : 'int', text: found[0] }
  }

  /** Whether a word is next that is a float: `inf`, `nan`. */
  get isSpecialFloat(): boolean {
    this.#skip()
    return this.#match(SPECIAL) !== undefined
  }

  integer(bounds = INT64): bigint {
    const { kind, text } = this.literal()
    return kind === 'int' ? this.within(bounds, text) : this.fail(`${text} is no whole number`)
  }

  /** The integer that a literal stands for. */
  within([least, most]: Bounds, text: string): bigint {
    const value = BigInt(text)
    return value >= least && value <= most ? value : this.fail(`${text} is not from ${least} to ${most}`)
  }

  number(): number {
    const { kind, text } = this.literal()
    return kind === 'string' ? this.fail('a number is expected') : numberOf(text)
  }

  /** Reads items between commas, up to `close`, which is taken. */
  list(close: string, item: () => void): void {
    if (this.takes(close)) return
    do item()
    while (this.takes(','))
    this.expect(close)
  }

  fail(message: string): never {
    const before = this.#text.slice(0, this.#at)
    const line = before.split('\n').length
    const column = this.#at - before.lastIndexOf('\n')
    throw new NodewiseError('invalid-file', message, { line, column })
  }

  #skip(): void {
    const found = this.#match(SPACE)
    if (found) this.#at += found[0].length
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text) ?? undefined
  }
}

/** The number that a literal stands for. */
export function numberOf(text: string): number {
  const special = /^(-?)(?:(nan)|inf(?:inity)?)$/i.exec(text)
  if (special === null) return Number(text)
  return special[2] === undefined ? (special[1] === '-' ? -Infinity : Infinity) : NaN
}
