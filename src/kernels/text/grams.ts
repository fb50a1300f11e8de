import { chunkSize, COST, type Pace } from '../core/pace.ts'

type Item = string | bigint

/** An n-gram and the index in the output where its count is stored. */
export interface Gram {
  readonly items: readonly Item[]
  readonly coordinate: number
}

/** A node of a prefix tree: the n-grams that begin with the items on the path from the root. */
export interface GramTree {
  readonly longer: Map<Item, GramTree>
  /** Indices, in the list of n-grams, of those that end here. */
  readonly ends: number[]
}

/** The lengths of n-grams that are counted, and how many items may be skipped between two of their items. */
export interface GramRange {
  readonly min: number
  readonly max: number
  readonly skips: number
}

/** Builds the prefix tree of the n-grams of `min` to `max` items. */
export function gramTree(grams: readonly Gram[], min: number, max: number): GramTree {
  const root: GramTree = { longer: new Map(), ends: [] }
  grams.forEach(({ items }, i) => {
    if (items.length >= min && items.length <= max) descend(root, items).ends.push(i)
  })
  return root
}

function descend(root: GramTree, items: readonly Item[]): GramTree {
  let tree = root
  for (const item of items) {
    const next = tree.longer.get(item) ?? { longer: new Map(), ends: [] }
    tree.longer.set(item, next)
    tree = next
  }
  return tree
}

/** How often each n-gram occurs in a list, and which occur at all. */
export interface GramCounts {
  readonly counts: Float64Array
  /** Indices of the n-grams whose count is not 0. */
  readonly found: number[]
}

/**
 * Counts how often each n-gram occurs in the items from `from` to `to`, once for each number of skipped items; a single
 * item is counted once, since skips make no difference to it.
 */
export function* countGrams(
  items: ArrayLike<Item>,
  from: number,
  to: number,
  root: GramTree,
  range: GramRange,
  counts: GramCounts,
  pace: Pace
): Generator<void> {
  const part = chunkSize(COST.lookup * range.max)
  for (let step = 1; step <= Math.min(range.skips + 1, Math.max(1, to - from)); step++) {
    for (let start = from; start < to; start += part) {
      const end = Math.min(to, start + part)
      const lookups = countFrom(items, start, end, to, step, root, range, counts)
      if (pace.isDue(lookups * COST.lookup)) yield
    }
  }
}

/** Counts the n-grams that begin from `from` to `end`; returns how many items have been looked up. */
function countFrom(
  items: ArrayLike<Item>,
  from: number,
  end: number,
  to: number,
  step: number,
  root: GramTree,
  { min, max }: GramRange,
  { counts, found }: GramCounts
): number {
  let lookups = end - from
  for (let start = from; start < end; start++) {
    let tree: GramTree | undefined = root
    let length = 1
    for (let at = start; at < to && length <= max; at += step, length++) {
      tree = tree.longer.get(items[at])
      if (tree === undefined) break
      if (length < min || (length === 1 && step > 1)) continue
      const { ends } = tree
      for (let i = 0; i < ends.length; i++) if (counts[ends[i]]++ === 0) found.push(ends[i])
    }
    lookups += length
  }
  return lookups
}
