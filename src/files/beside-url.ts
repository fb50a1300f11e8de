import { fail, NodewiseError } from '../errors.ts'
import { isNode } from '../host.ts'
import type { ByteSource } from './byte-source.ts'
import { LateSource } from './late-source.ts'
import { weightsIn } from './lfs-pointer.ts'
import { type OpenedFile, openFile, type Opening } from './open.ts'
import { inParallel } from './remote.ts'
import { urlInside } from './url.ts'

/** The files beside a model at a URL that it names. */
export interface FilesBeside {
  /** A file that {@link openAll} opens. */
  open(location: string): ByteSource
  /** Opens all that have been asked for. Files that are not there or may not be read are errors when they are read. */
  openAll(): Promise<void>
  /** Those that have been opened. */
  readonly opened: OpenedFile[]
}

/** @param dataRoot another folder in which files may lie, as a URL */
export function filesBeside(model: URL, dataRoot: string | undefined, opening: Opening): FilesBeside {
  const late = new Map<string, LateSource>()
  const opened: OpenedFile[] = []
  const begin = async (location: string): Promise<ByteSource> => {
    const what = `external data "${location}"`
    const urls = foldersOf(model, dataRoot).map(folder => urlInside(location, folder, what))
    const file = await openFirst(urls, location, opening)
    opened.push(file)
    return weightsIn(file.source)
  }
  return {
    opened,
    open(location) {
      const source = late.get(location) ?? new LateSource(location, () => begin(location))
      late.set(location, source)
      return source
    },
    openAll: () => inParallel([...late.values()], opening.network.connections, source => source.open(), opening.signal)
  }
}

/** The `.bin` beside an `.xml`. Undefined where there is none: that is an error only when a constant is read. */
export async function binAt(xml: URL, dataRoot: string | undefined, opening: Opening): Promise<OpenedFile | undefined> {
  const base = xml.pathname.slice(xml.pathname.lastIndexOf('/') + 1).replace(/\.xml$/i, '')
  const urls = foldersOf(xml, dataRoot).map(folder => new URL(`./${base}.bin`, folder))
  try {
    return await openFirst(urls, `${base}.bin`, opening)
  } catch (error) {
    if (error instanceof NodewiseError && error.code === 'missing-file') return undefined
    throw error
  }
}

function foldersOf(model: URL, dataRoot: string | undefined): URL[] {
  if (dataRoot === undefined) return [model]
  try {
    const root = new URL(dataRoot.endsWith('/') ? dataRoot : `${dataRoot}/`, isNode ? undefined : location.href)
    if (/^https?:$/.test(root.protocol)) return [model, root]
  } catch {
    // Said below.
  }
  return fail('bad-usage', 'a model at a URL may have its data in another folder at a URL only (option dataRoot)')
}

/** The first of some files that there is. */
async function openFirst(urls: readonly URL[], name: string, opening: Opening): Promise<OpenedFile> {
  let missing: unknown
  for (const url of urls) {
    try {
      return await openFile(url, name, opening)
    } catch (error) {
      if (!(error instanceof NodewiseError) || error.code !== 'missing-file') throw error
      missing ??= error
    }
  }
  throw missing
}
