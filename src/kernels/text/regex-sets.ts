/** A set of characters, by their code points. */
export type CharSet = (code: number) => boolean

export const single =
  (wanted: number): CharSet =>
  code =>
    code === wanted
export const range =
  (low: number, high: number): CharSet =>
  code =>
    code >= low && code <= high
export const complement =
  (set: CharSet): CharSet =>
  code =>
    !set(code)
export const union = (sets: readonly CharSet[]): CharSet =>
  sets.length === 1 ? sets[0] : code => sets.some(set => set(code))

export const ANY: CharSet = () => true
export const NEWLINE = 10

/** Sets given by the characters in a bracket expression of JavaScript. */
const matching = (source: string): CharSet => {
  const pattern = new RegExp(`^[${source}]$`, 'u')
  return code => pattern.test(String.fromCodePoint(code))
}

/** ASCII only, whatever the text; vertical tab is no `\s`. */
export const PERL_SETS: Readonly<Record<string, CharSet>> = {
  d: range(48, 57),
  s: matching('\\t\\n\\f\\r '),
  w: matching('0-9A-Za-z_')
}

/** What `[:name:]` stands for. */
export const POSIX_SETS: Readonly<Record<string, CharSet>> = {
  alnum: matching('0-9A-Za-z'),
  alpha: matching('A-Za-z'),
  ascii: range(0, 127),
  blank: matching('\\t '),
  cntrl: matching('\\x00-\\x1f\\x7f'),
  digit: range(48, 57),
  graph: range(33, 126),
  lower: range(97, 122),
  print: range(32, 126),
  punct: matching('!-\\/:-@\\[-`\\{-~'),
  space: matching('\\t-\\r '),
  upper: range(65, 90),
  word: matching('0-9A-Za-z_'),
  xdigit: matching('0-9A-Fa-f')
}

/** Characters of the category C as RE2 counts them: Unicode's has those that are not assigned, too. */
const OTHER = '\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}'
/** Categories of Unicode that RE2 does not have: characters that are not assigned, and letters with case. */
const UNKNOWN_CATEGORIES = new Set(['Cn', 'LC'])

/**
 * A Unicode general category of one or two letters, a script or `Any`; undefined when RE2 has none of that name.
 */
export function unicodeSet(name: string): CharSet | undefined {
  if (name === 'Any') return ANY
  if (name === 'C') return matching(OTHER)
  if (!/^[A-Za-z_]+$/.test(name) || UNKNOWN_CATEGORIES.has(name)) return undefined
  try {
    // Yi is the only script whose name is as short as that of a category.
    return matching(name.length <= 2 && name !== 'Yi' ? `\\p{General_Category=${name}}` : `\\p{Script=${name}}`)
  } catch {
    return undefined
  }
}

let variants: Map<number, readonly number[]> | undefined

/** The set with all characters that differ from one of its own in case only, by simple case folding. */
export function foldCase(set: CharSet): CharSet {
  variants ??= caseVariants()
  const others = variants
  return code => set(code) || (others.get(code)?.some(set) ?? false)
}

/** Planes that have letters with case. */
const CASED_END = 0x20000
/** Dotted and dotless i fold by special rules only. */
const TURKISH = new Set([0x130, 0x131])

function caseVariants(): Map<number, readonly number[]> {
  const groups = new Map<number, number[]>()
  for (let code = 0; code < CASED_END; code++) {
    if (TURKISH.has(code)) continue
    const folded = changed(changed(code, 'toUpperCase'), 'toLowerCase')
    const group = groups.get(folded)
    if (group) group.push(code)
    else groups.set(folded, [code])
  }
  return new Map(
    [...groups.values()].filter(({ length }) => length > 1).flatMap(group => group.map(code => [code, group]))
  )
}

/** The character in the other case where that is one character. */
function changed(code: number, how: 'toUpperCase' | 'toLowerCase'): number {
  const text = String.fromCodePoint(code)[how]()
  const result = text.codePointAt(0) ?? code
  return text.length === (result > 0xffff ? 2 : 1) ? result : code
}
