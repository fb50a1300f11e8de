import { COST, type Pace } from '../core/pace.ts'
import { type Automaton, follow, STATE_COST } from './regex.ts'

/** Where a match begins, and where it ends. */
export type Match = readonly [from: number, to: number]

/**
 * The leftmost match from a position on, and of those the longest. All paths are followed at once, each with where it
 * begins; the time is at most proportional to the length of the text times the number of states.
 */
export function* findLongest(
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
