import { fail } from '../../errors.ts'
import {
  ANY,
  type CharSet,
  complement,
  foldCase,
  NEWLINE,
  PERL_SETS,
  POSIX_SETS,
  range,
  single,
  unicodeSet,
  union
} from './regex-sets.ts'

/** A condition on a position between two characters. */
export type Assertion = 'text-begin' | 'text-end' | 'line-begin' | 'line-end' | 'word-boundary' | 'no-word-boundary'

/**
 * The syntax tree of a regular expression. Groups and greediness are left out: they do not decide whether a text
 * matches.
 */
export type Regex =
  | { readonly kind: 'chars'; readonly set: CharSet }
  | { readonly kind: 'assertion'; readonly what: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Regex[] }
  | { readonly kind: 'choice'; readonly parts: readonly Regex[] }
  | { readonly kind: 'repeat'; readonly part: Regex; readonly min: number; readonly max: number }

/** The flags i, m and s of `(?ims)`. */
interface Flags {
  readonly fold: boolean
  readonly lines: boolean
  readonly dotAll: boolean
}

interface Parser {
  readonly pattern: string
  /** The pattern, one code point each. */
  readonly chars: readonly string[]
  at: number
  flags: Flags
}

/** RE2 refuses a count, and a product of nested counts, above this limit. */
const MAX_REPEATS = 1000
const MAX_DEPTH = 1000

/**
 * Parses a pattern in RE2's syntax (github.com/google/re2/wiki/Syntax) with RE2's default options. `\C`, which matches
 * a single byte, is refused, since text is matched by characters here.
 * @throws NodewiseError `unknown-attribute-value` saying what is wrong and where
 */
export function parseRegex(pattern: string): Regex {
  const parser: Parser = { pattern, chars: [...pattern], at: 0, flags: { fold: false, lines: false, dotAll: false } }
  const regex = parseChoice(parser, 0)
  if (parser.at < parser.chars.length) wrong(parser, 'unexpected )')
  if (repeatsOf(regex) > MAX_REPEATS) wrong(parser, `nested repetitions of more than ${MAX_REPEATS}`)
  return regex
}

function wrong({ pattern, at }: Parser, what: string): never {
  fail(
    'unknown-attribute-value',
    `the pattern ${JSON.stringify(pattern)} is no regular expression of RE2: ${what} at character ${at}`
  )
}

/** The largest product of nested repetition counts. */
function repeatsOf(regex: Regex): number {
  if (regex.kind === 'repeat') {
    const count = Number.isFinite(regex.max) ? regex.max : regex.min
    return Math.max(1, count) * repeatsOf(regex.part)
  }
  return regex.kind === 'sequence' || regex.kind === 'choice'
    ? regex.parts.reduce((max, part) => Math.max(max, repeatsOf(part)), 1)
    : 1
}

const isNext = ({ chars, at }: Parser, text: string): boolean => [...text].every((char, i) => chars[at + i] === char)

function take(parser: Parser, text: string): boolean {
  if (!isNext(parser, text)) return false
  parser.at += text.length
  return true
}

/** Takes the characters up to `end` and `end` itself; undefined, and nothing taken, where `end` is missing. */
function takeUntil(parser: Parser, end: string): string | undefined {
  const start = parser.at
  while (parser.at < parser.chars.length && !isNext(parser, end)) parser.at++
  if (take(parser, end)) return parser.chars.slice(start, parser.at - end.length).join('')
  parser.at = start
  return undefined
}

function parseChoice(parser: Parser, depth: number): Regex {
  if (depth > MAX_DEPTH) wrong(parser, `more than ${MAX_DEPTH} nested groups`)
  const parts = [parseSequence(parser, depth)]
  while (take(parser, '|')) parts.push(parseSequence(parser, depth))
  return parts.length === 1 ? parts[0] : { kind: 'choice', parts }
}

function parseSequence(parser: Parser, depth: number): Regex {
  const parts: Regex[] = []
  let afterRepeat = false
  while (parser.at < parser.chars.length && !isNext(parser, '|') && !isNext(parser, ')')) {
    const count = parseCount(parser)
    if (count) {
      const part = parts.pop() ?? wrong(parser, 'a repetition of nothing')
      if (afterRepeat) wrong(parser, 'a repetition of a repetition')
      parts.push({ kind: 'repeat', part, ...count })
    } else for (const item of parseItems(parser, depth)) parts.push(item)
    afterRepeat = count !== undefined
  }
  return parts.length === 1 ? parts[0] : { kind: 'sequence', parts }
}

