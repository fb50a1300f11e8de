import { clock, youngCollector } from '../host.ts'

// V8 does not know what an array outside its heap costs: it lets 32 to 250 MB of outputs lie that nobody holds any
// more. The next ones then go to memory that no cache holds, which takes 0.05 to 0.1 ms a megabyte, and pages come and
// go. To collect young objects alone is cheap, and finds most outputs, since they are dropped soon.

/** Bytes of new arrays after which to collect, at least. */
const MIN_BYTES = 8 << 20
/** Bytes of new arrays for each millisecond that a collection takes, so that it costs less than it saves. */
const BYTES_PER_MILLISECOND = 50 << 20
/**
 * Bytes of new arrays after which to collect, at most. A little later V8 begins to mark the whole heap, and to collect
 * young objects while it does takes milliseconds, which must not put the next collection off.
 */
const MAX_BYTES = 16 << 20

/** When to let V8 find the arrays that nobody holds any more. */
export class DroppedArrays {
  private readonly collector: () => (() => void) | undefined
  /** Bytes of arrays since the last collection. */
  private made = 0
  /** Bytes of arrays after which to collect. */
  private due = MIN_BYTES
  /** Undefined until it is first needed. */
  private collect: (() => void) | undefined

  /** @param collector gives what collects young objects, where there is such a thing; asked when it is first needed */
  constructor(collector: () => (() => void) | undefined) {
    this.collector = collector
  }

  /** To be called when memory for an array is taken. */
  note(bytes: number): void {
    this.made += bytes
  }

  /**
   * Collects where enough arrays have been made. To be called once a run, before its first step: what outlives two
   * collections is found only by one of the whole heap, and a run may hold the outputs of the run before as its inputs.
   */
  find(): void {
    if (this.made < this.due) return
    this.made = 0
    this.collect ??= this.collector()
    if (this.collect === undefined) {
      this.due = Infinity
      return
    }
    const begin = clock()
    this.collect()
    const byCost = (clock() - begin) * BYTES_PER_MILLISECOND
    this.due = Math.min(MAX_BYTES, Math.max(MIN_BYTES, byCost))
  }
}

export const droppedArrays = new DroppedArrays(youngCollector)
