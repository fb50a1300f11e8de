import { fail, NodewiseError } from './errors.ts'
import { type ByteSource, bytesSource, fileSource } from './files/byte-source.ts'
import { dataFolders, findInside, realPath } from './files/folder.ts'
import type { Model } from './graph/graph.ts'
import { type Limits, limitsFrom, LOAD_OPTIONS } from './graph/limits.ts'
import { fileURLToPath, isNode, path } from './host.ts'
import { refuseUnknownOptions } from './suggest.ts'

export type Bytes = Uint8Array | ArrayBuffer

/**
 * A path, a URL (`file:`, `http:`, `https:`), the bytes themselves, a `Blob` or `File`, or the two files of an IR. In a
 * browser every text is a URL, relative to the page's.
 */
export type ModelSource = FileContent | { readonly xml: FileContent; readonly bin?: FileContent }

/** A file: its path or URL, its bytes, or what a page gets where a file is dropped or chosen. */
export type FileContent = string | URL | Bytes | Blob

/** A file that a model names, given by the caller: of the form that `onnxruntime-web` takes. */
export interface ExternalFile {
  /** Where the model says that the file is: its `location`. */
  readonly path: string
  readonly data: FileContent
}

/** Options of reading a model. */
export interface LoadOptions {
  /** A folder in which external data may lie, besides the folder of the model. */
  readonly dataRoot?: string
  /**
   * Files of external data of an ONNX model, for one that has no folder: a model given as bytes or by a URL. They win
   * over files in the folder. Where path and data are the same, it may be a text.
   */
  readonly externalData?: readonly (ExternalFile | string)[]
  /** Name for messages where the model is given as bytes. */
  readonly name?: string
  /** Limits that replace the defaults, see {@link Limits}. */
  readonly limits?: Partial<Limits>
  /** Read the doc strings of an ONNX model too, which may be longer than all else. */
  readonly docs?: boolean
}

const KNOWN: ReadonlySet<string> = new Set<keyof LoadOptions>(LOAD_OPTIONS)

/**
 * Reads a model; its first bytes tell the format, or the name of a file in the text format of ONNX (`.onnxtxt`).
 * Weights are not read before a run, or a caller, needs them.
 * @throws NodewiseError `missing-file`, `invalid-file`, `unsupported-version`, `limit-exceeded`, `bad-usage` for an
 *   option or a limit that does not exist
 */
export async function load(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  refuseUnknownOptions(options, KNOWN)
  return loadModel(source, options)
}

/** {@link load}, whose options may be among others: those of a session. */
export async function loadModel(source: ModelSource, options: LoadOptions): Promise<Model> {
  const limits = limitsFrom(options.limits)
  if (!isSource(source)) fail('bad-usage', 'a model is a path, a URL, bytes, or { xml, bin }')
  if (typeof source === 'object' && 'xml' in source) {
    const bin = source.bin === undefined ? undefined : await open(source.bin, 'model.bin')
    return loadXml(await open(source.xml, options.name ?? 'model.xml'), bin && (() => bin.source), limits)
  }
  const { source: bytes, path } = await open(source, options.name ?? 'model')
  try {
    return await loadOne(bytes, path, limits, options)
  } catch (error) {
    throw await withKind(error, bytes)
  }
}

/** A model in one file: text or bytes, by the suffix and the first bytes. */
async function loadOne(
  bytes: ByteSource,
  path: string | undefined,
  limits: Limits,
  options: LoadOptions
): Promise<Model> {
  // A text model begins with `<` as XML does.
  const isText = /\.onnxtxt$/i.test(bytes.name)
  if (!isText && looksLikeXml(bytes)) {
    return loadXml(
      { source: bytes, ...(path !== undefined && { path }) },
      path === undefined ? undefined : () => binBeside(path, options.dataRoot),
      limits
    )
  }
  const { externalOpener, loadOnnx } = await import('./onnx/load.ts')
  const given = await openAll(options.externalData ?? [])
  const beside = path === undefined ? undefined : externalOpener(path, options.dataRoot)
  const onnxOptions = {
    file: bytes.name,
    limits,
    ...(options.docs !== undefined && { docs: options.docs }),
    ...((beside || given.size > 0) && {
      openExternal: (location: string) =>
        given.get(plain(location)) ??
        beside?.(location) ??
        fail('missing-file', `"${location}" is not among the files of \`externalData\``)
    })
  }
  if (!isText) return loadOnnx(bytes, onnxOptions)
  return (await import('./onnx/syntax/load.ts')).loadOnnxText(bytes, onnxOptions)
}