interface Count {
  readonly min: number
  readonly max: number
}

const SIGNS: Readonly<Record<string, Count>> = {
  '*': { min: 0, max: Infinity },
  '+': { min: 1, max: Infinity },
  '?': { min: 0, max: 1 }
}

/** Takes `*`, `+`, `?`, `{n}`, `{n,}` or `{n,m}`, with or without a lazy `?`; other braces are literal characters. */
function parseCount(parser: Parser): Count | undefined {
  const sign = parser.chars[parser.at]
  let count: Count | undefined
  if (Object.hasOwn(SIGNS, sign)) {
    count = SIGNS[sign]
    parser.at++
  } else if (sign === '{') {
    const braces = /^\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/.exec(parser.chars.slice(parser.at, parser.at + 40).join(''))
    if (!braces) return undefined
    const min = Number(braces[1])
    const max = braces[3] !== undefined ? Number(braces[3]) : braces[2] !== undefined ? Infinity : min
    if (min > max || min > MAX_REPEATS || (Number.isFinite(max) && max > MAX_REPEATS))
      wrong(parser, `the bad repetition ${braces[0]}`)
    count = { min, max }
    parser.at += braces[0].length
  }
  if (count) take(parser, '?')
  return count
}

/** The next item: one expression; several for quoted text; none for a group of flags. */
function parseItems(parser: Parser, depth: number): readonly Regex[] {
  const { flags } = parser
  const char = parser.chars[parser.at]
  switch (char) {
    case '(':
      return parseGroup(parser, depth)
    case '[':
      return [{ kind: 'chars', set: parseClass(parser) }]
    case '\\':
      return parseEscape(parser)
    default:
      parser.at++
  }
  if (char === '.') return [{ kind: 'chars', set: flags.dotAll ? ANY : complement(single(NEWLINE)) }]
  if (char === '^') return [{ kind: 'assertion', what: flags.lines ? 'line-begin' : 'text-begin' }]
  if (char === '$') return [{ kind: 'assertion', what: flags.lines ? 'line-end' : 'text-end' }]
  return [literal(parser, char)]
}

const literal = ({ flags }: Parser, char: string): Regex => ({
  kind: 'chars',
  set: folded(flags, single(char.codePointAt(0) ?? 0))
})

const folded = ({ fold }: Flags, set: CharSet): CharSet => (fold ? foldCase(set) : set)

function parseGroup(parser: Parser, depth: number): readonly Regex[] {
  const before = parser.flags
  parser.at++
  if (take(parser, '?P<') || take(parser, '?<')) {
    const name = takeUntil(parser, '>')
    if (name === undefined || !/^[\p{L}\p{M}\p{N}\p{Pc}]+$/u.test(name)) wrong(parser, 'a bad group name')
  } else if (take(parser, '?') && takeFlags(parser) === ')') return []
  const group = parseChoice(parser, depth + 1)
  if (!take(parser, ')')) wrong(parser, 'a missing )')
  parser.flags = before
  return [group]
}

const FLAG_NAMES: Readonly<Record<string, keyof Flags | undefined>> = {
  i: 'fold',
  m: 'lines',
  s: 'dotAll',
  U: undefined
}

/** Sets the flags up to `:` or `)`, and says which of them came. */
function takeFlags(parser: Parser): string {
  let on = true
  let isEmpty = false
  for (;;) {
    const char = parser.chars[parser.at]
    if (char === ':' || char === ')') {
      if (isEmpty) wrong(parser, 'a - without flags')
      parser.at++
      return char
    }
    if (char === '-' && on) {
      on = false
      isEmpty = true
    } else if (char !== undefined && Object.hasOwn(FLAG_NAMES, char)) {
      const name = FLAG_NAMES[char]
      if (name) parser.flags = { ...parser.flags, [name]: on }
      isEmpty = false
    } else wrong(parser, 'a group of a kind that RE2 does not have')
    parser.at++
  }
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'text-begin',
  z: 'text-end',
  b: 'word-boundary',
  B: 'no-word-boundary'
}

