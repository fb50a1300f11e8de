import { oncePer } from '../core/once.ts'
import { COST, type Pace, QUANTUM } from '../core/pace.ts'
import { DEAD, Dfa, NO_ROOM, TEXT_END } from './regex-dfa.ts'
import { type Automaton, follow, STATE_COST } from './regex.ts'

/** Where a match begins, and where it ends. */
export type Match = readonly [from: number, to: number]

const UNDECIDED = 'undecided'
/** A search by nodes gives up after this many steps for each character, so its time stays proportional to the text. */
const MAX_STEPS = 8
const MIN_STEPS = 1000

const dfaOf = /* @__PURE__ */ oncePer((automaton: Automaton) => new Dfa(automaton))

/** Characters up to which a search may take no pause. */
const FEW = 1 << 12

/**
 * What {@link findLongest} finds, where that takes no pause: most texts are short, and generators for each match would
 * take longer than to find it.
 * @returns undefined where it is not known yet; `none` where there is no match
 */
export function findAtOnce(automaton: Automaton, codes: ArrayLike<number>, from: number): Match | 'none' | undefined {
  const count = codes.length
  if (count - from > FEW) return undefined
  const dfa = dfaOf(automaton)
  let left = MIN_STEPS + MAX_STEPS * (count - from)
  let visits = 0
  for (let begin = from; begin <= count; begin++) {
    let end = -1
    for (let at = begin, node = dfa.startAt(codes, at); node !== DEAD; at++) {
      const edge = node === NO_ROOM ? NO_ROOM : dfa.edge(node, at < count ? codes[at] : TEXT_END)
      visits += dfa.takeVisits()
      if (edge === NO_ROOM || --left < 0 || visits > MAX_VISITS) return undefined
      if (edge % 2 === 1) end = at
      node = edge >> 1
    }
    if (end >= 0) return [begin, end]
  }
  return 'none'
}

/** Visits of states, of which a first text needs many, after which there is a pause. */
const MAX_VISITS = QUANTUM / STATE_COST

/**
 * The leftmost match from a position on, and of those the longest. The time is at most proportional to the length of
 * the text times the number of states.
 */
export function* findLongest(
  automaton: Automaton,
  codes: ArrayLike<number>,
  from: number,
  pace: Pace
): Generator<void, Match | undefined> {
  const found = yield* findByNodes(dfaOf(automaton), codes, from, pace)
  return found === UNDECIDED ? yield* findByStates(automaton, codes, from, pace) : found
}

/** Tries one beginning after the other. */
function* findByNodes(
  dfa: Dfa,
  codes: ArrayLike<number>,
  from: number,
  pace: Pace
): Generator<void, Match | undefined | typeof UNDECIDED> {
  const count = codes.length
  let left = MIN_STEPS + MAX_STEPS * (count - from)
  for (let begin = from; begin <= count; begin++) {
    let end = -1
    for (let at = begin, node = dfa.startAt(codes, at); node !== DEAD; at++) {
      const edge = node === NO_ROOM ? NO_ROOM : dfa.edge(node, at < count ? codes[at] : TEXT_END)
      if (edge === NO_ROOM || --left < 0) return UNDECIDED
      if (edge % 2 === 1) end = at
      node = edge >> 1
      if (pace.isDue(COST.copy + dfa.takeVisits() * STATE_COST)) yield
    }
    if (end >= 0) return [begin, end]
  }
  return undefined
}

/** Follows all paths at once, each with where it begins. */
function* findByStates(
  { states, start }: Automaton,
  codes: ArrayLike<number>,
  from: number,
  pace: Pace
): Generator<void, Match | undefined> {
  const seenAt = new Int32Array(states.length).fill(-1)
  if (pace.isDue(states.length * COST.copy)) yield
  let found: Match | undefined
  /** States by the place where their path begins, the earliest first. */
  let paths: [begin: number, states: number[]][] = []
  for (let at = from; at <= codes.length; at++) {
    if (found === undefined) paths.push([at, [start]])
    const next: [number, number[]][] = []
    for (const [begin, current] of paths) {
      if (found !== undefined && begin > found[0]) break
      // States that an earlier path has reached are not followed again.
      const reached: number[] = []
      const visits = follow(states, current, reached, seenAt, codes, at)
      if (pace.isDue((1 + visits) * STATE_COST)) yield
      if (reached.includes(0)) found = [begin, at]
      const stepped: number[] = []
      for (const index of reached) {
        const state = states[index]
        if (at < codes.length && state.kind === 'char' && state.set(codes[at])) stepped.push(state.next)
      }
      if (stepped.length > 0) next.push([begin, stepped])
    }
    paths = next
    if (paths.length === 0 && found !== undefined) return found
  }
  return found
}
