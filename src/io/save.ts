import { randomBytes } from 'node:crypto'
import { closeSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { link, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { NodewiseError } from '../errors.ts'
import type { OutputFile } from '../files/output.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { makeFolder } from './folders.ts'
import { mapsToJson, mapToJson } from './json-map.ts'
import { type Json, stringifyExact } from './json-text.ts'
import { safeFileNames } from './names.ts'
import { writeNpy } from './npy.ts'
import { writeNpz } from './npz.ts'

/** Bytes of one write: Node refuses 2 GiB and more. */
const CHUNK = 16 * 2 ** 20

/**
 * Milliseconds without a change after which a temporary file counts as left by a process that was killed: a file that
 * is being written changes all the time.
 */
const ABANDONED = 3_600_000
const TEMPORARY = /^\.nodewise-[0-9a-f]{16}\.tmp$/

/** A value that was saved: its name, and the name of its file or of its entry in the archive. */
export interface SavedValue {
  readonly name: string
  readonly file: string
}

/**
 * Saves outputs as `.npy` files in a folder, which is created where it does not exist; as one `.npz` archive where
 * `path` ends in `.npz`. The tensors of a sequence are named `name.0`, `name.1`, …; an absent optional is left out. A
 * map, or a sequence of maps, becomes a `.json` file, which an archive cannot hold.
 * @returns the saved values, in order
 * @throws NodewiseError `write-failed`; `limit-exceeded` for an archive beyond 4 GiB, `type-not-allowed` for
 *   maps in an archive
 */
export async function saveValues(path: string, values: ReadonlyMap<string, Value>): Promise<SavedValue[]> {
  const parts = [...values].flatMap(([name, value]) => partsOf(name, value))
  const files = safeFileNames(parts.map(({ name }) => name))
  const saved = parts.map(({ name, tensor }, i) => ({ name, file: `${files[i]}.${tensor ? 'npy' : 'json'}` }))
  if (extname(path).toLowerCase() === '.npz') {
    await saveFile(path, writeNpz(new Map(parts.map((part, i) => [files[i], tensorIn(part, path)]))))
    return saved
  }
  await writing(path, () => makeFolder(path))
  for (const [i, { tensor, maps }] of parts.entries()) {
    const bytes = tensor ? writeNpy(tensor) : new TextEncoder().encode(`${stringifyExact(maps ?? null)}\n`)
    await saveFile(join(path, saved[i].file), bytes)
  }
  return saved
}

/** What is saved as one file: a tensor, or maps as JSON. */
interface Part {
  readonly name: string
  readonly tensor?: Tensor
  readonly maps?: Json
}

/** The tensors that a value is saved as: one, or those of a sequence; none of maps and of what is absent. */
export const tensorParts = (name: string, value: Value): { readonly name: string; readonly tensor: Tensor }[] =>
  partsOf(name, value).flatMap(({ name: own, tensor }) => (tensor ? [{ name: own, tensor }] : []))

function partsOf(name: string, value: Value): Part[] {
  if (isTensor(value)) return [{ name, tensor: value }]
  if (value.type === 'map') return [{ name, maps: mapToJson(value) }]
  if (value.type === 'optional') return value.value === undefined ? [] : partsOf(name, value.value)
  const maps = mapsToJson(value)
  return maps === undefined ? value.values.flatMap((item, i) => partsOf(`${name}.${i}`, item)) : [{ name, maps }]
}

function tensorIn({ name, tensor }: Part, path: string): Tensor {
  if (tensor) return tensor
  const message = `"${name}" holds maps, which an .npz cannot hold; a folder gets them as a .json file`
  throw new NodewiseError('type-not-allowed', message, { file: path })
}

/** Writes one file as {@link saveFiles} does. */
export const saveFile = (path: string, bytes: Uint8Array): Promise<void> => saveFiles([{ path, chunks: [bytes] }])

/**
 * Writes files whole or not at all, all of them or none: first temporary files in the same folders, which then are
 * renamed to their paths in order. Folders above them are made. The temporary files are removed where writing fails or
 * is interrupted by Ctrl-C, and where the process exits. One that a killed process left is removed by a later call,
 * from an hour on.
 * @throws NodewiseError `write-failed`; whatever making a chunk throws
 */
export async function saveFiles(files: readonly OutputFile[]): Promise<void> {
  const drafts = files.map(file => ({ ...file, temporary: temporaryBeside(file.path) }))
  const begun: string[] = []
  try {
    for (const { path, temporary, chunks } of drafts)
      await writing(path, async () => {
        await makeFolder(dirname(path))
        await removeAbandoned(dirname(path))
        begin(temporary)
        begun.push(temporary)
        await write(temporary, chunks)
      })
    await renameAll(drafts)
  } finally {
    for (const temporary of begun) {
      await unlink(temporary).catch(() => undefined)
      end(temporary)
    }
  }
}

/** A file that is written bit by bit, whole or not at all, while something else goes on. */
export class Draft {
  private readonly path: string
  private readonly temporary: string
  private readonly descriptor: number
  private isOpen = true

  /** @throws NodewiseError `write-failed` */
  constructor(path: string) {
    this.path = path
    this.temporary = temporaryBeside(path)
    this.descriptor = this.attempt(() => {
      begin(this.temporary)
      return openSync(this.temporary, 'r+')
    })
  }

  /** @throws NodewiseError `write-failed` */
  write(bytes: Uint8Array): void {
    this.attempt(() => {
      for (let at = 0; at < bytes.length;)
        at += writeSync(this.descriptor, bytes, at, Math.min(CHUNK, bytes.length - at))
    })
  }

  /** All is written: the file takes the place of what was there. */
  commit(): void {
    closeSync(this.descriptor)
    this.isOpen = false
    this.attempt(() => renameSync(this.temporary, this.path))
    end(this.temporary)
  }

  /** Leaves nothing behind, where {@link commit} has not been called. */
  discard(): void {
    if (!unfinished.has(this.temporary)) return
    if (this.isOpen) closeSync(this.descriptor)
    this.isOpen = false
    try {
      unlinkSync(this.temporary)
    } catch {
      // It is gone already.
    }
    end(this.temporary)
  }

  private attempt<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw new NodewiseError('write-failed', `cannot write: ${(error as Error).message}`, { file: this.path })
    }
  }
}

