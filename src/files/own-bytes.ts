import { fail, NodewiseError } from '../errors.ts'
import { type ByteSource, bytesSource, checkRange } from './byte-source.ts'
import type { Traffic } from './network.ts'
import { piecesOf, scatter } from './pieces.ts'
import { RemoteSource } from './remote-source.ts'
import { type AsyncBytes, inParallel, refuseAborted, unlessAborted } from './remote.ts'

/** A caller's own way to the bytes of a file. */
export interface ByteReader {
  /** Bytes that the file has. */
  readonly size: number
  /** Bytes `[offset, offset + length)`, or a promise of them. It may be called again before that is fulfilled. */
  read(
    offset: number,
    length: number,
    signal?: AbortSignal
  ): Uint8Array | ArrayBuffer | Promise<Uint8Array | ArrayBuffer>
}

/** A handle of a page's own file system (OPFS), or of a file that the user has chosen. */
export interface FileHandle {
  readonly kind: 'file'
  readonly name: string
  /** The file as it is now. */
  getFile(): Promise<File>
}

/** Bytes that are read when a file is opened; all of one that has no more. */
const FIRST = 2 ** 16
/** A `Blob` of no more bytes is read at once. */
const SMALL_BLOB = 2 ** 24
/** Parts that are nearer are read together; so many bytes at once, and so many reads at the same time. */
const NEAR = 2 ** 15
const MAX_READ = 2 ** 23
const AT_ONCE = 8

/**
 * A `Blob` or `File`, of which what is needed is read.
 * @throws NodewiseError (as a rejection) `invalid-file` where the file has changed or may not be read any more
 */
export async function openBlob(blob: Blob, name: string, traffic: Traffic, signal?: AbortSignal): Promise<ByteSource> {
  const read = async (offset: number, length: number): Promise<ArrayBuffer> => {
    try {
      return await blob.slice(offset, offset + length).arrayBuffer()
    } catch (error) {
      const why = 'it cannot be read (any more: a file that has changed since it was chosen has to be chosen again)'
      throw new NodewiseError('invalid-file', why, { file: name }, {}, { cause: error })
    }
  }
  const bytes = new ReaderBytes({ size: blob.size, read }, name, traffic)
  if (blob.size <= SMALL_BLOB) return bytesSource(name, await bytes.start(blob.size, signal))
  return new RemoteSource(bytes)
}

/**
 * A file that a caller's own reader reads: synchronously, where that gives bytes and no promise.
 * @throws NodewiseError (as a rejection) `invalid-file` where the reader does not give what it was asked for; `aborted`
 */
export async function openReader(
  reader: ByteReader,
  name: string,
  traffic: Traffic,
  signal?: AbortSignal
): Promise<ByteSource> {
  const { size } = reader
  if (!Number.isSafeInteger(size) || size < 0)
    fail('bad-usage', `the size of a reader is a whole number of bytes, not ${size}`)
  const length = Math.min(size, FIRST)
  const first = length === 0 ? new Uint8Array(0) : reader.read(0, length, signal)
  if (!isPromise(first)) {
    checked(first, length, name)
    return new SynchronousReader(reader, name)
  }
  const start = checked(await unlessAborted(first, signal, name), length, name)
  traffic.expect(length)
  traffic.came(name, length)
  return length === size ? bytesSource(name, start) : new RemoteSource(new ReaderBytes(reader, name, traffic), start)
}

const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof (value as { readonly then?: unknown } | null)?.then === 'function'

/** What a reader gave, which must be what it was asked for. */
function checked(bytes: Uint8Array | ArrayBuffer, length: number, name: string): Uint8Array {
  const array = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes
  if (!(array instanceof Uint8Array)) fail('invalid-file', `${name}: its reader gives no bytes`)
  if (array.length !== length)
    fail('invalid-file', `${name}: its reader gives ${array.length} bytes where ${length} were asked for`)
  return array
}

class SynchronousReader implements ByteSource {
  readonly name: string
  readonly size: number
  private readonly reader: ByteReader

  constructor(reader: ByteReader, name: string) {
    this.reader = reader
    this.name = name
    this.size = reader.size
  }

  read(offset: number, length: number, target?: Uint8Array): Uint8Array {
    checkRange(this.name, this.size, offset, length)
    if (length === 0) return target ?? new Uint8Array(0)
    const bytes = checked(this.reader.read(offset, length) as Uint8Array, length, this.name)
    target?.set(bytes)
    return target ?? bytes
  }
}

class ReaderBytes implements AsyncBytes {
  readonly name: string
  readonly size: number
  private readonly reader: ByteReader
  private readonly traffic: Traffic

  constructor(reader: ByteReader, name: string, traffic: Traffic) {
    this.reader = reader
    this.name = name
    this.size = reader.size
    this.traffic = traffic
  }

  async start(length: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const target = new Uint8Array(length)
    await this.fill([{ offset: 0, target }], signal)
    return target
  }

  async fill(parts: Parameters<AsyncBytes['fill']>[0], signal?: AbortSignal): Promise<void> {
    const pieces = piecesOf(parts, NEAR, MAX_READ)
    for (const { length } of pieces) this.traffic.expect(length)
    refuseAborted(signal, this.name)
    await inParallel(
      pieces,
      AT_ONCE,
      async (piece, stop) => {
        const { offset, length } = piece
        const bytes = await unlessAborted(Promise.resolve(this.reader.read(offset, length, stop)), stop, this.name)
        scatter(piece, offset, checked(bytes, length, this.name))
        this.traffic.came(this.name, length)
      },
      signal
    )
  }
}
