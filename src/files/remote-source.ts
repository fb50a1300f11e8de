import { type ByteSource, checkRange, roomFor } from './byte-source.ts'
import { Extents } from './extents.ts'
import { mergedRanges } from './pieces.ts'
import { type AsyncBytes, type Lease, notRead, type Part, type Range, type Remote } from './remote.ts'

/** Bytes that stay at hand beside those that a lease holds, so that rows that come again are not read again. */
const KEPT = 2 ** 25
/** Bytes that are read ahead after a jump, and at most: each read that continues the one before reads twice as many. */
const MIN_AHEAD = 2 ** 16
const MAX_AHEAD = 2 ** 20
/** A jump over fewer bytes counts as continuing: another request takes as long as reading them. */
const SHORT_JUMP = 2 ** 17
/** Where leases hold more than that, only what is asked for is read. */
const MUCH = 2 ** 26

/** A file whose bytes come asynchronously, some of which are at hand. */
export class RemoteSource implements ByteSource, Remote {
  readonly name: string
  readonly size: number
  readonly remote: Remote = this
  private readonly bytes: AsyncBytes
  private readonly extents = new Extents()
  /** Where the last read that missed something has ended, and how far it read. */
  private lastEnd = -1
  private ahead = MIN_AHEAD

  /** @param first bytes from the start of the file that are at hand already */
  constructor(bytes: AsyncBytes, first?: Uint8Array) {
    this.name = bytes.name
    this.size = bytes.size
    this.bytes = bytes
    if (first === undefined) return
    this.extents.put(0, first)
    this.lastEnd = first.length
  }

  read(offset: number, length: number, target?: Uint8Array): Uint8Array {
    checkRange(this.name, this.size, offset, length)
    if (length === 0) return target ?? new Uint8Array(0)
    const range = { offset, length }
    const found = this.extents.read(range, target)
    if (found) return found
    throw notRead(this.name, {
      settle: signal => this.fetch([this.readAhead(range)], signal),
      missing: { remote: this, range }
    })
  }

  async fetch(ranges: readonly Range[], signal?: AbortSignal): Promise<Lease> {
    const { extents } = this
    const wanted = mergedRanges(ranges)
    const early = extents.lease(wanted)
    try {
      const parts = wanted
        .flatMap(range => extents.missing(range))
        .map(({ offset, length }) => ({ offset, target: roomFor(length, this.name) }))
      if (parts.length > 0) await this.fill(parts, signal)
      for (const { offset, target } of parts) extents.put(offset, target)
      const lease = extents.lease(wanted)
      return () => {
        lease()
        extents.trim(KEPT)
      }
    } finally {
      early()
    }
  }

  async fill(parts: readonly Part[], signal?: AbortSignal): Promise<void> {
    for (const { offset, target } of parts) checkRange(this.name, this.size, offset, target.length)
    await this.bytes.fill(parts, signal)
  }

  /** All bytes. */
  async whole(signal?: AbortSignal): Promise<Uint8Array> {
    const all = roomFor(this.size, this.name)
    const range = { offset: 0, length: this.size }
    const missing = this.extents.missing(range)
    const parts = missing.map(({ offset, length }) => ({ offset, target: all.subarray(offset, offset + length) }))
    await this.fill(parts, signal)
    for (const part of gaps(range, missing))
      this.extents.read(part, all.subarray(part.offset, part.offset + part.length))
    return all
  }

  /**
   * What is read where a range is missed: files are mostly read on from where the last read has ended, in jumps over
   * what is not looked at.
   */
  private readAhead({ offset, length }: Range): Range {
    const isNear = offset >= this.lastEnd && offset - this.lastEnd <= SHORT_JUMP
    this.ahead = isNear ? Math.min(2 * this.ahead, MAX_AHEAD) : MIN_AHEAD
    const isMuch = this.extents.leased > MUCH
    const start = isNear && !isMuch ? this.lastEnd : offset
    const end = Math.min(this.size, isMuch ? offset + length : Math.max(offset + length, offset + this.ahead))
    this.lastEnd = end
    return { offset: start, length: end - start }
  }
}

/** What of a range lies between others, which are ascending and within it. */
function gaps({ offset, length }: Range, others: readonly Range[]): Range[] {
  const found: Range[] = []
  let at = offset
  for (const other of [...others, { offset: offset + length, length: 0 }]) {
    if (other.offset > at) found.push({ offset: at, length: other.offset - at })
    at = other.offset + other.length
  }
  return found
}
