import { fail } from '../errors.ts'
import { type ByteSource, fileSource, type FileSource } from '../files/byte-source.ts'
import { dataFolders, findInside } from '../files/folder.ts'

/** Maximum of files that are open at the same time: some models keep each tensor in a file of its own. */
const MAX_OPEN = 64

/**
 * Returns a function that opens a file of external data: a regular file in one of the {@link dataFolders}. That
 * function throws NodewiseError `outside-folder` for a location outside these folders, `missing-file` where no file is.
 */
export function externalOpener(modelPath: string, dataRoot?: string): (location: string) => ByteSource {
  const pooled = descriptorPool()
  return location => {
    const folders = dataFolders(modelPath, dataRoot)
    const what = `external data "${location}"`
    const found =
      findInside(location, folders, what) ?? fail('missing-file', `${what} do not exist in ${folders.join(' or ')}`)
    return pooled(fileSource(found, location))
  }
}

/** A byte source that is opened when it is first used. */
export function lazySource(name: string, open: () => ByteSource): ByteSource {
  let source: ByteSource | undefined
  const opened = (): ByteSource => (source ??= open())
  return {
    name,
    get size() {
      return opened().size
    },
    get inMemory() {
      return opened().inMemory ?? false
    },
    get remote() {
      return opened().remote
    },
    read: (offset, length, target) => opened().read(offset, length, target)
  }
}

/**
 * Wraps files so that at most {@link MAX_OPEN} descriptors are open: the file that was used longest ago is closed, and
 * opens again when it is read.
 */
function descriptorPool(): (source: FileSource) => ByteSource {
  const recent = new Set<FileSource>()
  const use = (source: FileSource): FileSource => {
    recent.delete(source)
    recent.add(source)
    const [oldest] = recent
    if (recent.size > MAX_OPEN) {
      oldest.close()
      recent.delete(oldest)
    }
    return source
  }
  return source => ({
    name: source.name,
    get size() {
      return use(source).size
    },
    read: (offset, length, target) => use(source).read(offset, length, target)
  })
}
