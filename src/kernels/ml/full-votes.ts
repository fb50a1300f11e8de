import type { Forest, Leaves } from './forest.ts'

/** What the leaves of a forest add to sums where each votes for every target. */
export interface FullVotes {
  /** Votes that are not 0, where these are few: then all others, which change no sum, are passed over. */
  readonly few: Leaves | undefined
  /** All votes: leaf `i` has those for the targets in their order from `starts[i]` on. */
  readonly all: Leaves
}

/** Votes for each one that is not 0, from which on passing over zeros gains more than finding targets costs. */
const SPARSE = 3

const KNOWN = new WeakMap<Forest, FullVotes | 'none'>()

/** The votes of leaves that all vote for `targets` targets in their order; undefined where one of them does not. */
export function fullVotesOf(forest: Forest, targets: number): FullVotes | undefined {
  let known = KNOWN.get(forest)
  if (known === undefined) KNOWN.set(forest, (known = areFull(forest, targets) ? withFew(forest.leaves) : 'none'))
  return known === 'none' ? undefined : known
}

function areFull({ next, leafOf, leaves: { starts, targets: ids } }: Forest, targets: number): boolean {
  for (let cell = 0; cell < next.length; cell++) {
    if (next[cell] !== cell) continue
    const first = starts[leafOf[cell]]
    if (starts[leafOf[cell] + 1] - first !== targets) return false
    for (let k = 0; k < targets; k++) if (ids[first + k] !== k) return false
  }
  return next.length > 0
}

function withFew(all: Leaves): FullVotes {
  const { starts, targets, weights } = all
  const end = starts[starts.length - 1]
  let count = 0
  for (let i = 0; i < end; i++) if (weights[i] !== 0) count++
  if (count * SPARSE > end) return { few: undefined, all }
  const few = {
    starts: new Int32Array(starts.length),
    targets: new Int32Array(count),
    weights: new Float64Array(count)
  }
  let at = 0
  for (let leaf = 0; leaf + 1 < starts.length; leaf++) {
    for (let i = starts[leaf]; i < starts[leaf + 1]; i++) {
      if (weights[i] === 0) continue
      few.targets[at] = targets[i]
      few.weights[at++] = weights[i]
    }
    few.starts[leaf + 1] = at
  }
  return { few, all }
}

/**
 * Adds what leaf cells say: the first to the `targets` sums of row `row`, each other to those of the row `step` further.
 */
export function addFullVotes(
  { few, all }: FullVotes,
  leafOf: Int32Array,
  cells: Int32Array,
  count: number,
  totals: Float64Array,
  targets: number,
  row: number,
  step: number
): void {
  for (let i = 0, at = row * targets; i < count; i++, at += step * targets) {
    if (few) addFew(few, leafOf[cells[i]], totals, at)
    else addAll(all.weights, all.starts[leafOf[cells[i]]], totals, at, targets)
  }
}

function addFew({ starts, targets, weights }: Leaves, leaf: number, totals: Float64Array, at: number): void {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) totals[at + targets[i]] += weights[i]
}

function addAll(weights: Float64Array, from: number, totals: Float64Array, at: number, count: number): void {
  for (let k = 0; k < count; k++) totals[at + k] += weights[from + k]
}