/** The error of a file that is no model, with what it is instead where its first bytes or its name tell. */
async function withKind(error: unknown, source: ByteSource): Promise<unknown> {
  if (!(error instanceof NodewiseError) || error.code !== 'invalid-file') return error
  const { KIND_BYTES, kindOf } = await import('./files/kinds.ts')
  let head: Uint8Array
  try {
    head = source.read(0, Math.min(KIND_BYTES, source.size))
  } catch {
    return error
  }
  const kind = kindOf(head, source.name)
  if (!kind) return error
  const file = { file: source.name }
  return new NodewiseError('invalid-file', `this is ${kind.what}; ${kind.asModel}`, file, {}, { cause: error })
}

/** A location without the `./` that it may begin with. */
const plain = (location: string): string => location.replace(/^(\.\/)+/, '')

/** The files that the caller gives beside a model, by location. */
async function openAll(files: readonly (ExternalFile | string)[]): Promise<ReadonlyMap<string, ByteSource>> {
  if (!Array.isArray(files)) fail('bad-usage', '`externalData` is a list of { path, data }')
  const sources = new Map<string, ByteSource>()
  for (const file of files as readonly (ExternalFile | string)[]) {
    const { path: location, data } = typeof file === 'string' ? { path: file, data: file } : file
    if (typeof location !== 'string' || !isSource(data)) fail('bad-usage', '`externalData` is a list of { path, data }')
    sources.set(plain(location), (await open(data, location)).source)
  }
  return sources
}

const isSource = (source: unknown): source is ModelSource =>
  typeof source === 'string' || (typeof source === 'object' && source !== null)

interface Opened {
  readonly source: ByteSource
  /** Path of the file, where it is one. */
  readonly path?: string
}

async function open(what: FileContent, name: string): Promise<Opened> {
  if (what instanceof Uint8Array) return { source: bytesSource(name, what) }
  if (what instanceof ArrayBuffer) return { source: bytesSource(name, new Uint8Array(what)) }
  if (what instanceof Blob) {
    const own = 'name' in what && typeof what.name === 'string' ? what.name : name
    return { source: bytesSource(own, new Uint8Array(await what.arrayBuffer())) }
  }
  const url = typeof what !== 'string' ? what : urlOf(what)
  if (url === undefined) return { source: fileSource(what as string), path: what as string }
  if (isNode && url.protocol === 'file:') return open(fileURLToPath(url), name)
  return { source: bytesSource(url.href, await download(url)) }
}

function urlOf(text: string): URL | undefined {
  if (isNode && !/^(https?|file):/i.test(text)) return undefined
  try {
    return new URL(text, isNode ? undefined : location.href)
  } catch {
    throw new NodewiseError('missing-file', `"${text}" is no URL`)
  }
}

async function download(url: URL): Promise<Uint8Array> {
  try {
    const response = await fetch(url)
    if (response.ok) return new Uint8Array(await response.arrayBuffer())
    throw new NodewiseError('missing-file', `the server answers ${response.status} ${response.statusText}`, {
      file: url.href
    })
  } catch (error) {
    if (error instanceof NodewiseError) throw error
    const { message, cause } = error as Error
    // Node says only in the cause what failed: the name, the connection, the certificate.
    const why = cause instanceof Error && cause.message !== '' ? `${message} (${cause.message})` : message
    throw new NodewiseError('missing-file', `cannot be fetched: ${why}`, { file: url.href })
  }
}

/**
 * Whether the file starts with `<`, after a byte order mark and blanks. UTF-16 counts as XML, so that the XML reader
 * gets it and says that the encoding is not read.
 */
function looksLikeXml(source: ByteSource): boolean {
  const head = source.read(0, Math.min(64, source.size))
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true
  let at = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0
  while (at < head.length && [0x20, 0x09, 0x0a, 0x0d].includes(head[at])) at++
  return head[at] === 0x3c
}

async function loadXml(
  { source }: Opened,
  bin: (() => ByteSource | undefined) | undefined,
  limits: Limits
): Promise<Model> {
  const { loadOpenvino } = await import('./openvino/load.ts')
  return loadOpenvino(source, { file: source.name, limits, ...(bin && { bin }) })
}

/**
 * The `.bin` beside an `.xml`, or beside the file that the `.xml` links to. Undefined where there is none: that is an
 * error only when a constant is read.
 */
function binBeside(file: string, dataRoot: string | undefined): ByteSource | undefined {
  const folders = dataFolders(file, dataRoot)
  for (const name of new Set(
    [file, realPath(file) ?? file].map(xml => `${path.basename(xml).replace(/\.xml$/i, '')}.bin`)
  )) {
    const found = findInside(name, folders, name)
    if (found !== undefined) return fileSource(found, name)
  }
  return undefined
}
