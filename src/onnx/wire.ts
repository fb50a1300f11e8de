import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'

/** Bytes read ahead after a jump, and the most that is read ahead where reading goes on. */
const MIN_WINDOW = 512
const MAX_WINDOW = 2 ** 18
/** What is skipped costs less to read, up to here, than a window of its own. */
const SHORT_JUMP = 4096
/** Most bytes that one window holds of those before. */
const MAX_HELD = 2 ** 13
/** Room for windows that is made at once. */
const MIN_ROOM = 2 ** 14

const NOTHING = new Uint8Array(0)

/**
 * Reads protobuf's wire format front to back from a source, through a window that starts small after every jump, so
 * that
 * what is jumped over is not read. Failures are `invalid-file` and say what was read and at which byte.
 */
export class WireReader {
  /** Where the next byte is read. */
  offset: number
  /**
   * Where the bytes begin that will be asked for once more, so that windows go on holding them, if they are few; -1:
   * there are none.
   */
  held = -1
  readonly #source: ByteSource
  readonly #size: number
  #window: Uint8Array = NOTHING
  /** What windows are read into, one after the other. */
  #room: Uint8Array = NOTHING
  #windowStart = 0
  #ahead = MIN_WINDOW

  constructor(source: ByteSource, offset = 0) {
    this.#source = source
    this.#size = source.size
    this.offset = offset
  }

  /** The tag at the current byte of a message that ends at `end`: field number times 8 plus wire type. */
  tag(end: number, what: string): number {
    const start = this.offset
    const tag = this.varint(end, what)
    if (tag > 0xffffffff) malformed(what, start, 'a tag has 32 bits, this one more')
    if (tag < 8) malformed(what, start, 'there is no field 0')
    return tag
  }

  /** The length of what follows, checked to lie inside a message that ends at `end`. */
  length(end: number, what: string): number {
    const start = this.offset
    const length = this.varint(end, what)
    if (length > end - this.offset) malformed(what, start, `it claims ${length} bytes, ${end - this.offset} are left`)
    return length
  }

  /** A varint of at most 64 bits; above 2^53 the nearest double. */
  varint(end: number, what: string): number {
    const start = this.offset
    let value = 0
    let scale = 1
    for (let i = 0; i < 10; i++) {
      if (this.offset >= end) truncated(what, start)
      const byte = this.#byte()
      if (i === 9 && byte > 1) break
      value += (byte & 127) * scale
      if (byte < 128) return value
      scale *= 128
    }
    return malformed(what, start, 'a number has more than 64 bits')
  }

  /** Moves on by `length` bytes without reading them. */
  skip(length: number, end: number, what: string): void {
    if (length > end - this.offset) truncated(what, this.offset)
    this.offset += length
  }

  /**
   * Bytes `[from, from + length)`, to be copied before anything else is read: a view of the window where it holds them.
   */
  view(from: number, length: number): Uint8Array {
    const start = from - this.#windowStart
    if (start >= 0 && start + length <= this.#window.length) return this.#window.subarray(start, start + length)
    return this.#source.read(from, length)
  }

  #byte(): number {
    const index = this.offset - this.#windowStart
    if (index < 0 || index >= this.#window.length) {
      this.#fill()
      return this.#window[this.offset++ - this.#windowStart]
    }
    this.offset++
    return this.#window[index]
  }

  #fill(): void {
    const windowEnd = this.#windowStart + this.#window.length
    const goesOn = windowEnd > 0 && this.offset >= windowEnd && this.offset - windowEnd < SHORT_JUMP
    this.#ahead = goesOn ? Math.min(this.#ahead * 2, MAX_WINDOW) : MIN_WINDOW
    const start =
      this.held >= this.#windowStart && this.offset - this.held < MAX_HELD
        ? Math.min(this.held, this.offset)
        : this.offset
    const length = Math.min(this.offset - start + this.#ahead, this.#size - start)
    if (!this.#source.inMemory && length > this.#room.length)
      this.#room = new Uint8Array(Math.min(this.#size, Math.max(length, MIN_ROOM)))
    this.#window = this.#source.read(start, length, this.#source.inMemory ? undefined : this.#room.subarray(0, length))
    this.#windowStart = start
  }
}

/** Fails with what was read, where it starts and what is wrong with it. */
export const malformed = (what: string, offset: number, why: string): never =>
  fail('invalid-file', `${what} at byte ${offset}: ${why}`, { offset })

const truncated = (what: string, offset: number): never => malformed(what, offset, 'the bytes end before it does')
