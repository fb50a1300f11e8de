/**
 * Nanoseconds that a kernel computes between two yields: 5 ms. Whoever drives the run can stop it at a yield. Costs are
 * estimated from above, so yields come earlier than that on most machines and within about 10 ms on a slow one.
 */
export const QUANTUM = 5_000_000

/**
 * Nanoseconds that common pieces of work take in the TypeScript kernels, estimated from above. A kernel adds up the
 * costs of what it has done and yields when they reach {@link QUANTUM}; it does not read the clock.
 *
 * The measured numbers are of Node 20 on a busy 2-core virtual machine. A cost that is too high does little harm, since
 * a yield takes less than a microsecond.
 */
export const COST = {
  /**
   * One element read, computed and written in a loop over typed arrays. Measured: 1 to 10 where the loop has met one
   * type of array, 100 to 200 where it has met more than four; conversions 1 to 50.
   */
  element: 100,
  /** One unit of 1, 2 or 4 bytes copied. Measured: 0.6 where neighbours are copied, 4 transposed, up to 20 at worst. */
  copy: 10,
  /** One multiplication and addition of a blocked matrix product. Measured: 0.7 to 0.8. */
  blockedMultiplyAdd: 1,
  /** One multiplication and addition of numbers or 64-bit integers in a plain inner loop. Measured: 2 to 4. */
  multiplyAdd: 5,
  /** One call of exp, tanh, pow or the like. Measured: 20 to 65. */
  transcendental: 60,
  /** One comparison of two items that are sorted, by a closure. Measured: 25 to 60. */
  comparison: 50,
  /** One key looked up in a map or set, or added to it. Measured: 240 to 760. */
  lookup: 600,
  /** One number written as text, or read from it. Measured: 540 to read, 4,700 to write with all digits. */
  text: 5000,
  /** One array, view, tensor or generator made. Measured: 300 to 400. */
  allocation: 1000
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

function* nothing(): Generator<void> {}

/** A computation that has ended already. It may be delegated to any number of times. */
export const DONE: Generator<void> = nothing()
DONE.next()

/**
 * Calls `work` on consecutive ranges `[from, to)` of `count` items and yields between two ranges. A single range is
 * worked on before this returns.
 * @param cost nanoseconds that one item takes; see {@link COST}
 */
export function inChunks(
  count: number,
  work: (from: number, to: number) => void,
  cost: number = COST.element
): Generator<void> {
  const size = chunkSize(cost)
  if (count > size) return eachChunk(count, size, work)
  if (count > 0) work(0, count)
  return DONE
}

function* eachChunk(count: number, size: number, work: (from: number, to: number) => void): Generator<void> {
  for (let from = 0; from < count; from += size) {
    if (from > 0) yield
    work(from, Math.min(count, from + size))
  }
}

/** Items of `cost` nanoseconds that are done in one {@link QUANTUM}, at least 1. */
export const chunkSize = (cost: number): number => Math.max(1, Math.floor(QUANTUM / cost))

/** Runs a paced computation to its end without yielding. */
export function drain<T>(paced: Generator<unknown, T>): T {
  let step = paced.next()
  while (!step.done) step = paced.next()
  return step.value
}
