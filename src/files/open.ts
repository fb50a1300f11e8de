import { fail, NodewiseError } from '../errors.ts'
import { fileURLToPath, isNode } from '../host.ts'
import { type ByteSource, bytesSource, fileSource } from './byte-source.ts'
import type { Network, Traffic } from './network.ts'
import type { ByteReader, FileHandle } from './own-bytes.ts'

export type Bytes = Uint8Array | ArrayBuffer

/**
 * A file: its path or URL, its bytes, what a page gets where a file is dropped or chosen, a handle of a page's own file
 * system, or a caller's own way to its bytes.
 */
export type FileContent = string | URL | Bytes | Blob | FileHandle | ByteReader

/** How files are opened. */
export interface Opening {
  readonly network: Network
  readonly traffic: Traffic
  readonly signal?: AbortSignal | undefined
  /** Read all of what comes asynchronously. */
  readonly whole: boolean
}

/** A file that has been opened. */
export interface OpenedFile {
  readonly source: ByteSource
  /** Where other files may lie beside it. */
  readonly path?: string
  readonly url?: URL
  /** What the user should know of how it is read. */
  readonly note?: string
}

export const isFileContent = (what: unknown): what is FileContent =>
  typeof what === 'string' || (typeof what === 'object' && what !== null)

/**
 * Opens a file of any kind.
 * @param name for messages, where it has none of its own
 */
export async function openFile(what: FileContent, name: string, opening: Opening): Promise<OpenedFile> {
  if (!isFileContent(what)) return refuseContent()
  if (what instanceof Uint8Array) return { source: bytesSource(name, what) }
  if (what instanceof ArrayBuffer) return { source: bytesSource(name, new Uint8Array(what)) }
  if (typeof what === 'string' || what instanceof URL) return openAddress(what, name, opening)
  const { openBlob, openReader } = await import('./own-bytes.ts')
  const { traffic, signal } = opening
  const blob = what instanceof Blob ? what : 'getFile' in what ? await what.getFile() : undefined
  if (blob) {
    const own = 'name' in blob && typeof blob.name === 'string' ? blob.name : name
    return atOnce({ source: await openBlob(blob, own, traffic, signal) }, opening)
  }
  if (!('size' in what && 'read' in what && typeof what.read === 'function')) return refuseContent()
  return atOnce({ source: await openReader(what, name, traffic, signal) }, opening)
}

const refuseContent = (): never =>
  fail('bad-usage', 'a file is a path, a URL, bytes, a Blob, a file handle, or { size, read(offset, length) }')

async function openAddress(what: string | URL, name: string, opening: Opening): Promise<OpenedFile> {
  const url = typeof what === 'string' ? urlOf(what) : what
  if (url === undefined) return { source: fileSource(what as string), path: what as string }
  if (isNode && url.protocol === 'file:') return openAddress(pathOf(url), name, opening)
  if (!/^https?:$/.test(url.protocol)) return openOther(url, opening)
  const { openUrl } = await import('./http.ts')
  const { network, traffic, signal } = opening
  return atOnce({ ...(await openUrl(url, network, traffic, signal)), url }, opening)
}

/** @throws NodewiseError `missing-file` for the address of another host, and one that decodes to no path */
function pathOf(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    throw new NodewiseError('missing-file', `no file has this address: ${(error as Error).message}`, { file: url.href })
  }
}

/**
 * What only a page has: its own objects (`blob:`, `data:`), which have nothing beside them, and the files of an
 * extension. They are at hand already, so there are no ranges worth asking for.
 */
async function openOther(url: URL, opening: Opening): Promise<OpenedFile> {
  const name = /^(?:blob|data):$/.test(url.protocol) ? url.protocol : url.href
  const refuse = (why: string): never => {
    throw new NodewiseError('missing-file', why, { file: name })
  }
  if (isNode) return refuse(`an address of ${url.protocol} is not read`)
  const response = await fetch(url).catch((error: Error) => refuse(`cannot be fetched: ${error.message}`))
  if (!response.ok) return refuse(`the answer is ${response.status}`)
  const { source } = await openFile(await response.blob(), name, opening)
  return name === url.href ? { source, url } : { source }
}

/** The file, all of it in memory where that is asked for. */
async function atOnce(file: OpenedFile, { whole, signal }: Opening): Promise<OpenedFile> {
  return whole ? { ...file, source: await inMemory(file.source, signal) } : file
}

/** The source, or one of all its bytes where they come asynchronously. */
export async function inMemory(source: ByteSource, signal?: AbortSignal): Promise<ByteSource> {
  if (source.remote === undefined) return source
  const { RemoteSource } = await import('./remote-source.ts')
  return source instanceof RemoteSource ? bytesSource(source.name, await source.whole(signal)) : source
}

function urlOf(text: string): URL | undefined {
  if (isNode && !/^(https?|file):/i.test(text)) return undefined
  try {
    return new URL(text, isNode ? undefined : location.href)
  } catch {
    return fail('missing-file', `"${text}" is no URL`)
  }
}
