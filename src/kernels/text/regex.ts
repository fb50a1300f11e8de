import { fail } from '../../errors.ts'
import type { OldPace as Pace } from '../matrix/gemm.ts'
import { type Assertion, parseRegex, type Regex } from './regex-parse.ts'
import { type CharSet, NEWLINE, PERL_SETS } from './regex-sets.ts'

/** One step of an automaton; numbers are places in the program. */
type Step =
  | { readonly kind: 'char'; readonly set: CharSet; readonly next: number }
  | { readonly kind: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'split'; first: number; readonly second: number }
  | { readonly kind: 'end' }

/** A pattern as an automaton; see {@link matchesWhole}. */
export interface Program {
  readonly steps: readonly Step[]
  readonly start: number
}

const MAX_PROGRAM = 100_000
/** Steps between two yields: a few milliseconds. */
const WORK_PER_YIELD = 1 << 18

/**
 * @throws NodewiseError `unknown-attribute-value` for a pattern that RE2's syntax does not have, `limit-exceeded` for
 *   one that unfolds to
 *   more than 100,000 steps
 */
export function compileRegex(pattern: string): Program {
  const steps: Step[] = [{ kind: 'end' }]
  return { start: build(parseRegex(pattern), 0, steps), steps }
}

function add(steps: Step[], step: Step): number {
  if (steps.length >= MAX_PROGRAM) fail('limit-exceeded', `the pattern unfolds to more than ${MAX_PROGRAM} steps`)
  return steps.push(step) - 1
}

/** Adds the steps of an expression before those at `next`; the place where it starts. */
function build(regex: Regex, next: number, steps: Step[]): number {
  switch (regex.kind) {
    case 'chars':
      return add(steps, { kind: 'char', set: regex.set, next })
    case 'assertion':
      return add(steps, { kind: 'assert', what: regex.what, next })
    case 'sequence':
      return regex.parts.reduceRight((after, part) => build(part, after, steps), next)
    case 'choice':
      return regex.parts
        .map(part => build(part, next, steps))
        .reduceRight((second, first) => add(steps, { kind: 'split', first, second }))
    case 'repeat':
      return buildRepeat(regex.part, regex.min, regex.max, next, steps)
  }
}

function buildRepeat(part: Regex, min: number, max: number, next: number, steps: Step[]): number {
  let start = next
  let needed = min
  if (max === Infinity) {
    const loop: Step = { kind: 'split', first: 0, second: next }
    const at = add(steps, loop)
    loop.first = build(part, at, steps)
    // The loop itself serves as the last of the needed ones.
    start = min > 0 ? loop.first : at
    needed = Math.max(0, min - 1)
  } else
    for (let i = min; i < max; i++)
      start = add(steps, { kind: 'split', first: build(part, start, steps), second: start })
  for (let i = 0; i < needed; i++) start = build(part, start, steps)
  return start
}

/**
 * Whether the whole text matches: all ways through the automaton at once, so that the time grows with text and pattern
 * only and no pattern
 * hangs. Yields every few milliseconds.
 * @param pace counts the work of many texts
 */
export function* matchesWhole({ steps, start }: Program, text: string, pace: Pace): Generator<void, boolean> {
  const codes = yield* codePoints(text)
  const seen = new Int32Array(steps.length).fill(-1)
  let places = [start]
  pace.work += steps.length
  for (let at = 0; at <= codes.length; at++) {
    const alive = closure(steps, places, seen, codes, at, pace)
    if (pace.work >= WORK_PER_YIELD) {
      pace.work = 0
      yield
    }
    if (at === codes.length) return alive.includes(0)
    places = []
    for (const place of alive) {
      const step = steps[place]
      if (step.kind === 'char' && step.set(codes[at])) places.push(step.next)
    }
    if (places.length === 0) return false
  }
  return false
}

/** The characters of a text; halves of pairs count for themselves. */
function* codePoints(text: string): Generator<void, ArrayLike<number>> {
  const codes = new Int32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number
    codes[count++] = code
    if (code > 0xffff) at++
    if (count % WORK_PER_YIELD === 0) yield
  }
  return codes.subarray(0, count)
}

/** All places that are reached without taking a character, each once. */
function closure(
  steps: readonly Step[],
  places: readonly number[],
  seen: Int32Array,
  codes: ArrayLike<number>,
  at: number,
  pace: Pace
): number[] {
  const open = [...places]
  const reached: number[] = []
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    pace.work++
    if (seen[place] === at) continue
    seen[place] = at
    const step = steps[place]
    if (step.kind === 'split') open.push(step.first, step.second)
    else if (step.kind !== 'assert') reached.push(place)
    else if (holds(step.what, codes, at)) open.push(step.next)
  }
  return reached
}

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
