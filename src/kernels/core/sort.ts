import { WORK_PER_YIELD } from './steps.ts'

/** Whether `a` must not come after `b`. */
type InOrder<T> = (a: T, b: T) => boolean

/** Items that are sorted at once: well below a yield. */
const RUN = 1 << 13

/** Sorts a list in place, stable, and yields about every 10 ms. */
export function* sortPaced<T>(list: T[], compare: (a: T, b: T) => number): Generator<void> {
  for (let from = 0, work = 0; from < list.length; from += RUN) {
    const run = list.slice(from, from + RUN).sort(compare)
    for (let i = 0; i < run.length; i++) list[from + i] = run[i]
    work += 16 * RUN
    if (work < WORK_PER_YIELD) continue
    work = 0
    yield
  }
  yield* mergeRuns(list, new Array<T>(list.length), (a, b) => compare(a, b) <= 0)
}

/** Sorts numbers, none of them NaN, in place and yields about every 10 ms. */
export function* sortNumbers(list: Int32Array | Float64Array): Generator<void> {
  for (let from = 0, work = 0; from < list.length; from += RUN) {
    list.subarray(from, from + RUN).sort()
    work += 4 * RUN
    if (work < WORK_PER_YIELD) continue
    work = 0
    yield
  }
  if (list.length > RUN) yield* mergeRuns(list, list.slice(), (a, b) => a <= b)
}

/** Merges sorted runs, pair by pair, until there is one. */
function* mergeRuns<T>(
  list: { [i: number]: T; readonly length: number },
  spare: { [i: number]: T },
  inOrder: InOrder<T>
): Generator<void> {
  let [from, to] = [list as { [i: number]: T }, spare]
  for (let size = RUN; size < list.length; size *= 2) {
    for (let start = 0; start < list.length; start += 2 * size) {
      const middle = Math.min(list.length, start + size)
      yield* merge(from, to, start, middle, Math.min(list.length, start + 2 * size), inOrder)
    }
    ;[from, to] = [to, from]
  }
  if (from !== list) for (let i = 0; i < list.length; i++) list[i] = from[i]
}

function* merge<T>(
  from: { [i: number]: T },
  to: { [i: number]: T },
  start: number,
  middle: number,
  end: number,
  inOrder: InOrder<T>
): Generator<void> {
  let [left, right] = [start, middle]
  for (let at = start; at < end; at++) {
    const takesLeft = right === end || (left < middle && inOrder(from[left], from[right]))
    to[at] = takesLeft ? from[left++] : from[right++]
    if (at % WORK_PER_YIELD === WORK_PER_YIELD - 1) yield
  }
}
