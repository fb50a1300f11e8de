import { randomBytes } from 'node:crypto'
import { closeSync, openSync, unlinkSync } from 'node:fs'
import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { NodewiseError } from '../errors.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { safeFileNames } from './names.ts'
import { writeNpy } from './npy.ts'
import { writeNpz } from './npz.ts'

/** Bytes written between two looks at the signal. */
const CHUNK = 16 * 2 ** 20

/**
 * A file that is being written changes all the time; one that did not for an hour was left by a process that was
 * killed.
 */
const ABANDONED = 3_600_000
const TEMPORARY = /^\.nodewise-[0-9a-f]{16}\.tmp$/

/** A value that was saved: a tensor of an output, and the file (in an archive: the array) that holds it. */
export interface SavedTensor {
  readonly name: string
  readonly file: string
}

/**
 * Saves outputs as `.npy` files into a folder, which is made when it is not there, or into one `.npz` archive when the
 * path ends so.
 * The tensors of a sequence are named `name.0`, `name.1`, …; an absent optional is left out.
 * @returns what was saved, by its name and in order
 * @throws NodewiseError `write-failed`, `aborted`; `limit-exceeded` for an archive beyond 4 GiB
 */
export async function saveValues(
  path: string,
  values: ReadonlyMap<string, Value>,
  signal?: AbortSignal
): Promise<SavedTensor[]> {
  const tensors = [...values].flatMap(([name, value]) => namedTensors(name, value))
  const files = safeFileNames(tensors.map(({ name }) => name))
  const saved = tensors.map(({ name }, i) => ({ name, file: `${files[i]}.npy` }))
  if (extname(path).toLowerCase() === '.npz') {
    await saveFile(path, writeNpz(new Map(tensors.map(({ tensor }, i) => [files[i], tensor]))), signal)
    return saved
  }
  await writing(path, () => mkdir(path, { recursive: true }))
  for (const [i, { tensor }] of tensors.entries()) await saveFile(join(path, saved[i].file), writeNpy(tensor), signal)
  return saved
}

/**
 * Writes a file whole or not at all: into a new file beside it, which then takes its name. That file is removed when
 * writing fails, is
 * aborted or is interrupted by Ctrl-C, and when the process exits. What a killed process left there is removed after an
 * hour.
 * @throws NodewiseError `write-failed`, `aborted`
 */
export async function saveFile(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.nodewise-${randomBytes(8).toString('hex')}.tmp`)
  await writing(path, async () => {
    await removeAbandoned(folder)
    begin(temporary)
    try {
      await write(temporary, bytes, signal)
      await rename(temporary, path)
    } catch (error) {
      await unlink(temporary).catch(() => undefined)
      throw error
    } finally {
      end(temporary)
    }
  })
}

const swept = new Set<string>()

/** Best effort, and once a folder: whether these files go does not matter to what is saved. */
async function removeAbandoned(folder: string): Promise<void> {
  if (swept.has(folder)) return
  swept.add(folder)
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

async function write(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (let at = 0; at < bytes.length;) {
      if (signal?.aborted) throw new NodewiseError('aborted', 'writing was interrupted')
      const { bytesWritten } = await file.write(bytes, at, Math.min(CHUNK, bytes.length - at))
      at += bytesWritten
    }
  } finally {
    await file.close()
  }
  if (signal?.aborted) throw new NodewiseError('aborted', 'writing was interrupted')
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
 * Makes a temporary file. Signals end the process as they always do, also within a kernel that hears nothing; only
 * while such a file is
 * there do they remove it first. It is made at once, so that no signal comes in between.
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
  // A caller of the library may handle signals itself; then it decides.
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal)
}

function removeUnfinished(): void {
  for (const path of unfinished) {
    try {
      unlinkSync(path)
    } catch {
      // It was never made, or is gone: either is what is wanted.
    }
  }
}

function namedTensors(name: string, value: Value): { name: string; tensor: Tensor }[] {
  if (isTensor(value)) return [{ name, tensor: value }]
  if (value.type === 'sequence') return value.values.flatMap((item, i) => namedTensors(`${name}.${i}`, item))
  return value.value === undefined ? [] : namedTensors(name, value.value)
}
