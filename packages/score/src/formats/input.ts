import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { PassThrough } from 'node:stream'
import { NodewiseError } from 'nodewise'
import type { Format } from '../table.ts'

/** Where a table is read from: a file, or a stream such as stdin. */
export interface Input {
  readonly name: string
  /** The file; undefined for a stream. */
  readonly path?: string
  readonly size?: number
  /** The first bytes. */
  readonly head: Uint8Array
  stream(): Readable
  /** The part that {@link stream} has given. */
  fraction(): number | undefined
  close(): Promise<void>
}

/** First bytes that tell the format. */
const HEAD_BYTES = 8

/**
 * Opens a table.
 * @throws NodewiseError `missing-file`, or `invalid-file` for a folder
 */
export async function openInput(source: string | Readable): Promise<Input> {
  return typeof source === 'string' ? openFile(source) : openStream(source)
}

async function openFile(path: string): Promise<Input> {
  let handle: FileHandle
  try {
    handle = await open(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`
    throw new NodewiseError('missing-file', `${path} ${reason}`, { file: path })
  }
  const stats = await handle.stat()
  const head = Buffer.alloc(HEAD_BYTES)
  const { bytesRead } = stats.isFile() ? await handle.read(head, 0, HEAD_BYTES, 0) : { bytesRead: 0 }
  await handle.close()
  if (stats.isDirectory()) throw new NodewiseError('invalid-file', 'this is a folder, not a table', { file: path })
  if (!stats.isFile()) return openStream(createReadStream(path), path)
  let stream: ReturnType<typeof createReadStream> | undefined
  return {
    name: path,
    path,
    size: stats.size,
    head: head.subarray(0, bytesRead),
    stream: () => (stream ??= createReadStream(path, { highWaterMark: 2 ** 18 })),
    fraction: () => stream && (stats.size === 0 ? 1 : stream.bytesRead / stats.size),
    close: async () => void stream?.destroy()
  }
}

/** A stream is looked at before it is read: its first bytes go back to its start. */
async function openStream(stream: Readable, name = 'stdin'): Promise<Input> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const pieces: Uint8Array[] = []
  for (let bytes = 0; bytes < HEAD_BYTES;) {
    const { value, done } = await iterator.next()
    if (done === true) break
    pieces.push(Buffer.from(value))
    bytes += value.length
  }
  const start = Buffer.concat(pieces)
  const whole = new PassThrough()
  return {
    name,
    head: start.subarray(0, HEAD_BYTES),
    stream() {
      void feed(whole, start, iterator)
      return whole
    },
    fraction: () => undefined,
    close: async () => void stream.destroy()
  }
}

async function feed(into: PassThrough, start: Uint8Array, rest: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    for (let piece: Uint8Array = start; ;) {
      if (!into.write(piece)) await new Promise(resolve => into.once('drain', resolve))
      const { value, done } = await rest.next()
      if (done === true) break
      piece = value
    }
    into.end()
  } catch (error) {
    into.destroy(error as Error)
  }
}

const SUFFIXES: readonly (readonly [RegExp, Format])[] = [
  [/\.(?:parquet|pq)$/i, 'parquet'],
  [/\.(?:ndjson|jsonl)$/i, 'ndjson'],
  [/\.csv$/i, 'csv'],
  [/\.arrows$/i, 'arrow-stream'],
  [/\.(?:arrow|feather|ipc)$/i, 'arrow']
]

/** The format that a name stands for. */
export const formatOfName = (name: string): Format | undefined => SUFFIXES.find(([suffix]) => suffix.test(name))?.[1]

/** The format that first bytes tell. */
export function formatOfBytes(head: Uint8Array): Format | undefined {
  const text = Buffer.from(head).toString('latin1')
  if (text.startsWith('PAR1')) return 'parquet'
  if (text.startsWith('ARROW1')) return 'arrow'
  if (text.startsWith('\xff\xff\xff\xff')) return 'arrow-stream'
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(text) ? 'ndjson' : undefined
}

/** The format of a stream, which has no name: text that is not NDJSON is CSV. */
export const formatOfText = ({ path, head }: Input): Format | undefined =>
  path === undefined && head.length > 0 && head.every(byte => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d))
    ? 'csv'
    : undefined
