import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { NodewiseError } from 'nodewise'
import { badUsage } from './mapping.ts'
import type { Sink } from './table.ts'

/** What a process that stopped has done, as it notes it beside what it writes. */
export interface Checkpoint {
  /** What was asked for; another question cannot go on from here. */
  readonly question: string
  /** Rows of the table that are done, and of the result. */
  readonly read: number
  readonly written: number
  readonly failed: number
  /** Bytes of the result, and of the rows that failed. */
  readonly bytes: number
  readonly errorBytes: number
  /** What the writer of the format needs. */
  readonly state: unknown
}

/** Milliseconds between two checkpoints: what is lost when the process dies. */
const INTERVAL = 1000

/** Where a result goes. A file stands under another name until it is whole. */
export interface Target extends Sink {
  /** Notes how far the result has come, once in a while. */
  checkpoint(made: () => Omit<Checkpoint, 'bytes'>): Promise<void>
  /** The whole result takes its name; `finish` may change the file before. */
  complete(finish?: (path: string) => Promise<void>): Promise<void>
  /** Lets go of what was not completed: it stays where a checkpoint says how to go on. */
  abandon(): Promise<void>
  /** Whether {@link abandon} leaves something to go on from. */
  readonly isKept: boolean
}

const partOf = (path: string): string => `${path}.part`
const noteOf = (path: string): string => `${path}.part.json`

/**
 * The checkpoint of a result that an earlier process began.
 * @throws NodewiseError `bad-usage` where there is none, or of another question
 */
export async function readCheckpoint(path: string, question: string): Promise<Checkpoint | undefined> {
  let text: string
  try {
    text = await readFile(noteOf(path), 'utf8')
  } catch {
    // Nothing was done before, or all of it.
    return undefined
  }
  let found: Partial<Checkpoint>
  try {
    found = JSON.parse(text) as Partial<Checkpoint>
  } catch (error) {
    throw new NodewiseError('invalid-file', `${noteOf(path)}: ${(error as Error).message}`)
  }
  const counts = [found.read, found.written, found.failed, found.bytes, found.errorBytes]
  if (!counts.every(count => Number.isSafeInteger(count) && (count as number) >= 0))
    throw new NodewiseError('invalid-file', `${noteOf(path)} does not say how far the result has come`)
  if (found.question !== question)
    badUsage(
      `--resume: ${partOf(path)} was begun with another table, model or options; run without --resume to start anew`
    )
  return found as Checkpoint
}

/**
 * Does what writes a file.
 * @throws NodewiseError `write-failed` for what the system does not allow
 */
export async function writing<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof NodewiseError || (error as NodeJS.ErrnoException).code === undefined) throw error
    throw new NodewiseError('write-failed', `cannot write: ${(error as Error).message}`, { file: path })
  }
}

/**
 * Makes a folder and those above it. Not by `recursive` of Node's `mkdir`, which tries again without end below a folder
 * such as /proc, that says of what is made in it that the folder is not there.
 */
async function makeFolder(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    // Another process may have made it meanwhile.
    if (error.code !== 'EEXIST') throw error
  })
}

/**
 * Opens a file that a result goes to, after the bytes of an earlier process.
 * @throws NodewiseError `write-failed`
 */
export const openFileTarget = (path: string, from: Checkpoint | undefined): Promise<Target> =>
  writing(path, () => openTarget(path, from))

async function openTarget(path: string, from: Checkpoint | undefined): Promise<Target> {
  const there = await stat(path).catch(() => undefined)
  // A file cannot take its place, which would be found when all rows are done.
  if (there?.isDirectory()) throw new NodewiseError('write-failed', 'cannot write: this is a folder', { file: path })
  await makeFolder(dirname(path))
  const [part, note] = [partOf(path), noteOf(path)]
  const handle = await openAt(part, from?.bytes)
  if (!from) await rm(note, { force: true })
  let bytes = from?.bytes ?? 0
  let isKept = from !== undefined
  let last = -Infinity
  return {
    get bytes() {
      return bytes
    },
    get isKept() {
      return isKept
    },
    async write(piece) {
      await writing(path, () => writeAll(handle, piece))
      bytes += piece.length
    },
    async checkpoint(made) {
      if (performance.now() - last < INTERVAL) return
      await writing(path, async () => {
        await handle.datasync()
        const checkpoint: Checkpoint = { ...made(), bytes }
        await writeFile(`${note}.new`, JSON.stringify(checkpoint))
        await rename(`${note}.new`, note)
      })
      last = performance.now()
      isKept = true
    },
    complete: finish =>
      writing(path, async () => {
        await handle.sync()
        await handle.close()
        await finish?.(part)
        await rename(part, path)
        await rm(note, { force: true })
      }),
    async abandon() {
      await handle.close()
      if (!isKept) await rm(part, { force: true })
    }
  }
}

/** Opens a file to write after its first bytes; what stands behind them is cut off. */
export async function openAt(path: string, bytes: number | undefined): Promise<FileHandle> {
  if (bytes === undefined) return open(path, 'w')
  const handle = await open(path, 'r+').catch(() => badUsage(`--resume: ${path} is not there any more`))
  const { size } = await handle.stat()
  if (size < bytes) {
    await handle.close()
    throw new NodewiseError('invalid-file', `${path} has ${size} bytes, and ${bytes} were written`)
  }
  await handle.truncate(bytes)
  return reopened(handle, path)
}

/** Writes go to the end. */
async function reopened(handle: FileHandle, path: string): Promise<FileHandle> {
  await handle.close()
  return open(path, 'a')
}

export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten
}

/** A result that goes to a function, such as one that writes to stdout; it cannot be gone on with. */
export function functionTarget(take: (bytes: Uint8Array) => Promise<void>): Target {
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    isKept: false,
    async write(piece) {
      await take(piece)
      bytes += piece.length
    },
    checkpoint: async () => undefined,
    complete: async () => undefined,
    abandon: async () => undefined
  }
}
