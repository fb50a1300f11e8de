/** Gives what was made last where the numbers are the same; else makes it. */
export type Remembered<R> = (numbers: readonly number[], make: () => R) => R

/**
 * Keeps what was last made for a list of numbers, and gives it again while they stay the same: quantizations hardly
 * ever differ from run to run.
 */
export function remembered<R>(): Remembered<R> {
  let last: { readonly numbers: readonly number[]; readonly result: R } | undefined
  return (numbers, make) => {
    if (last === undefined || !areSame(last.numbers, numbers)) last = { numbers, result: make() }
    return last.result
  }
}

function areSame(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}
