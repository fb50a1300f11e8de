import { oncePer } from '../core/once.ts'
import type { Forest, Leaves } from './forest.ts'

/** What the leaves of a forest add to sums where each votes for every target. */
export interface FullVotes {
  /** Votes that are not 0, where these are few: then all others, which change no sum, are passed over. */
  readonly few: Leaves | undefined
  /** Where the votes of each leaf begin. */
  readonly starts: Int32Array
  /** All votes, those of a leaf for the targets in their order; half as large where nothing is lost. */
  readonly weights: Float32Array | Float64Array
}

/** Votes for each one that is not 0, from which on passing over zeros gains more than finding targets costs. */
const SPARSE = 3

/** The votes of leaves that all vote for `targets` targets in their order; undefined where one of them does not. */
export const fullVotesOf = oncePer((forest: Forest, targets: number): FullVotes | undefined =>
  areFull(forest, targets) ? withFew(forest.leaves) : undefined
)

function areFull({ next, leafOf, leaves: { starts, targets: ids } }: Forest, targets: number): boolean {
  for (let cell = 0; cell < next.length; cell++) {
    if (next[cell] !== cell) continue
    const first = starts[leafOf[cell]]
    if (starts[leafOf[cell] + 1] - first !== targets) return false
    for (let k = 0; k < targets; k++) if (ids[first + k] !== k) return false
  }
  return next.length > 0
}

function withFew({ starts, targets, weights }: Leaves): FullVotes {
  const end = starts[starts.length - 1]
  let count = 0
  for (let i = 0; i < end; i++) if (weights[i] !== 0) count++
  const singles = Float32Array.from(weights)
  const areSingles = weights.every((weight, i) => Object.is(weight, singles[i]))
  const full = { starts, weights: areSingles ? singles : weights }
  if (count * SPARSE > end) return { few: undefined, ...full }
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
  return { few, ...full }
}

/** Adds what leaf cells say: the first to the sums of row `row`, each other to those of the row `step` further. */
export function addFullVotes(
  { few, starts, weights }: FullVotes,
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
    else addAll(weights, starts[leafOf[cells[i]]], totals, at, targets)
  }
}

function addFew({ starts, targets, weights }: Leaves, leaf: number, totals: Float64Array, at: number): void {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) totals[at + targets[i]] += weights[i]
}

/** Four at a time, which takes two thirds of the time. */
function addAll(weights: FullVotes['weights'], from: number, totals: Float64Array, at: number, count: number): void {
  const end = at + count
  for (; at + 3 < end; at += 4, from += 4) {
    const a = totals[at] + weights[from]
    const b = totals[at + 1] + weights[from + 1]
    const c = totals[at + 2] + weights[from + 2]
    const d = totals[at + 3] + weights[from + 3]
    totals[at] = a
    totals[at + 1] = b
    totals[at + 2] = c
    totals[at + 3] = d
  }
  for (; at < end; at++, from++) totals[at] += weights[from]
}

/**
 * The one target of each tree, where all leaves of a tree vote for one target only, and trees for every target: so
 * boosters classify. Undefined where it is not so, or where trees share nodes.
 */
export const targetOfEach = oncePer((forest: Forest, targets: number): Int32Array | undefined => {
  const { roots, next } = forest
  const found = new Int32Array(roots.length)
  for (let tree = 0; tree < roots.length; tree++) {
    const target = targetBetween(forest, roots[tree], roots[tree + 1] ?? next.length)
    if (target === undefined) return undefined
    found[tree] = target
  }
  return new Set(found).size === targets ? found : undefined
})

/** The target of all leaves of the cells `from … end - 1`; undefined where they have several, or lead elsewhere. */
function targetBetween({ next, leafOf, leaves }: Forest, from: number, end: number): number | undefined {
  let target: number | undefined
  for (let cell = from; cell < end; cell++) {
    if (next[cell] < from || next[cell] >= end) return undefined
    if (next[cell] !== cell) continue
    const first = leaves.starts[leafOf[cell]]
    if (leaves.starts[leafOf[cell] + 1] - first !== 1) return undefined
    target ??= leaves.targets[first]
    if (leaves.targets[first] !== target) return undefined
  }
  return target
}
