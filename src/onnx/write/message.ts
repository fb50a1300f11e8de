import { encodeText } from '../text.ts'

/** Bytes that are read or made only when they are written. */
export interface Piece {
  readonly length: number
  /** The bytes in order; all chunks may be one buffer, so each is to be used before the next one is asked for. */
  chunks(): Iterable<Uint8Array>
}

/** The wire types of protobuf that ONNX uses. */
const VARINT = 0
const EIGHT_BYTES = 1
const LENGTH_DELIMITED = 2
const FOUR_BYTES = 5

/** Maximum of bytes of a message that protobuf's readers take. */
export const MAX_MESSAGE = 2 ** 31 - 1

/** A protobuf message that is being put together: small parts as bytes, large ones as pieces that are made later. */
export class MessageWriter implements Piece {
  length = 0
  readonly #parts: (Uint8Array | Piece)[] = []

  /** Adds fields that are encoded already. */
  add(part: Uint8Array | Piece): this {
    if (part.length > 0) this.#parts.push(part)
    this.length += part.length
    return this
  }

  /** A field of an integer type, a bool or an enum; negative numbers take ten bytes, as protobuf has it. */
  integer(field: number, value: number | bigint): this {
    return this.#tag(field, VARINT).add(varint(value))
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setFloat32(0, value, true)
    return this.#tag(field, FOUR_BYTES).add(bytes)
  }

  double(field: number, value: number): this {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setFloat64(0, value, true)
    return this.#tag(field, EIGHT_BYTES).add(bytes)
  }

  text(field: number, text: string): this {
    return this.bytes(field, encodeText(text))
  }

  /** Bytes, or a message. */
  bytes(field: number, bytes: Uint8Array | Piece): this {
    return this.#tag(field, LENGTH_DELIMITED).add(varint(bytes.length)).add(bytes)
  }

  #tag(field: number, wire: number): this {
    return this.add(varint(field * 8 + wire))
  }

  /** Small parts are joined, so that a file is not written in chunks of a few bytes. */
  *chunks(): Generator<Uint8Array> {
    const buffer = new Uint8Array(Math.min(BUFFER, this.length))
    let used = 0
    for (const bytes of this.#all()) {
      if (used + bytes.length > buffer.length) {
        yield buffer.subarray(0, used)
        used = 0
      }
      if (bytes.length > buffer.length) yield bytes
      else {
        buffer.set(bytes, used)
        used += bytes.length
      }
    }
    if (used > 0) yield buffer.subarray(0, used)
  }

  *#all(): Generator<Uint8Array> {
    for (const part of this.#parts)
      if (part instanceof Uint8Array) yield part
      else if (part instanceof MessageWriter) yield* part.#all()
      else yield* part.chunks()
  }
}

/** Bytes that are gathered before they are written. */
const BUFFER = 2 ** 16

/** A number of at most 64 bits as a varint, negative ones in two's complement. */
function varint(value: number | bigint): Uint8Array {
  if (typeof value === 'number' && value >= 0 && value < 128) return Uint8Array.of(value)
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

/** All bytes of a piece in one array, for pieces that are known to be small. */
export function gather(piece: Piece): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(piece.length)
  let length = 0
  for (const chunk of piece.chunks()) {
    all.set(chunk, length)
    length += chunk.length
  }
  return all
}
