import { fail } from '../errors.ts'
import type { OutputFile } from '../files/output.ts'
import type { Dialect, Model } from '../graph/graph.ts'
import { requireModel } from '../graph/require-model.ts'
import { printModel } from '../onnx/syntax/print.ts'
import { encodeText } from '../onnx/text.ts'
import { writeOnnx } from '../onnx/write/write.ts'
import { writeOpenvino } from '../openvino/write/write.ts'
import { refuseUnknownOptions } from '../suggest.ts'

/** Formats of model files that are written, by suffix. */
const FORMATS = { '.onnx': 'onnx', '.onnxtxt': 'onnx', '.xml': 'openvino' } as const satisfies Record<string, Dialect>

/** A file format, as its suffix says it. */
export type Format = keyof typeof FORMATS

/** How files are written. */
export interface FileOptions {
  /** ONNX: initializers of as many bytes and more lie in a file of external data. */
  readonly externalBytes?: number
  /** ONNX: whether tensors that are external stay where they are: the model is written beside them. */
  readonly keepExternal?: boolean
}

const KNOWN: ReadonlySet<string> = new Set<keyof FileOptions>(['externalBytes', 'keepExternal'])

/** The files of a model, the one that names the others last. */
export interface ModelFiles {
  readonly files: readonly OutputFile[]
  /** Bytes of all files, where they are known before writing. */
  readonly bytes: number
  /** What a user should know, a sentence each. */
  readonly notes: readonly string[]
}

/**
 * The format of a file, by its suffix.
 * @throws NodewiseError `bad-usage`
 */
export function formatOf(path: string): Format {
  const suffix = Object.keys(FORMATS).find(candidate => String(path).toLowerCase().endsWith(candidate))
  return (
    (suffix as Format | undefined) ??
    fail('bad-usage', `${String(path)}: a model is written as ${Object.keys(FORMATS).join(', ')}, by its suffix`)
  )
}

export const dialectOf = (format: Format): Dialect => FORMATS[format]

/**
 * The files that a model is written to. Their bytes are made when they are asked for.
 * @param path of the model file; others lie beside it
 * @throws NodewiseError `bad-usage` for another suffix, and for an option that does not exist or cannot be so
 */
export function filesOf(model: Model, path: string, options: FileOptions = {}): ModelFiles {
  requireModel(model)
  refuseUnknownOptions(options, KNOWN)
  const { externalBytes } = options
  if (externalBytes !== undefined && !(typeof externalBytes === 'number' && externalBytes >= 0))
    fail('bad-usage', `externalBytes is ${String(externalBytes)}; expected a number of bytes`)
  switch (formatOf(path)) {
    case '.onnx':
      return onnxFiles(model, path, options)
    case '.onnxtxt':
      return textFile(model, path)
    case '.xml':
      return irFiles(model, path)
  }
}

/** The text format of ONNX. The text is made twice: to know its size, and to write it. */
function textFile(model: Model, path: string): ModelFiles {
  const lines = function* (): Generator<Uint8Array> {
    for (const line of printModel(model)) yield encodeText(`${line}\n`)
  }
  let bytes = 0
  for (const { length } of lines()) bytes += length
  return { files: [{ path, chunks: lines() }], bytes, notes: [] }
}

function onnxFiles(model: Model, path: string, options: FileOptions): ModelFiles {
  const dataPath = `${path}.data`
  const written = writeOnnx(model, { ...options, dataFile: dataPath.slice(dataPath.search(/[^/\\]*$/)) })
  const pieces = written.data ? [{ path: dataPath, piece: written.data }] : []
  pieces.push({ path, piece: written.model })
  return {
    files: pieces.map(({ path: at, piece }) => ({ path: at, chunks: piece.chunks() })),
    bytes: pieces.reduce((total, { piece }) => total + piece.length, 0),
    notes: written.data ? [`weights are in ${dataPath}`] : []
  }
}

function irFiles(model: Model, path: string): ModelFiles {
  const { xml, bin, binBytes } = writeOpenvino(model)
  return {
    files: [
      { path: path.replace(/\.xml$/i, '.bin'), chunks: bin },
      { path, chunks: xml }
    ],
    get bytes() {
      let bytes = binBytes
      for (const { length } of xml) bytes += length
      return bytes
    },
    notes: []
  }
}
