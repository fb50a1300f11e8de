import { COST, Pace } from '../core/pace.ts'

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

/**
 * Counts how often each of `count` n-grams occurs in a list, once for each number of skipped items; a single item is
 * counted once, since skips make no difference to it.
 */
export function* countGrams(
  items: readonly Item[],
  root: GramTree,
  count: number,
  { min, max, skips }: GramRange
): Generator<void, Float64Array> {
  const counts = new Float64Array(count)
  const pace = new Pace()
  for (let step = 1; step <= Math.min(skips + 1, Math.max(1, items.length)); step++) {
    for (let start = 0; start < items.length; start++) {
      let tree: GramTree | undefined = root
      let length = 1
      for (let at = start; at < items.length && length <= max; at += step, length++) {
        tree = tree.longer.get(items[at])
        if (tree === undefined) break
        if (length >= min && (length > 1 || step === 1)) for (const end of tree.ends) counts[end]++
      }
      if (pace.isDue(length * COST.lookup)) yield
    }
  }
  return counts
}
