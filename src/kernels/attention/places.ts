import { fail } from '../../errors.ts'

/** Where the fresh keys of each entry of a batch stand. */
export interface Places {
  /** Number of keys that are valid after this call. */
  readonly valid: ArrayLike<number>
  /** Number of keys before the fresh ones. */
  readonly past: readonly number[]
}

/**
 * Places of `fresh` keys. In a first prompt, where there are as many as keys at all, they come first, and those beyond
 * the valid ones are padding; later they are the last of the valid ones.
 * @param total the largest number of valid keys
 * @throws NodewiseError `value-out-of-range`
 */
export function placesOf(valid: ArrayLike<number>, fresh: number, total: number): Places {
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
