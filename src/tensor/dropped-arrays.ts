import { clock, type Collector, engineCollector, heapBytes } from '../host.ts'
import { keepEnd } from './freed-memory.ts'

// V8 does not know what an array outside its heap costs: it lets 32 to 250 MB of outputs lie that nobody holds any
// more. The next ones then go to memory that no cache holds, which takes 0.05 to 0.1 ms a megabyte, and pages come and
// go. To collect young objects alone is cheap, and finds most outputs, since they are dropped soon.
//
// V8 counts arrays as if they lay in its heap. Where this is small, 12 to 30 MB of outputs make V8 mark all of it and
// collect it, which takes 1.5 to 5 ms, and what was held meanwhile is old then: with outputs of 16 MB this comes each
// second run. One collection of the whole heap that lets it grow ends that.

/** Bytes of new arrays after which to collect young objects, at least. */
const MIN_BYTES = 8 << 20
/** Bytes of new arrays for each millisecond that a collection takes, so that it costs less than it saves. */
const BYTES_PER_MILLISECOND = 50 << 20
/** Bytes of new arrays after which to collect young objects, at most. */
const MAX_BYTES = 16 << 20

/** Bytes of new arrays after which to let the heap grow for the first time. */
const FIRST_GROWTH = 128 << 20
/** Bytes of new arrays after which to do so again, as V8 has shrunk the limit with any collection of its own. */
const NEXT_GROWTH = 2 ** 31
/** Bytes of a heap that is small. A larger one may grow by more than outputs take, and takes longer to collect. */
const SMALL_HEAP = 32 << 20
/** Bytes to which a small heap may grow, with the arrays that come, until V8 collects all of it. */
const HEAP_LIMIT = 128 << 20

/** When to let V8 find the arrays that nobody holds any more. */
export class DroppedArrays {
  private readonly engine: () => Collector | undefined
  /** Bytes of arrays since the last collection. */
  private made = 0
  /** Bytes of arrays after which to collect. */
  private due = MIN_BYTES
  /** Bytes of arrays until the heap is to grow. */
  private untilGrowth = FIRST_GROWTH
  /** Undefined until it is first needed. */
  private collector: Collector | undefined

  /** @param engine gives the collector, where there is one; asked when it is first needed */
  constructor(engine: () => Collector | undefined) {
    this.engine = engine
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
    this.untilGrowth -= this.made
    this.made = 0
    this.collector ??= this.engine()
    if (this.collector === undefined) {
      this.due = Infinity
      return
    }
    const begin = clock()
    this.collector.young()
    const byCost = (clock() - begin) * BYTES_PER_MILLISECOND
    this.due = Math.min(MAX_BYTES, Math.max(MIN_BYTES, byCost))
    if (this.untilGrowth <= 0) this.grow(this.collector)
  }

  private grow(collector: Collector): void {
    this.untilGrowth = NEXT_GROWTH
    keepEnd()
    if (heapBytes() <= SMALL_HEAP) collector.whole(HEAP_LIMIT)
  }
}

export const droppedArrays = new DroppedArrays(engineCollector)
