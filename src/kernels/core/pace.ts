/** Nanoseconds that a kernel may compute between two yields: 5 ms. Whoever drives the run can stop it there. */
export const QUANTUM = 5_000_000

/**
 * What common pieces of work cost in nanoseconds, estimated from above for the TypeScript kernels on a slow machine. A
 * kernel adds up
 * the costs of what it has done and yields when they reach {@link QUANTUM}; the clock is not read.
 */
export const COST = {
  /** One element through a closure or a conversion. */
  element: 20,
  /** One unit of 1, 2 or 4 bytes copied in a plain loop. */
  copy: 2.5,
  /** One multiplication and addition in a blocked loop over typed arrays. */
  multiplyAdd: 0.3,
  /** One multiplication and addition of bigints. */
  bigMultiplyAdd: 1.2,
  /** One call of exp, tanh, pow or the like. */
  transcendental: 40,
  /** One array, view or tensor made. */
  allocation: 1200
} as const

/**
 * A computation that yields about every {@link QUANTUM}; whoever drives it may stop it there. What a step of a plan
 * runs may also yield a promise, which whoever drives the run awaits before it goes on.
 */
export type Paced<T = void> = Generator<void | Promise<void>, T>

/** Counts the nanoseconds of work since the last yield, so that a kernel yields about every {@link QUANTUM}. */
export class Pace {
  private spent = 0

  /**
   * Adds work that has been done.
   * @param nanoseconds estimated cost of the work; see {@link COST}
   * @returns whether it is time to yield; counting starts anew then
   */
  isDue(nanoseconds: number): boolean {
    this.spent += nanoseconds
    if (this.spent < QUANTUM) return false
    this.spent = 0
    return true
  }
}

/**
 * Calls `work` on consecutive ranges `[from, to)` of `count` items and yields between two ranges.
 * @param cost nanoseconds that one item takes; see {@link COST}
 */
export function* inChunks(
  count: number,
  work: (from: number, to: number) => void,
  cost: number = COST.element
): Generator<void> {
  const size = Math.max(1, Math.floor(QUANTUM / cost))
  for (let from = 0; from < count; from += size) {
    if (from > 0) yield
    work(from, Math.min(count, from + size))
  }
}

/** Runs a paced computation to its end without giving way. */
export function drain<T>(paced: Generator<void, T>): T {
  let step = paced.next()
  while (!step.done) step = paced.next()
  return step.value
}
