import { basename, extname, join } from 'node:path'
import { NodewiseError, placing } from '../errors.ts'
import { fileSource } from '../files/byte-source.ts'
import type { DType } from '../tensor/dtype.ts'
import { kindText } from '../tensor/map.ts'
import { isTensor, type Tensor } from '../tensor/tensor.ts'
import { namesIn } from './folders.ts'
import { safeFileNames } from './names.ts'
import { npyParts, readNpyLike } from './npy.ts'
import { readTensorFile } from './read.ts'
import { Draft } from './save.ts'
import { ZipWriter } from './zip-writer.ts'
import { zipEntries, zipRead } from './zip.ts'

/** Values that were recorded, by name. They are read one at a time. */
export interface StoredValues {
  readonly names: readonly string[]
  /**
   * @param type what the elements should be where the file has only their codes
   * @throws NodewiseError `invalid-file` and what else reading a tensor throws
   */
  read(name: string, type?: DType): Promise<Tensor>
  close(): void
}

const TENSOR_FILES = ['.npy', '.pb']

/**
 * The values in an `.npz`, or in a folder of `.npy` and `.pb` files that are named by value.
 * @throws NodewiseError `missing-file`, `invalid-file`
 */
export const openRecording = (path: string, isFolder: boolean): StoredValues =>
  isFolder ? openFolder(path) : openArchive(path)

function openArchive(path: string): StoredValues {
  const source = fileSource(path)
  try {
    const entries = new Map(
      zipEntries(source)
        .filter(({ name }) => name.endsWith('.npy'))
        .map(entry => [entry.name.slice(0, -'.npy'.length), entry])
    )
    return {
      names: [...entries.keys()],
      async read(name, type) {
        return placing({ file: path, value: name }, () => readNpyLike(zipRead(source, entries.get(name)!), type))
      },
      close: () => source.close()
    }
  } catch (error) {
    source.close()
    throw error instanceof NodewiseError ? error.at({ file: path }) : error
  }
}

function openFolder(path: string): StoredValues {
  const files = new Map<string, string>()
  for (const file of namesIn(path)) {
    const suffix = extname(file)
    if (TENSOR_FILES.includes(suffix.toLowerCase())) files.set(basename(file, suffix), join(path, file))
  }
  return {
    names: [...files.keys()],
    async read(name, type) {
      const file = files.get(name)!
      const value = await readTensorFile(file, type && { kind: 'tensor', type })
      if (isTensor(value)) return value
      throw new NodewiseError('type-mismatch', `the file holds ${kindText(value)}, not a tensor`, { file })
    },
    close: () => undefined
  }
}

/**
 * Values under the names that a model has for them: files have safe forms of names (see `safeFileNames`).
 * @param names those of the model, in its order
 */
export function underNames(stored: StoredValues, names: readonly string[]): StoredValues {
  const own = new Set(stored.names)
  const asked = [...new Set(names)]
  const files = new Map(stored.names.map(name => [name, name]))
  const add = (name: string, safe: string): void => {
    if (own.has(safe) && !files.has(name)) files.set(name, safe)
  }
  safeFileNames(asked).forEach((safe, i) => add(asked[i], safe))
  return { ...stored, names: [...files.keys()], read: (name, type) => stored.read(files.get(name) ?? name, type) }
}

/** What a name may not have in an archive: signs that are not seen, and ways out of a folder. */
const UNFIT = /[\p{Cc}\p{Cf}]|(?:^|[\\/])\.\.(?:[\\/]|$)/u
const MAX_NAME = 2000

/** Writes an `.npz` value by value, whole or not at all; none of them stays in memory. */
export class Recorder {
  private readonly draft: Draft
  private readonly archive: ZipWriter
  private readonly taken = new Set<string>()

  /** @throws NodewiseError `write-failed` */
  constructor(path: string) {
    this.draft = new Draft(path)
    this.archive = new ZipWriter(bytes => this.draft.write(bytes))
  }

  /** How many values have been written. */
  get size(): number {
    return this.taken.size
  }

  /** A name is kept as it is, where an archive can have it; one that is there already gets a number. */
  add(name: string, tensor: Tensor): void {
    const fit = UNFIT.test(name) || name.length > MAX_NAME ? safeFileNames([name])[0] : name
    let unique = fit
    for (let number = 2; this.taken.has(unique); number++) unique = `${fit}_${number}`
    this.taken.add(unique)
    this.archive.add(`${unique}.npy`, npyParts(tensor))
  }

  /** All values are written: the file is there from now on. */
  end(): void {
    this.archive.end()
    this.draft.commit()
  }

  /** Leaves no file behind where {@link end} has not been called. */
  discard(): void {
    this.draft.discard()
  }
}
