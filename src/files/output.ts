import type { ByteSource } from './byte-source.ts'

/** A file that is to be written. */
export interface OutputFile {
  readonly path: string
  /** Its bytes in order. Each chunk is written before the next one is asked for, so all may be one buffer. */
  readonly chunks: Iterable<Uint8Array>
}

/** Bytes that are copied at a time. */
const STEP = 2 ** 20

/** The bytes of a range in order. Chunks of a file are one buffer: each is used before the next one is asked for. */
export function* chunksOf(source: ByteSource, offset: number, length: number): Generator<Uint8Array> {
  const buffer = source.inMemory ? undefined : new Uint8Array(Math.min(STEP, length))
  for (let done = 0; done < length; done += STEP) {
    const size = Math.min(STEP, length - done)
    yield source.read(offset + done, size, buffer?.subarray(0, size))
  }
}
