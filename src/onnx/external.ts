import { fail } from '../errors.ts'
import { type ByteSource, fileSource, type FileSource } from '../files/byte-source.ts'
import { dataFolders, findInside } from '../files/folder.ts'

/** Files that are kept open at once; models exist that keep every tensor in a file of its own. */
const MAX_OPEN = 64

/**
 * Opens a model's external data: regular files in the folders that {@link dataFolders} allows, wherever links lead.
 * The returned function throws NodewiseError `outside-folder` for a location that leaves them, `missing-file` where
 * nothing is.
 */
export function externalOpener(modelPath: string, dataRoot?: string): (location: string) => ByteSource {
  const share = descriptorPool()
  return location => {
    const folders = dataFolders(modelPath, dataRoot)
    const what = `external data "${location}"`
    const found =
      findInside(location, folders, what) ?? fail('missing-file', `${what} do not exist in ${folders.join(' or ')}`)
    return share(fileSource(found, location))
  }
}

/** A source that is opened when it is first used. */
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
    read: (offset, length, target) => opened().read(offset, length, target)
  }
}

/** Closes the source that was used longest ago when too many are open; it opens again when it is read. */
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
