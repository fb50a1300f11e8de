import { fail } from '../../errors.ts'

/** How many keys each entry of a batch has. */
export interface KeyCounts {
  /** Number of keys that are valid after this call. */
  readonly valid: ArrayLike<number>
  /** Number of keys before the fresh ones. */
  readonly past: readonly number[]
}

/**
 * Counts the keys of each entry, of which `fresh` are new. In a first prompt all keys are new: they come first, and
 * those beyond the valid ones are padding. Later the new ones are the last of the valid ones.
 * @param total the largest number of valid keys
 * @throws NodewiseError `value-out-of-range`
 */
export function keyCountsOf(valid: ArrayLike<number>, fresh: number, total: number): KeyCounts {
  const past: number[] = []
  for (let batch = 0; batch < valid.length; batch++) {
    const count = valid[batch]
    const least = fresh === total ? 1 : fresh
    if (!(count >= least && count <= total))
      fail('value-out-of-range', `entry ${batch} has ${count} valid keys; expected ${least}..${total}`)
    past.push(fresh === total ? 0 : count - fresh)
  }
  return { valid, past }
}
