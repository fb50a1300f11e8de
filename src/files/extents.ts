import type { Lease, Range } from './remote.ts'

/** Bytes of a file that are at hand. */
interface Extent {
  readonly offset: number
  readonly bytes: Uint8Array
  /** How many need it. */
  leases: number
  /** When it was last used, counted in uses. */
  used: number
}

/** The bytes of a file that are at hand: ranges in any number, which do not overlap. */
export class Extents {
  /** Bytes held, and those of them that a lease holds. */
  bytes = 0
  leased = 0
  /** Ascending. */
  private list: Extent[] = []
  private uses = 0

  /** The bytes of a range, where all of it is at hand: a view of them, or `target` with a copy. */
  read({ offset, length }: Range, target?: Uint8Array): Uint8Array | undefined {
    let at = this.indexAt(offset)
    const first = this.list[at]
    if (first === undefined || endOf(first) <= offset) return undefined
    if (target === undefined && endOf(first) >= offset + length) {
      first.used = ++this.uses
      return first.bytes.subarray(offset - first.offset, offset - first.offset + length)
    }
    if (this.missing({ offset, length }).length > 0) return undefined
    const bytes = target ?? new Uint8Array(length)
    for (let done = 0; done < length; at++) {
      const extent = this.list[at]
      const from = offset + done - extent.offset
      const part = extent.bytes.subarray(from, from + length - done)
      bytes.set(part, done)
      extent.used = ++this.uses
      done += part.length
    }
    return bytes
  }

  /** What of a range is not at hand. */
  missing({ offset, length }: Range): Range[] {
    const missing: Range[] = []
    const end = offset + length
    let at = offset
    for (let i = Math.max(0, this.indexAt(offset)); i < this.list.length && at < end; i++) {
      const extent = this.list[i]
      if (extent.offset >= end) break
      if (extent.offset > at) missing.push({ offset: at, length: extent.offset - at })
      at = Math.max(at, endOf(extent))
    }
    if (at < end) missing.push({ offset: at, length: end - at })
    return missing
  }

  /** Adds bytes; what of them is at hand already is left out. */
  put(offset: number, bytes: Uint8Array): void {
    const missing = this.missing({ offset, length: bytes.length })
    for (const range of missing) {
      const from = range.offset - offset
      // A part is copied, since a view would keep all of it in memory.
      const part = range.length === bytes.length ? bytes : bytes.slice(from, from + range.length)
      this.list.splice(this.indexAt(range.offset) + 1, 0, {
        offset: range.offset,
        bytes: part,
        leases: 0,
        used: ++this.uses
      })
      this.bytes += part.length
    }
  }

  /** Holds what of some ranges is at hand until the lease ends. */
  lease(ranges: readonly Range[]): Lease {
    const held = new Set(ranges.flatMap(range => this.within(range)))
    for (const extent of held) if (extent.leases++ === 0) this.leased += extent.bytes.length
    return () => {
      for (const extent of held) if (--extent.leases === 0) this.leased -= extent.bytes.length
      held.clear()
    }
  }

  /** Lets go of what no lease holds, longest unused first, until no more than so many bytes are held without one. */
  trim(most: number): void {
    if (this.bytes - this.leased <= most) return
    const free = this.list.filter(({ leases }) => leases === 0).sort((a, b) => a.used - b.used)
    const dropped = new Set<Extent>()
    for (const extent of free) {
      if (this.bytes - this.leased <= most) break
      this.bytes -= extent.bytes.length
      dropped.add(extent)
    }
    this.list = this.list.filter(extent => !dropped.has(extent))
  }

  private within({ offset, length }: Range): Extent[] {
    const found: Extent[] = []
    for (let i = Math.max(0, this.indexAt(offset)); i < this.list.length; i++) {
      const extent = this.list[i]
      if (extent.offset >= offset + length) break
      if (endOf(extent) > offset) found.push(extent)
    }
    return found
  }

  /** Index of the last extent that begins at an offset or before it, by binary search; -1: there is none. */
  private indexAt(offset: number): number {
    let low = 0
    let high = this.list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.list[middle].offset <= offset) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

const endOf = ({ offset, bytes }: Extent): number => offset + bytes.length
