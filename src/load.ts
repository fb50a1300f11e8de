import { fail, NodewiseError } from './errors.ts'
import { type ByteSource, fileSource } from './files/byte-source.ts'
import { dataFolders, findInside, realPath } from './files/folder.ts'
import { weightsIn } from './files/lfs-pointer.ts'
import { networkFrom, type NetworkOptions, type ReadProgress, Traffic } from './files/network.ts'
import { type FileContent, inMemory, isFileContent, type OpenedFile, openFile, type Opening } from './files/open.ts'
import { reading } from './files/remote.ts'
import { derive } from './graph/derive.ts'
import type { Model } from './graph/graph.ts'
import { exceed, type Limits, limitsFrom, LOAD_OPTIONS } from './graph/limits.ts'
import { path } from './host.ts'
import { refuseUnknownOptions, requireOptions, requireSignal } from './suggest.ts'

export type { NetworkOptions, ReadProgress } from './files/network.ts'
export type { FileContent } from './files/open.ts'

/**
 * A file, or the two files of an IR. A text is a path, or a URL (`file:`, `http:`, `https:`); in a browser every text
 * is a URL, relative to the page's.
 */
export type ModelSource = FileContent | { readonly xml: FileContent; readonly bin?: FileContent }

/** A file that a model names, given by the caller: of the form that `onnxruntime-web` takes. */
export interface ExternalFile {
  /** Where the model says that the file is: its `location`. */
  readonly path: string
  readonly data: FileContent
}

/** Options of reading a model. */
export interface LoadOptions {
  /** A folder in which external data may lie, besides the folder of the model: a path, or a URL for a model at one. */
  readonly dataRoot?: string
  /**
   * Files of external data of an ONNX model, for one that has no folder: a model given as bytes. They win over files in
   * the folder. Where path and data are the same, it may be a text.
   */
  readonly externalData?: readonly (ExternalFile | string)[]
  /** Name for messages where the model is given as bytes. */
  readonly name?: string
  /** Limits that replace the defaults, see {@link Limits}. */
  readonly limits?: Partial<Limits>
  /** Read the doc strings of an ONNX model too, which may be longer than all else. */
  readonly docs?: boolean
  /** Stops reading; it rejects with `aborted`. A run has a signal of its own. */
  readonly signal?: AbortSignal
  /** How files are read over a network. */
  readonly network?: NetworkOptions
  /** Called when bytes have come over a network, from a `Blob` or from a caller's own reader; while it runs too. */
  readonly onProgress?: (progress: ReadProgress) => void
  /**
   * Read all bytes now, wherever they lie. What reads weights synchronously needs that of a model at a URL: converting,
   * printing, comparing by structure, and `read` of a constant.
   */
  readonly whole?: boolean
}

const KNOWN: ReadonlySet<string> = new Set<keyof LoadOptions>(LOAD_OPTIONS)

/**
 * Reads a model; its first bytes tell the format, or the name of a file in the text format of ONNX (`.onnxtxt`).
 * Weights are not read before a run, or a caller, needs them.
 * @throws NodewiseError (as a rejection) `missing-file`, `invalid-file`, `unsupported-version`, `limit-exceeded`,
 *   `network-failed`, `outside-folder`, `aborted`; `bad-usage` for an option or a limit that does not exist
 */
export async function load(source: ModelSource, options: LoadOptions = {}): Promise<Model> {
  refuseUnknownOptions(options, KNOWN)
  return loadModel(source, options)
}

/** {@link load}, whose options may be among others: those of a session. */
export async function loadModel(source: ModelSource, options: LoadOptions): Promise<Model> {
  requireOptions(options)
  requireSignal(options.signal)
  const limits = limitsFrom(options.limits)
  if (!isFileContent(source) && !isPair(source)) fail('bad-usage', 'a model is a path, a URL, bytes, or { xml, bin }')
  const opening: Opening = {
    network: networkFrom(options.network),
    traffic: new Traffic(options.onProgress),
    signal: options.signal,
    whole: options.whole === true
  }
  if (isPair(source)) {
    const bin = source.bin === undefined ? undefined : await openFile(source.bin, 'model.bin', opening)
    return loadPair(await openFile(source.xml, options.name ?? 'model.xml', opening), bin, limits, opening)
  }
  const file = await openFile(source, options.name ?? 'model', opening)
  try {
    return await loadOne(file, limits, options, opening)
  } catch (error) {
    throw await withKind(error, file.source)
  }
}

const isPair = (source: ModelSource): source is Exclude<ModelSource, FileContent> =>
  typeof source === 'object' && source !== null && 'xml' in source

