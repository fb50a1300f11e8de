/** Elements of work between two yields: about 2 to 10 ms. */
export const WORK_PER_YIELD = 1 << 18

/**
 * Calls `work` for `from <= i < to`, one part of `count` items after the other, and yields between two.
 * @param cost work that one item takes, in elements
 */
export function* inSteps(count: number, work: (from: number, to: number) => void, cost = 1): Generator<void> {
  const size = Math.max(1, Math.floor(WORK_PER_YIELD / Math.max(1, cost)))
  for (let from = 0; from < count; from += size) {
    if (from > 0) yield
    work(from, Math.min(count, from + size))
  }
}

/** Whether it is time to yield, `work` elements more having been done; counts anew then. */
export function isDue(pace: { work: number }, work: number): boolean {
  pace.work += work
  if (pace.work < WORK_PER_YIELD) return false
  pace.work = 0
  return true
}
