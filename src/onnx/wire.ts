import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'

/** Bytes that are read ahead after a jump. Each window that continues the one before is twice as large. */
const MIN_WINDOW = 512
const MAX_WINDOW = 2 ** 18
/**
 * A jump of fewer bytes counts as continuing, since a small window after it would cost more than reading these bytes.
 */
const SHORT_JUMP = 4096
/** Bytes before the current offset that a new window holds at most, see {@link WireReader.held}. */
const MAX_HELD = 2 ** 13
/** Least size of the buffer that windows are read into. */
const MIN_BUFFER = 2 ** 14

const NO_BYTES = new Uint8Array(0)

/**
 * Reads protobuf's wire format front to back through a window of bytes. The window starts small after each jump, so
 * that what is jumped over is not read. Failures are `invalid-file` and say what was being read and at which byte.
 */
export class WireReader {
  /** Offset of the next byte. */
  offset: number
  /**
   * Start of the bytes that `view` will be asked for: a new window includes them where they are few. -1: there are
   * none.
   */
  held = -1
  readonly #source: ByteSource
  readonly #size: number
  #window: Uint8Array = NO_BYTES
  #windowStart = 0
  /** All windows of a file are read into this buffer, one after the other. */
  #buffer: Uint8Array = NO_BYTES
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
    if (tag >= 8 && tag <= 0xffffffff) return tag
    return malformed(what, start, tag < 8 ? 'there is no field 0' : 'a tag has 32 bits, this one more')
  }

  /** The length before a value, checked: the value lies inside a message that ends at `end`. */
  length(end: number, what: string): number {
    const start = this.offset
    const length = this.varint(end, what)
    if (length > end - this.offset) malformed(what, start, `it claims ${length} bytes, ${end - this.offset} are left`)
    return length
  }

  /** A varint of at most 64 bits; above 2^53 the nearest double. */
  varint(end: number, what: string): number {
    // Most have one byte, which is in the window.
    const byte = this.#window[this.offset - this.#windowStart]
    if (byte < 128 && this.offset < end) {
      this.offset++
      return byte
    }
    return this.#longVarint(end, what)
  }

  #longVarint(end: number, what: string): number {
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

  /** Bytes `[from, from + length)`, a view of the window if it holds them: copy them before anything else is read. */
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
    const continues = windowEnd > 0 && this.offset >= windowEnd && this.offset - windowEnd < SHORT_JUMP
    this.#ahead = continues ? Math.min(this.#ahead * 2, MAX_WINDOW) : MIN_WINDOW
    const start =
      this.held >= this.#windowStart && this.offset - this.held < MAX_HELD
        ? Math.min(this.held, this.offset)
        : this.offset
    const length = Math.min(this.offset - start + this.#ahead, this.#size - start)
    if (!this.#source.inMemory && length > this.#buffer.length)
      this.#buffer = new Uint8Array(Math.min(this.#size, Math.max(length, MIN_BUFFER)))
    const target = this.#source.inMemory ? undefined : this.#buffer.subarray(0, length)
    this.#window = this.#source.read(start, length, target)
    this.#windowStart = start
  }
}

/**
 * Throws `invalid-file`.
 * @param what field or message that was being read
 * @param offset its first byte
 * @param why what is wrong with it
 */
export const malformed = (what: string, offset: number, why: string): never =>
  fail('invalid-file', `${what} at byte ${offset}: ${why}`, { offset })

const truncated = (what: string, offset: number): never => malformed(what, offset, 'the bytes end before it does')
