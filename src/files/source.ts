import type { Stats } from 'node:fs'
import { fail, NodewiseError } from '../errors.ts'
import type { ByteSource } from '../graph/graph.ts'
import { fs } from '../host.ts'

/**
 * A file as a source. The descriptor is opened at the first use and closed by `close` or when the source is collected.
 */
export interface FileSource extends ByteSource {
  /** Gives the descriptor back. Reading again opens the file again, and fails if it is another one by then. */
  close(): void
}

/** Bytes in memory as a source. What it reads are views of `bytes`. */
export function bytesSource(name: string, bytes: Uint8Array): ByteSource {
  // A Buffer would hand out Buffers, whose `slice` does not copy as that of other arrays does.
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
 * A regular file as a source, read by position. Nothing is opened before `size` or `read` is used.
 * Both throw NodewiseError `missing-file` when there is no such file or it may not be read, `invalid-file` when it is
 * no
 * regular file (directory, pipe, device), when it changes while it is in use, or when the range is not inside it.
 */
export const fileSource = (path: string, name: string = path): FileSource => new OpenFile(path, name)

/** Fills `target` with what lies at `offset`. */
export function readInto(source: ByteSource, offset: number, target: Uint8Array): void {
  const bytes = source.read(offset, target.length, target)
  if (bytes !== target) target.set(bytes)
}

function checkRange(name: string, size: number, offset: number, length: number): void {
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

/** The descriptor, apart from the source so that it can outlive it until it is closed. */
interface Handle {
  descriptor?: number
}

const collected = new FinalizationRegistry<Handle>(handle => {
  if (handle.descriptor !== undefined) fs.closeSync(handle.descriptor)
})

/**
 * Milliseconds between two looks at whether an open file has changed: a look costs as much as a short read, and clocks
 * of files are no finer.
 */
const LOOK_PAUSE = 1

/** Some systems read at most 2^31 bytes in one call. */
const MAX_READ = 2 ** 30

class OpenFile implements FileSource {
  readonly name: string
  readonly #path: string
  readonly #handle: Handle = {}
  #seen?: Stats
  #looked = -Infinity

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
    const bytes = target ?? this.#allocate(length)
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
    this.#look(descriptor)
    return bytes
  }

  /** After a read, so that what was read is known to be of the file as it was at first. */
  #look(descriptor: number): void {
    const now = performance.now()
    if (now - this.#looked < LOOK_PAUSE) return
    this.#looked = now
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
    if (descriptor !== undefined && this.#seen !== undefined) return { descriptor, size: this.#seen.size }
    return this.#attempt(() => {
      // Opening alone could wait for ever on a pipe or start a device, so the kind is looked at before, and again
      // after.
      this.#requireFile(fs.statSync(this.#path))
      const opened = fs.openSync(this.#path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0))
      this.#handle.descriptor = opened
      const stats = fs.fstatSync(opened)
      this.#requireFile(stats)
      this.#requireSame(stats)
      return { descriptor: opened, size: stats.size }
    })
  }

  #requireSame(stats: Stats): void {
    const seen = (this.#seen ??= stats)
    if (seen.ino === stats.ino && seen.dev === stats.dev && seen.size === stats.size && seen.mtimeMs === stats.mtimeMs)
      return
    this.close()
    fail('invalid-file', `${this.name} changed while it was in use`)
  }

  #requireFile(stats: Stats): void {
    if (stats.isFile()) return
    this.close()
    fail('invalid-file', `${this.name} is ${stats.isDirectory() ? 'a folder' : 'a pipe or device'}, not a regular file`)
  }

  #allocate(length: number): Uint8Array<ArrayBuffer> {
    try {
      return new Uint8Array(length)
    } catch {
      return fail('limit-exceeded', `no memory for ${length} bytes of ${this.name}`)
    }
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

/** A failure of the file system as an error of this package. */
export function systemFailure(error: unknown, name: string): NodewiseError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? String(error)
  if (MISSING.has(code)) return new NodewiseError('missing-file', `${name} does not exist`)
  if (code === 'EACCES' || code === 'EPERM')
    return new NodewiseError('missing-file', `${name} may not be read (${code})`)
  if (code === 'EMFILE' || code === 'ENFILE')
    return new NodewiseError('limit-exceeded', `${name}: too many files are open (${code})`)
  return new NodewiseError('invalid-file', `${name} cannot be read (${code})`)
}
