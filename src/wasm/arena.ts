import type { NumericArray } from '../tensor/dtype.ts'
import { heapAllocate, heapFree, isOnHeap, LINE } from './heap.ts'

/** Bytes that are taken of the heap at once, at least, where nothing else is said, and as a share of what has been. */
const CHUNK_BYTES = 1 << 16
const GROWTH = 1 / 4

/** Free memory of a block, by addresses. */
interface Span {
  readonly block: Uint8Array
  start: number
  end: number
}

/** Memory on the heap that is taken bit by bit, may be given back to be taken anew, and is freed as a whole. */
export class Arena {
  readonly blocks: Uint8Array[] = []
  /** Bytes of {@link blocks}. */
  bytes = 0
  private readonly limit: number
  private readonly chunk: number
  private readonly free: Span[] = []

  /**
   * @param limit most bytes
   * @param chunk bytes that are taken of the heap at once, at least
   */
  constructor(limit: number, chunk = CHUNK_BYTES) {
    this.limit = limit
    this.chunk = chunk
  }

  /** Memory that may hold anything; undefined where there is no more. */
  take(bytes: number): Uint8Array | undefined {
    const size = inLines(bytes)
    const span = this.find(size) ?? this.grow(size)
    if (span === undefined) return undefined
    const { block, start } = span
    span.start += size
    if (span.start === span.end) this.free.splice(this.free.indexOf(span), 1)
    return new Uint8Array(block.buffer, start, bytes)
  }

  /** Takes back what {@link take} gave: it may be given again. */
  giveBack({ byteOffset, byteLength }: ArrayBufferView): void {
    const block = this.blocks.find(
      ({ byteOffset: at, byteLength: size }) => byteOffset >= at && byteOffset < at + size
    )!
    let [start, end] = [byteOffset, byteOffset + inLines(byteLength)]
    for (let i = this.free.length - 1; i >= 0; i--) {
      const other = this.free[i]
      if (other.block !== block || (other.end !== start && other.start !== end)) continue
      start = Math.min(start, other.start)
      end = Math.max(end, other.end)
      this.free.splice(i, 1)
    }
    this.free.push({ block, start, end })
  }

  /** Whether an array lies here. */
  holds(array: NumericArray): boolean {
    return isOnHeap(array) && this.blocks.some(block => liesIn(array, block))
  }

  freeAll(): void {
    this.free.length = 0
    for (const block of this.blocks.splice(0)) heapFree(block)
  }

  /** The smallest free memory of so many bytes. */
  private find(size: number): Span | undefined {
    let best: Span | undefined
    for (const span of this.free) {
      const room = span.end - span.start
      if (room >= size && (best === undefined || room < best.end - best.start)) best = span
    }
    return best
  }

  private grow(size: number): Span | undefined {
    const wish = Math.max(size, this.chunk, inLines(this.bytes * GROWTH))
    const bytes = this.bytes + wish > this.limit ? size : wish
    const block = this.bytes + bytes > this.limit ? undefined : heapAllocate(bytes, { zero: false })
    if (block === undefined) return undefined
    this.blocks.push(block)
    this.bytes += bytes
    const span = { block, start: block.byteOffset, end: block.byteOffset + bytes }
    this.free.push(span)
    return span
  }
}

/** Whole lines for so many bytes. */
const inLines = (bytes: number): number => Math.max(1, Math.ceil(bytes / LINE)) * LINE

/** Whether an array on the heap lies within another one. */
export const liesIn = (array: ArrayBufferView, other: ArrayBufferView): boolean =>
  array.byteOffset >= other.byteOffset && array.byteOffset + array.byteLength <= other.byteOffset + other.byteLength
