import { clock, youngCollector } from '../host.ts'

// V8 does not know what an array outside its heap costs: it lets 32 to 250 MB of outputs lie that nobody holds any
// more. The next ones then go to memory that no cache holds, which takes 0.05 to 0.1 ms a megabyte, and pages come and
// go. To collect young objects alone is cheap, and finds most outputs, since they are dropped soon.

/** Bytes of new arrays after which to collect, at least. */
const MIN_BYTES = 8 << 20
/** Bytes of new arrays for each millisecond that a collection takes, so that it costs less than it saves. */
const BYTES_PER_MILLISECOND = 50 << 20
/** The next such number over the last at most: to free much takes time, too, and must not put off the next. */
const GROWTH = 1.5

/** Bytes of arrays since the last collection. */
let made = 0
/** Bytes of arrays after which to collect. */
let due = MIN_BYTES
/** Undefined until it is first needed, null where there is none. */
let collect: (() => void) | null | undefined

/** To be called when memory for an array is taken. */
export function noteArray(bytes: number): void {
  made += bytes
}

/**
 * Lets V8 find the outputs that the caller has dropped, where enough have been made. To be called once a run, before
 * its first step: what outlives two collections is found only by one of the whole heap, and a run may hold the outputs
 * of the run before as its inputs.
 */
export function collectDropped(): void {
  if (made < due) return
  made = 0
  collect ??= youngCollector() ?? null
  if (collect === null) {
    due = Infinity
    return
  }
  const begin = clock()
  collect()
  due = Math.max(MIN_BYTES, Math.min((clock() - begin) * BYTES_PER_MILLISECOND, due * GROWTH))
}
