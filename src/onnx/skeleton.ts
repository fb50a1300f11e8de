import { fail } from '../errors.ts'

/**
 * Bytes reserved for the length of a nested message, which is known only when the message is closed. Protobuf allows a
 * varint to be longer than necessary.
 */
const LENGTH_BYTES = 5

/** Fewer bytes are copied faster by a loop than by `set`. */
const SHORT = 24

/** Writes protobuf messages front to back; the length of a nested message is filled in when it is closed. */
export class SkeletonWriter {
  #bytes = new Uint8Array(4096)
  #length = 0
  readonly #limit: number

  /** @param limit maximum of bytes; writing more throws `limit-exceeded` */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Starts a nested message. Returns where its content starts, which {@link close} wants to know. */
  open(tag: number): number {
    this.#varint(tag)
    this.reserve(LENGTH_BYTES)
    this.#length += LENGTH_BYTES
    return this.#length
  }

  /** Ends the nested message that `open` started; `opened` is what `open` returned. */
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

  /** The bytes written so far, as a view. */
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
