import { WORK_PER_YIELD } from '../core/steps.ts'

type Item = string | bigint

/** An n-gram and where its count belongs. */
export interface Gram {
  readonly items: readonly Item[]
  readonly coordinate: number
}

/** The n-grams that begin with the items on the way here. */
export interface GramTree {
  readonly longer: Map<Item, GramTree>
  /** Places in the list of n-grams of those that end here. */
  readonly ends: number[]
}

/** Shortest and longest n-grams that count, and most items left out between two of theirs. */
export interface GramRange {
  readonly min: number
  readonly max: number
  readonly skips: number
}

/** The tree of the n-grams of `min` to `max` items. */
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
 * How often each of `count` n-grams occurs in a list. Skipping makes no difference to single items, which count once.
 */
export function* countGrams(
  items: readonly Item[],
  root: GramTree,
  count: number,
  { min, max, skips }: GramRange
): Generator<void, Float64Array> {
  const counts = new Float64Array(count)
  let work = 0
  for (let step = 1; step <= Math.min(skips + 1, Math.max(1, items.length)); step++) {
    for (let start = 0; start < items.length; start++) {
      let tree: GramTree | undefined = root
      for (let at = start, length = 1; at < items.length && length <= max; at += step, length++) {
        tree = tree.longer.get(items[at])
        if (tree === undefined) break
        work++
        if (length >= min && (length > 1 || step === 1)) for (const end of tree.ends) counts[end]++
      }
      if (++work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
  return counts
}
