import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep, win32 } from 'node:path'
import { fail } from '../errors.ts'
import type { ByteSource } from '../graph/graph.ts'
import { fileSource, systemFailure, type FileSource } from '../graph/source.ts'

/** Files that are kept open at once; models exist that keep every tensor in a file of its own. */
const MOST_OPEN = 64

/**
 * Opens a model's external data: regular files in the model's own folder or in `dataRoot`, wherever links lead.
 * The returned function throws NodewiseError `outside-folder` for a location that leaves them, `missing-file` where nothing is.
 */
export function externalOpener(modelPath: string, dataRoot?: string): (location: string) => ByteSource {
  const folders = [dirname(resolve(modelPath)), ...(dataRoot === undefined ? [] : [resolve(dataRoot)])]
  const share = descriptorPool()
  return location => {
    const roots = folders.map(folder => realPath(folder) ?? fail('missing-file', `the folder ${folder} does not exist`))
    return share(fileSource(findInside(location, roots), location))
  }
}

/** A source that is opened when it is first used. */
export function lazySource(name: string, open: () => ByteSource): ByteSource {
  let source: ByteSource | undefined
  const opened = (): ByteSource => source ??= open()
  return { name, get size() { return opened().size }, get inMemory() { return opened().inMemory ?? false }, read: (offset, length, target) => opened().read(offset, length, target) }
}

/** The canonical path of a location, which must lie in one of the roots (canonical paths themselves). */
function findInside(location: string, roots: readonly string[]): string {
  if (location.includes('\0')) fail('invalid-file', `"${location}" is no file name`)
  if (isAbsolute(location) || win32.isAbsolute(location)) {
    fail('outside-folder', `external data "${location}" must be given relative to the model's folder`)
  }
  const candidates = roots.map(root => join(root, location)).filter(path => isInside(path, roots))
  if (candidates.length === 0) fail('outside-folder', `external data "${location}" is outside the model's folder`)
  for (const candidate of candidates) {
    const found = realPath(candidate)
    if (found === undefined) continue
    if (!isInside(found, roots)) fail('outside-folder', `external data "${location}" is a link that leads outside the model's folder`)
    return found
  }
  return fail('missing-file', `external data "${location}" do not exist in ${roots.join(' or ')}`)
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some(root => {
    const way = relative(root, path)
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  })
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    const failure = systemFailure(error, path)
    if (failure.code === 'missing-file' && (error as NodeJS.ErrnoException).code !== 'EACCES') return undefined
    throw failure
  }
}

/** Closes the source that was used longest ago when too many are open; it opens again when it is read. */
function descriptorPool(): (source: FileSource) => ByteSource {
  const recent = new Set<FileSource>()
  const use = (source: FileSource): FileSource => {
    recent.delete(source)
    recent.add(source)
    const [oldest] = recent
    if (recent.size > MOST_OPEN) {
      oldest.close()
      recent.delete(oldest)
    }
    return source
  }
  return source => ({
    name: source.name,
    get size() { return use(source).size },
    read: (offset, length, target) => use(source).read(offset, length, target)
  })
}