/** A model in one file: text or bytes, by the suffix and the first bytes. */
async function loadOne(file: OpenedFile, limits: Limits, options: LoadOptions, opening: Opening): Promise<Model> {
  const { source, path, url } = file
  // A text model begins with `<` as XML does.
  const isText = /\.onnxtxt$/i.test(source.name)
  if (isText || !(await readNow(source, looksLikeXml, opening)))
    return loadMessage(file, isText, limits, options, opening)
  if (path !== undefined) return loadXml(file, () => binBeside(path, options.dataRoot), limits)
  return loadPair(file, url && (await (await besideUrl()).binAt(url, options.dataRoot, opening)), limits, opening)
}

const besideUrl = () => import('./files/beside-url.ts')

/** What is read of a file synchronously, begun anew as its bytes come. */
const readNow = async <T>(source: ByteSource, read: (source: ByteSource) => T, { signal }: Opening): Promise<T> =>
  source.remote ? reading(() => read(source), signal) : read(source)

/** An IR whose files have been opened. */
async function loadPair(
  xml: OpenedFile,
  bin: OpenedFile | undefined,
  limits: Limits,
  opening: Opening
): Promise<Model> {
  // Lines and columns are counted from its bytes whenever a place is printed.
  const source = await allOf(xml.source, limits, opening)
  const model = await loadXml({ source }, bin && (() => bin.source), limits)
  return ready(model, [xml, bin], opening)
}

/** The bytes of a file that is read as a whole. */
function allOf(source: ByteSource, limits: Limits, { signal }: Opening): Promise<ByteSource> | ByteSource {
  if (source.remote === undefined) return source
  if (source.size > limits.structureBytes) exceed('structureBytes', limits, `${source.name} has ${source.size} bytes`)
  return inMemory(source, signal)
}

/** An ONNX model, and the files that it names. */
async function loadMessage(
  file: OpenedFile,
  isText: boolean,
  limits: Limits,
  options: LoadOptions,
  opening: Opening
): Promise<Model> {
  const { path, url } = file
  const { externalOpener, loadOnnx } = await import('./onnx/load.ts')
  const given = await openAll(options.externalData ?? [], opening)
  const remote = url && (await besideUrl()).filesBeside(url, options.dataRoot, opening)
  const beside = path === undefined ? remote?.open : externalOpener(path, options.dataRoot)
  const onnxOptions = {
    file: file.source.name,
    limits,
    openEarly: remote !== undefined,
    ...(options.docs !== undefined && { docs: options.docs }),
    ...((beside || given.size > 0) && {
      openExternal: (location: string) => {
        const own = given.get(plain(location))?.source
        // What lies beside a URL is not opened yet; that it is no pointer is checked once it is.
        if (!own && remote) return remote.open(location)
        return weightsIn(
          own ?? beside?.(location) ?? fail('missing-file', `"${location}" is not among the files of \`externalData\``)
        )
      }
    })
  }
  const model = isText
    ? (await import('./onnx/syntax/load.ts')).loadOnnxText(await allOf(file.source, limits, opening), onnxOptions)
    : await readNow(file.source, source => loadOnnx(source, onnxOptions), opening)
  await remote?.openAll()
  return ready(model, [file, ...given.values(), ...(remote?.opened ?? [])], opening)
}

/**
 * The model with what it needs before it runs at hand, and with what is to be told of how its files are read.
 * @param files those that were opened
 */
async function ready(model: Model, files: readonly (OpenedFile | undefined)[], { signal }: Opening): Promise<Model> {
  if (files.some(file => file?.source.remote)) await (await import('./graph/at-hand.ts')).bringToHand(model, signal)
  const notes = files.flatMap(file => file?.note ?? [])
  return notes.length === 0 ? model : derive(model, { notes: [...model.notes, ...notes] })
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

const NO_FILE: Partial<ExternalFile> = {}

/** The files that the caller gives beside a model, by location. */
async function openAll(
  files: readonly (ExternalFile | string)[],
  opening: Opening
): Promise<ReadonlyMap<string, OpenedFile>> {
  if (!Array.isArray(files)) fail('bad-usage', '`externalData` is a list of { path, data }')
  const opened = new Map<string, OpenedFile>()
  for (const file of files as readonly (ExternalFile | string)[]) {
    const { path: location, data } = typeof file === 'string' ? { path: file, data: file } : (file ?? NO_FILE)
    if (typeof location !== 'string' || !isFileContent(data))
      fail('bad-usage', '`externalData` is a list of { path, data }')
    opened.set(plain(location), await openFile(data, location, opening))
  }
  return opened
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
  { source }: Pick<OpenedFile, 'source'>,
  bin: (() => ByteSource | undefined) | undefined,
  limits: Limits
): Promise<Model> {
  const { loadOpenvino } = await import('./openvino/load.ts')
  return loadOpenvino(source, { file: source.name, limits, ...(bin && { bin: () => weightsIn(bin()) }) })
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
