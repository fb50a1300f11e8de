import { fail } from '../errors.ts'

/** Bytes kept for a length that is only known later; protobuf allows a varint to be longer than it need be. */
const LENGTH_BYTES = 5

/** Below this, a loop copies faster than a call. */
const SHORT = 24

/** Writes protobuf messages front to back; a nested message's length is filled in when it is closed. */
export class SkeletonWriter {
  #bytes = new Uint8Array(4096)
  #length = 0
  readonly #limit: number

  /** @param limit most bytes that may be written; beyond it `limit-exceeded` is thrown */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Starts a nested message; what is returned goes to {@link close}. */
  open(tag: number): number {
    this.#varint(tag)
    this.reserve(LENGTH_BYTES)
    this.#length += LENGTH_BYTES
    return this.#length
  }

  /** Ends the nested message that `open` started. */
  close(opened: number): void {
    let length = this.#length - opened
    for (let i = LENGTH_BYTES; i > 0; i--) {
      this.#bytes[opened - i] = i === 1 ? length : (length & 127) | 128
      length >>>= 7
    }
  }

  copy(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    if (bytes.length < SHORT) for (let i = 0; i < bytes.length; i++) this.#bytes[this.#length + i] = bytes[i]
    else this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A packed list of numbers below 2^32. */
  packed(field: number, numbers: readonly number[]): void {
    const opened = this.open(((field << 3) | 2) >>> 0)
    for (const number of numbers) this.#varint(number)
    this.close(opened)
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    if (needed > this.#limit) fail('limit-exceeded', `the file has more than ${this.#limit} bytes besides its weights`)
    const grown = new Uint8Array(Math.min(this.#limit, Math.max(needed, this.#bytes.length * 2)))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }

  /** What was written. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #varint(value: number): void {
    this.reserve(LENGTH_BYTES)
    while (value > 127) {
      this.#bytes[this.#length++] = (value & 127) | 128
      value >>>= 7
    }
    this.#bytes[this.#length++] = value
  }
}