const temporaryBeside = (path: string): string => join(dirname(path), `.nodewise-${randomBytes(8).toString('hex')}.tmp`)

/** Renames temporary files to their paths; where one cannot be renamed, those before it are what they were. */
async function renameAll(drafts: readonly { readonly path: string; readonly temporary: string }[]): Promise<void> {
  const renamed: { path: string; earlier: string }[] = []
  try {
    for (const [i, { path, temporary }] of drafts.entries())
      await writing(path, async () => {
        const earlier = temporaryBeside(path)
        // What the last file replaces is not needed: nothing fails after it.
        if (i < drafts.length - 1) await link(path, earlier).catch(() => undefined)
        renamed.push({ path, earlier })
        try {
          await rename(temporary, path)
        } catch (error) {
          renamed.pop()
          await unlink(earlier).catch(() => undefined)
          throw error
        }
      })
  } catch (error) {
    for (const { path, earlier } of renamed)
      await rename(earlier, path).catch(() => unlink(path).catch(() => undefined))
    throw error
  }
  for (const { earlier } of renamed) await unlink(earlier).catch(() => undefined)
}

const sweptFolders = new Set<string>()

/**
 * Removes temporary files of killed processes, once for each folder. Errors are ignored: saving does not depend on it.
 */
async function removeAbandoned(folder: string): Promise<void> {
  if (sweptFolders.has(folder)) return
  sweptFolders.add(folder)
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter(candidate => TEMPORARY.test(candidate))) {
    const file = join(folder, name)
    const changed = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity
    )
    if (Date.now() - changed > ABANDONED) await unlink(file).catch(() => undefined)
  }
}

async function write(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (const bytes of chunks) {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, at, Math.min(CHUNK, bytes.length - at))
        at += bytesWritten
      }
    }
  } finally {
    await file.close()
  }
}

async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NodewiseError) throw error.at({ file: path })
    throw new NodewiseError('write-failed', `cannot write: ${(error as Error).message}`, { file: path })
  }
}

const unfinished = new Set<string>()
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
let watchesExit = false

/**
 * Creates a temporary file. Signal handlers that remove it are there only as long as it is, since a process with
 * handlers cannot be ended by a signal while a kernel computes. The file is created synchronously, so that no signal is
 * handled between its creation and its entry in `unfinished`.
 */
function begin(path: string): void {
  closeSync(openSync(path, 'wx'))
  if (!watchesExit) process.once('exit', removeUnfinished)
  watchesExit = true
  if (unfinished.size === 0) for (const signal of SIGNALS) process.on(signal, endBySignal)
  unfinished.add(path)
}

function end(path: string): void {
  unfinished.delete(path)
  if (unfinished.size === 0) for (const signal of SIGNALS) process.off(signal, endBySignal)
}

function endBySignal(signal: NodeJS.Signals): void {
  removeUnfinished()
  for (const caught of SIGNALS) process.off(caught, endBySignal)
  // Where the program that uses this library handles the signal itself, it decides whether to exit.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function removeUnfinished(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path)
    } catch {
      // The file does not exist, which is what is wanted.
    }
  }
}
