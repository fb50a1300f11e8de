import { fail } from './errors.ts'

/** Letters of a word that may be wrong, for each letter that it has. */
const TOLERANCE = 0.35
/** Words that are longer are not compared: what is compared grows with the square of the length. */
const MAX_LENGTH = 100

/**
 * `; did you mean "axis"?` where one of the words that exist is near to the one that was given, else nothing. Case does
 * not count.
 */
export function didYouMean(given: string, words: Iterable<string>): string {
  let best: string | undefined
  let least = Math.max(1, Math.floor(given.length * TOLERANCE)) + 1
  for (const word of words) {
    if (Math.abs(word.length - given.length) >= least || word === '' || word.length > MAX_LENGTH) continue
    const distance = editDistance(given.toLowerCase(), word.toLowerCase())
    if (distance < least && distance < word.length) [best, least] = [word, distance]
  }
  return best === undefined ? '' : `; did you mean ${JSON.stringify(best)}?`
}

/**
 * Options that come from JavaScript may be anything.
 * @throws NodewiseError `bad-usage` for what is no object
 */
export function requireOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null)
    fail('bad-usage', `options are an object, not ${typeof options === 'object' ? 'null' : typeof options}`)
}

/**
 * A program that gives the controller in place of its signal would wait for an end that never comes. Signals of another
 * realm, or of a program's own making, will do, and so does null, as it does for `fetch`.
 * @throws NodewiseError `bad-usage` for what is no signal
 */
export function requireSignal(signal: unknown): void {
  if (signal === undefined || signal === null) return
  if (typeof signal === 'object' && 'aborted' in signal && typeof signal.aborted === 'boolean') return
  const hint = signal instanceof AbortController ? '; give the `signal` of the AbortController' : ''
  fail(
    'bad-usage',
    `signal is an AbortSignal, not ${typeof signal === 'object' ? 'another object' : typeof signal}${hint}`
  )
}

/**
 * Options parted into the operators of the caller's own and the rest, for whatever takes both.
 * @throws NodewiseError `bad-usage` for what is no object
 */
export function withoutOps<O extends { readonly ops?: unknown }>(options: O): [ops: O['ops'], rest: Omit<O, 'ops'>] {
  requireOptions(options)
  const { ops, ...rest } = options
  return [ops, rest]
}

/**
 * Options that come from JavaScript may have names that no type has checked.
 * @throws NodewiseError `bad-usage` for an option that is set and is none of those that are known
 */
export function refuseUnknownOptions(options: object, known: ReadonlySet<string>): void {
  requireOptions(options)
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && !known.has(name))
      fail('bad-usage', `there is no option "${name}"${didYouMean(name, known)}`)
}

/** Optimal string alignment: letters put in, left out, changed, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, changed)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1)
    }
    ;[before, last] = [last, row]
  }
  return last[b.length]
}
