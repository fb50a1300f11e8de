import { clock, type Collector, engineCollector, heapBytes } from '../host.ts'
import { keepEnd } from './freed-memory.ts'

// V8 does not know what an array outside its heap costs: it lets 32 to 250 MB of outputs lie that nobody holds any
// more. The next ones then go to memory that no cache holds, which takes 0.05 to 0.1 ms a megabyte, and pages come and
// go. To collect young objects alone is cheap, and finds most outputs, since they are dropped soon.
//
// V8 counts arrays as if they lay in its heap. Where this is small, 12 to 30 MB of outputs make V8 mark all of it and
// collect it, in 1.5 to 5 ms. What is alive then is old, with all that it refers to later, until the next such
// collection: the output that the caller holds, and by the promise of the run under way its output, too. From 16 MB an
// output on, these and the next ones are enough for V8 to begin again, each second or third run. So V8 may let a small
// heap grow further where it collects it during a run, and a collection at the end of a run, when its outputs are made,
// leaves nothing that refers to later ones.

/** Bytes of new arrays after which to collect young objects, at least. */
const MIN_BYTES = 8 << 20
/** Bytes of new arrays for each millisecond that a collection takes, so that it costs less than it saves. */
const BYTES_PER_MILLISECOND = 50 << 20
/** Bytes of new arrays after which to collect young objects, at most. */
const MAX_BYTES = 16 << 20

/** Bytes of new arrays after which to collect the whole heap for the first time, and before which not to do so anew. */
const FIRST_WHOLE = 128 << 20
const NEXT_WHOLE = 256 << 20
/** Milliseconds: where V8 takes longer, it must have collected the whole heap when asked for young objects. */
const SLOW = 1.5
/** Bytes of a heap that is small. A larger one may grow by more than outputs take, and takes longer to collect. */
const SMALL_HEAP = 32 << 20
/** Bytes to which a small heap may grow, with the arrays that come, until V8 collects all of it. */
const HEAP_LIMIT = 128 << 20

/** When to let V8 find the arrays that nobody holds any more. */
export class DroppedArrays {
  private readonly engine: () => Collector | undefined
  private readonly now: () => number
  private readonly keep: () => void
  /** Bytes of arrays since the last collection. */
  private made = 0
  /** Bytes of arrays after which to collect. */
  private due = MIN_BYTES
  /** Bytes of arrays until the whole heap may be collected. */
  private untilWhole = FIRST_WHOLE
  private isFirst = true
  /** Whether to collect the whole heap, if it is small, when the run ends. */
  private isWholeDue = false
  /** Whether V8 has a limit that the end of the run takes away. */
  private isLimitSet = false
  /** Undefined until it is first needed. */
  private collector: Collector | undefined

  /**
   * @param engine gives the collector, where there is one; asked when it is first needed
   * @param now milliseconds
   * @param keep see {@link keepEnd}
   */
  constructor(engine: () => Collector | undefined, now: () => number = clock, keep: () => void = keepEnd) {
    this.engine = engine
    this.now = now
    this.keep = keep
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
    this.untilWhole -= this.made
    this.made = 0
    this.collector ??= this.engine()
    if (this.collector === undefined) {
      this.due = Infinity
      return
    }
    const isSmall = heapBytes() <= SMALL_HEAP
    if (isSmall) this.collector.setLimit(HEAP_LIMIT)
    // Another run may have set it that is still under way.
    this.isLimitSet ||= isSmall
    const begin = this.now()
    this.collector.young()
    const cost = this.now() - begin
    this.due = Math.min(MAX_BYTES, Math.max(MIN_BYTES, cost * BYTES_PER_MILLISECOND))
    this.isWholeDue = this.untilWhole <= 0 && (this.isFirst || (isSmall && cost > SLOW))
  }

  /** To be called when a run ends that has called {@link find}, with its outputs made. */
  leave(): void {
    if (this.isWholeDue) this.collectWhole()
    if (!this.isLimitSet) return
    this.collector?.setLimit(undefined)
    this.isLimitSet = false
  }

  /** Collects the whole heap where it is small, and the first time has what is then free at the end of memory kept. */
  private collectWhole(): void {
    if (this.isFirst) this.keep()
    this.isFirst = false
    this.isWholeDue = false
    this.untilWhole = NEXT_WHOLE
    if (this.isLimitSet) this.collector?.whole()
  }
}

export const droppedArrays = new DroppedArrays(engineCollector)
