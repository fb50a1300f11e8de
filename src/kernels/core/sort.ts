import { COST, Pace } from './pace.ts'

/** Whether `a` may come before `b`. */
type InOrder<T> = (a: T, b: T) => boolean

/** Items that are sorted at once by the engine's own sort. */
const RUN = 1 << 13
/** Nanoseconds of sorting an item of a run: about log2(RUN) comparisons, inlined ones for numbers. */
const ITEM_COST = 13 * COST.comparison
const NUMBER_COST = 2 * COST.element

/** Sorts a list in place and yields; stable: a merge sort of runs. */
export function* sortPaced<T>(list: T[], compare: (a: T, b: T) => number): Generator<void> {
  const pace = new Pace()
  for (let from = 0; from < list.length; from += RUN) {
    const run = list.slice(from, from + RUN).sort(compare)
    for (let i = 0; i < run.length; i++) list[from + i] = run[i]
    if (pace.isDue(RUN * ITEM_COST)) yield
  }
  yield* mergeRuns(list, new Array<T>(list.length), (a, b) => compare(a, b) <= 0)
}

/** Sorts numbers in place, none of them NaN, and yields. */
export function* sortNumbers(list: Int32Array | Float64Array): Generator<void> {
  const pace = new Pace()
  for (let from = 0; from < list.length; from += RUN) {
    list.subarray(from, from + RUN).sort()
    if (pace.isDue(RUN * NUMBER_COST)) yield
  }
  if (list.length > RUN) yield* mergeRuns(list, list.slice(), (a, b) => a <= b)
}

/** Merges sorted runs, pair by pair, until there is one. */
function* mergeRuns<T>(
  list: { [i: number]: T; readonly length: number },
  spare: { [i: number]: T },
  inOrder: InOrder<T>
): Generator<void> {
  const pace = new Pace()
  let [from, to] = [list as { [i: number]: T }, spare]
  for (let size = RUN; size < list.length; size *= 2) {
    for (let start = 0; start < list.length; start += 2 * size) {
      const middle = Math.min(list.length, start + size)
      yield* merge(from, to, start, middle, Math.min(list.length, start + 2 * size), inOrder, pace)
    }
    ;[from, to] = [to, from]
  }
  if (from !== list) for (let i = 0; i < list.length; i++) list[i] = from[i]
}

/** Merges the runs `[start, middle)` and `[middle, end)` of `from` into `to`. */
function* merge<T>(
  from: { [i: number]: T },
  to: { [i: number]: T },
  start: number,
  middle: number,
  end: number,
  inOrder: InOrder<T>,
  pace: Pace
): Generator<void> {
  let [left, right] = [start, middle]
  for (let at = start; at < end; at++) {
    const takesLeft = right === end || (left < middle && inOrder(from[left], from[right]))
    to[at] = takesLeft ? from[left++] : from[right++]
    if (pace.isDue(COST.comparison)) yield
  }
}
