import { fail } from '../../errors.ts'
import { ints } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'
import { type Assertion, parseRegex, type Regex } from './regex-parse.ts'
import { type CharSet, NEWLINE, PERL_SETS } from './regex-sets.ts'

/** One state of the automaton; `next`, `first` and `second` are indices of states. */
type State =
  | { readonly kind: 'char'; readonly set: CharSet; readonly next: number }
  | { readonly kind: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'split'; first: number; readonly second: number }
  | { readonly kind: 'end' }

/** A pattern as a nondeterministic finite automaton (Thompson's construction). State 0 accepts. */
export interface Automaton {
  readonly states: readonly State[]
  readonly start: number
}

const MAX_STATES = 100_000
/** Characters that are read between two looks at the time. */
const BLOCK = 4096
/** Nanoseconds for visiting one state. */
export const STATE_COST = COST.element

/**
 * Compiles a pattern in RE2's syntax.
 * @throws NodewiseError `unknown-attribute-value` for a pattern outside RE2's syntax, `limit-exceeded` for one that
 *   needs more than 100,000 states
 */
export function compileRegex(pattern: string): Automaton {
  const states: State[] = [{ kind: 'end' }]
  return { start: build(parseRegex(pattern), 0, states), states }
}

function add(states: State[], state: State): number {
  if (states.length >= MAX_STATES) fail('limit-exceeded', `the pattern unfolds to more than ${MAX_STATES} states`)
  return states.push(state) - 1
}

/**
 * Adds the states of an expression; after it, the automaton goes on at state `next`.
 * @returns the state where the expression starts
 */
function build(regex: Regex, next: number, states: State[]): number {
  switch (regex.kind) {
    case 'chars':
      return add(states, { kind: 'char', set: regex.set, next })
    case 'assertion':
      return add(states, { kind: 'assert', what: regex.what, next })
    case 'sequence':
      return regex.parts.reduceRight((after, part) => build(part, after, states), next)
    case 'choice':
      return regex.parts
        .map(part => build(part, next, states))
        .reduceRight((second, first) => add(states, { kind: 'split', first, second }))
    case 'repeat':
      return buildRepeat(regex.part, regex.min, regex.max, next, states)
  }
}

function buildRepeat(part: Regex, min: number, max: number, next: number, states: State[]): number {
  let start = next
  let needed = min
  if (max === Infinity) {
    const loop: State = { kind: 'split', first: 0, second: next }
    const at = add(states, loop)
    loop.first = build(part, at, states)
    // The first pass through the loop is the last of the `min` repetitions.
    start = min > 0 ? loop.first : at
    needed = Math.max(0, min - 1)
  } else
    for (let i = min; i < max; i++)
      start = add(states, { kind: 'split', first: build(part, start, states), second: start })
  for (let i = 0; i < needed; i++) start = build(part, start, states)
  return start
}

/**
 * Whether the whole text matches. All paths through the automaton are followed at once, so the time is at most
 * proportional to the length of the text times the number of states, whatever the pattern.
 */
export function* matchesWhole({ states, start }: Automaton, text: string, pace: Pace): Generator<void, boolean> {
  const codes = yield* codePoints(text, pace)
  const seenAt = new Int32Array(states.length).fill(-1)
  let current = [start]
  if (pace.isDue(states.length * COST.copy)) yield
  for (let at = 0; at <= codes.length; at++) {
    const reached: number[] = []
    const visits = follow(states, current, reached, seenAt, codes, at)
    if (pace.isDue(visits * STATE_COST)) yield
    if (at === codes.length) return reached.includes(0)
    current = []
    for (const index of reached) {
      const state = states[index]
      if (state.kind === 'char' && state.set(codes[at])) current.push(state.next)
    }
    if (current.length === 0) return false
  }
  return false
}

/** The code points of a text; an unpaired surrogate is one of its own. */
export function* codePoints(text: string, pace: Pace): Generator<void, ArrayLike<number>> {
  const codes = ints(text.length)
  let count = 0
  for (let at = 0; at < text.length;) {
    const from = at
    for (const to = at + BLOCK; at < to && at < text.length; at++) {
      const code = text.codePointAt(at) as number
      codes[count++] = code
      if (code > 0xffff) at++
    }
    if (pace.isDue((at - from) * COST.copy)) yield
  }
  return count === text.length ? codes : codes.subarray(0, count)
}

/**
 * Adds to `reached` every state that can be reached from `current` without taking a character, each once.
 * @param seenAt for each state the last position at which it was visited
 * @returns the number of visits
 */
export function follow(
  states: readonly State[],
  current: readonly number[],
  reached: number[],
  seenAt: Int32Array,
  codes: ArrayLike<number>,
  at: number
): number {
  const open = [...current]
  let visits = 0
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    visits++
    if (seenAt[index] === at) continue
    seenAt[index] = at
    const state = states[index]
    if (state.kind === 'split') open.push(state.first, state.second)
    else if (state.kind !== 'assert') reached.push(index)
    else if (holds(state.what, codes, at)) open.push(state.next)
  }
  return visits
}

/** Whether an assertion holds before the character at `at`. */
function holds(what: Assertion, codes: ArrayLike<number>, at: number): boolean {
  const atBegin = at === 0
  const atEnd = at === codes.length
  switch (what) {
    case 'text-begin':
      return atBegin
    case 'text-end':
      return atEnd
    case 'line-begin':
      return atBegin || codes[at - 1] === NEWLINE
    case 'line-end':
      return atEnd || codes[at] === NEWLINE
    case 'word-boundary':
      return isWord(codes, at - 1) !== isWord(codes, at)
    case 'no-word-boundary':
      return isWord(codes, at - 1) === isWord(codes, at)
  }
}

const isWord = (codes: ArrayLike<number>, at: number): boolean => at >= 0 && at < codes.length && PERL_SETS.w(codes[at])