function parseEscape(parser: Parser): readonly Regex[] {
  const next = parser.chars[parser.at + 1]
  if (next !== undefined && Object.hasOwn(ASSERTIONS, next)) {
    parser.at += 2
    return [{ kind: 'assertion', what: ASSERTIONS[next] }]
  }
  if (take(parser, '\\Q')) {
    const rest = parser.chars.slice(parser.at).join('')
    const quoted = takeUntil(parser, '\\E')
    if (quoted === undefined) parser.at = parser.chars.length
    return [...(quoted ?? rest)].map(char => literal(parser, char))
  }
  return [{ kind: 'chars', set: parseNamedSet(parser) ?? folded(parser.flags, single(parseEscapedChar(parser))) }]
}

/** `\d`, `\pN`, `\p{Greek}` and their opposites, if one is next. */
function parseNamedSet(parser: Parser): CharSet | undefined {
  const letter = parser.chars[parser.at] === '\\' ? parser.chars[parser.at + 1] : undefined
  if (letter === undefined) return undefined
  const lower = letter.toLowerCase()
  if (Object.hasOwn(PERL_SETS, lower) && /^[dswDSW]$/.test(letter)) {
    parser.at += 2
    const set = folded(parser.flags, PERL_SETS[lower])
    return letter === lower ? set : complement(set)
  }
  if (lower !== 'p') return undefined
  parser.at += 2
  const spelled = take(parser, '{') ? takeUntil(parser, '}') : parser.chars[parser.at++]
  const isOpposite = spelled?.startsWith('^') ?? false
  const set = unicodeSet(spelled?.slice(isOpposite ? 1 : 0) ?? '')
  if (set === undefined) wrong(parser, `the unknown character class ${spelled ?? ''}`)
  return (letter === 'p') === !isOpposite ? folded(parser.flags, set) : complement(folded(parser.flags, set))
}

const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }

/** Octal, hexadecimal, hexadecimal in braces, anything else. */
const ESCAPED_CHAR = /^\\(?:([1-7][0-7]{1,2}|0[0-7]{0,2})|x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]{1,16})\}|[^])/u

/** The character that a backslash and what follows stand for. */
function parseEscapedChar(parser: Parser): number {
  const rest = parser.chars.slice(parser.at, parser.at + 32).join('')
  const [all, octal, hex, wide] = ESCAPED_CHAR.exec(rest) ?? wrong(parser, 'a trailing \\')
  const [, char] = all
  const code =
    octal !== undefined
      ? parseInt(octal, 8)
      : (hex ?? wide)
        ? parseInt(hex ?? wide, 16)
        : Object.hasOwn(CONTROLS, char)
          ? CONTROLS[char]
          : char < '\x80' && !/[0-9A-Za-z]/.test(char)
            ? char.charCodeAt(0)
            : undefined
  if (code === undefined || code > 0x10ffff) wrong(parser, `the bad escape ${all}`)
  parser.at += [...all].length
  return code
}

function parseClass(parser: Parser): CharSet {
  const sets: CharSet[] = []
  parser.at++
  const isOpposite = take(parser, '^')
  for (let isFirst = true; isFirst || !isNext(parser, ']'); isFirst = false) {
    if (parser.at >= parser.chars.length) wrong(parser, 'a missing ]')
    sets.push(parsePosixSet(parser) ?? parseNamedSet(parser) ?? parseRange(parser))
  }
  parser.at++
  return isOpposite ? complement(union(sets)) : union(sets)
}

/** `[:alpha:]` or `[:^alpha:]`, if one is next. */
function parsePosixSet(parser: Parser): CharSet | undefined {
  const start = parser.at
  const name = take(parser, '[:') ? takeUntil(parser, ':]') : undefined
  if (name === undefined) {
    parser.at = start
    return undefined
  }
  const isOpposite = name.startsWith('^')
  const plain = name.slice(isOpposite ? 1 : 0)
  if (!Object.hasOwn(POSIX_SETS, plain)) wrong(parser, `the unknown character class ${name}`)
  const set = folded(parser.flags, POSIX_SETS[plain])
  return isOpposite ? complement(set) : set
}

function parseRange(parser: Parser): CharSet {
  const low = parseClassChar(parser)
  if (!isNext(parser, '-') || parser.chars[parser.at + 1] === ']') return folded(parser.flags, single(low))
  parser.at++
  const high = parseClassChar(parser)
  if (high < low) wrong(parser, 'a range that ends before it begins')
  return folded(parser.flags, range(low, high))
}

function parseClassChar(parser: Parser): number {
  if (isNext(parser, '\\')) return parseEscapedChar(parser)
  return parser.chars[parser.at++]?.codePointAt(0) ?? wrong(parser, 'a missing ]')
}
