import type { Stats } from 'node:fs'
import { fail, NodewiseError } from '../errors.ts'
import { clock, fs } from '../host.ts'
import type { Remote } from './remote.ts'

/**
 * Bytes that are read by position, of a file or of an array in memory. Reading is synchronous; where bytes come
 * asynchronously (`remote`), it gives those that are at hand.
 */
export interface ByteSource {
  /** Name for messages. */
  readonly name: string
  readonly size: number
  /** Whether the bytes are in memory; `read` then returns views of them. */
  readonly inMemory?: boolean
  /** Set where bytes come asynchronously. */
  readonly remote?: Remote | undefined
  /**
   * Bytes `[offset, offset + length)`. The result may be a view: do not write to it.
   * @param target array of `length` bytes; a source that is not in memory reads into it and returns it
   * @throws NodewiseError `invalid-file` when the range is not inside the source; what `notRead` makes where it has not
   *   come yet
   */
  read(offset: number, length: number, target?: Uint8Array): Uint8Array
}

/** A file on disk. The first read opens it; `close`, or garbage collection of this object, closes its descriptor. */
export interface FileSource extends ByteSource {
  /** Closes the descriptor. A later read opens the file again, and fails if the file has changed since. */
  close(): void
}

/** Bytes in memory. `read` returns views of `bytes`. */
export function bytesSource(name: string, bytes: Uint8Array): ByteSource {
  // Views are plain Uint8Arrays even where `bytes` is a Buffer: `slice` of a Buffer does not copy.
  const { buffer, byteOffset, length: size } = bytes
  return {
    name,
    size,
    inMemory: true,
    read(offset, length) {
      checkRange(name, size, offset, length)
      return new Uint8Array(buffer, byteOffset + offset, length)
    }
  }
}

/**
 * A regular file. It is opened when `size` or `read` is first used; both throw NodewiseError `missing-file` when the
 * file does not exist or may not be read, and `invalid-file` when it is not a regular file (but a directory, pipe or
 * device), when it changes while it is in use, or when the range is not inside it.
 */
export const fileSource = (path: string, name: string = path): FileSource => new OpenFile(path, name)

/** Fills `target` with the bytes from `offset` on. */
export function readInto(source: ByteSource, offset: number, target: Uint8Array): void {
  const bytes = source.read(offset, target.length, target)
  if (bytes !== target) target.set(bytes)
}

/** @throws NodewiseError `limit-exceeded` where there is no memory for so many bytes of a file */
export function roomFor(length: number, name: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length)
  } catch {
    return fail('limit-exceeded', `no memory for ${length} bytes of ${name}`)
  }
}

/** @throws NodewiseError `invalid-file` where a range is not inside a file */
export function checkRange(name: string, size: number, offset: number, length: number): void {
  if (
    !Number.isSafeInteger(offset) ||
    !Number.isSafeInteger(length) ||
    offset < 0 ||
    length < 0 ||
    offset + length > size
  ) {
    fail('invalid-file', `${name} has ${size} bytes; ${length} bytes at ${offset} are not inside it`)
  }
}

/** Holds the descriptor apart from the `FileSource`, so that it can be closed after that object is collected. */
interface Handle {
  descriptor?: number
}

const collected = new FinalizationRegistry<Handle>(handle => {
  if (handle.descriptor !== undefined) fs.closeSync(handle.descriptor)
})

/**
 * Least milliseconds between two checks whether an open file has changed. A check costs as much as a short read, and
 * modification times of files are no finer.
 */
const CHECK_INTERVAL = 1

/** Some systems read at most 2^31 bytes in one call. */
const MAX_READ = 2 ** 30

class OpenFile implements FileSource {
  readonly name: string
  readonly #path: string
  readonly #handle: Handle = {}
  /** Status of the file when it was first opened. */
  #firstStats?: Stats
  #lastCheck = -Infinity

  constructor(path: string, name: string) {
    this.name = name
    this.#path = path
    collected.register(this, this.#handle)
  }

  get size(): number {
    return this.#open().size
  }

  read(offset: number, length: number, target?: Uint8Array): Uint8Array {
    const { descriptor, size } = this.#open()
    checkRange(this.name, size, offset, length)
    const bytes = target ?? roomFor(length, this.name)
    let done = 0
    while (done < length) {
      const got = this.#attempt(() =>
        fs.readSync(descriptor, bytes, done, Math.min(length - done, MAX_READ), offset + done)
      )
      if (got === 0)
        fail(
          'invalid-file',
          `${this.name} became shorter while in use: it had ${size} bytes and ends now at ${offset + done}`
        )
      done += got
    }
    this.#checkUnchanged(descriptor)
    return bytes
  }

  /** Called after a read: the file is the one first opened, so the bytes just read are of that file too. */
  #checkUnchanged(descriptor: number): void {
    const now = clock()
    if (now - this.#lastCheck < CHECK_INTERVAL) return
    this.#lastCheck = now
    this.#requireSame(this.#attempt(() => fs.fstatSync(descriptor)))
  }

  close(): void {
    const { descriptor } = this.#handle
    if (descriptor === undefined) return
    delete this.#handle.descriptor
    fs.closeSync(descriptor)
  }

  #open(): { descriptor: number; size: number } {
    const { descriptor } = this.#handle
    if (descriptor !== undefined && this.#firstStats !== undefined) return { descriptor, size: this.#firstStats.size }
    return this.#attempt(() => {
      // Opening a pipe could block for ever and opening a device could start it, so the kind of file is checked before
      // opening, and once more after it.
      this.#requireRegular(fs.statSync(this.#path))
      const opened = fs.openSync(this.#path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0))
      this.#handle.descriptor = opened
      const stats = fs.fstatSync(opened)
      this.#requireRegular(stats)
      this.#requireSame(stats)
      return { descriptor: opened, size: stats.size }
    })
  }

  #requireSame(stats: Stats): void {
    const first = (this.#firstStats ??= stats)
    const isSameFile = first.ino === stats.ino && first.dev === stats.dev
    if (isSameFile && first.size === stats.size && first.mtimeMs === stats.mtimeMs) return
    this.close()
    fail('invalid-file', `${this.name} changed while it was in use`)
  }

  #requireRegular(stats: Stats): void {
    if (stats.isFile()) return
    this.close()
    fail('invalid-file', `${this.name} is ${stats.isDirectory() ? 'a folder' : 'a pipe or device'}, not a regular file`)
  }

  #attempt<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      if (error instanceof NodewiseError) throw error
      throw systemFailure(error, this.name)
    }
  }
}

const MISSING = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** The `NodewiseError` for an error that a function of `node:fs` threw. */
export function systemFailure(error: unknown, name: string): NodewiseError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? String(error)
  if (MISSING.has(code)) return new NodewiseError('missing-file', `${name} does not exist`)
  if (code === 'EACCES' || code === 'EPERM')
    return new NodewiseError('missing-file', `${name} may not be read (${code})`)
  if (code === 'EMFILE' || code === 'ENFILE')
    return new NodewiseError('limit-exceeded', `${name}: too many files are open (${code})`)
  return new NodewiseError('invalid-file', `${name} cannot be read (${code})`)
}
