import { fail } from '../../errors.ts'
import { chunksOf } from '../../files/output.ts'
import { baseOf } from '../../graph/derive.ts'
import type { Model } from '../../graph/graph.ts'
import { dtypeFromOnnx } from '../../tensor/dtype.ts'
import { fileBytes } from '../../tensor/tensor.ts'
import { type Origin, originOf } from '../origin.ts'
import {
  type Changes,
  entry,
  FieldWriter,
  type FileField,
  type FileMessage,
  MessageReader,
  messagesOf
} from './fields.ts'
import { FileMap } from './file-map.ts'
import { GraphWriter, opsetFields, type Placement } from './graphs.ts'
import { MAX_MESSAGE, type Piece } from './message.ts'
import { externalFields, ExternalFile } from './tensors.ts'

/** How an ONNX model is written. */
export interface OnnxWriteOptions {
  /** Name of the file beside the model that external data are written to. */
  readonly dataFile?: string
  /** Initializers of as many bytes and more are external; default: those that are so in the file. */
  readonly externalBytes?: number
  /**
   * Whether tensors that are external in the file that was read stay in the files where they are. Only for a model that
   * is written to the same folder.
   */
  readonly keepExternal?: boolean
}

/** A model as it is written: the file, and the external data beside it. */
export interface OnnxFiles {
  readonly model: Piece
  readonly data?: Piece
}

/** Initializers of as many bytes and more are external where a model would be too large for one file. */
const EXTERNAL_WHERE_TOO_LARGE = 1024

/**
 * A model as the bytes of an ONNX file. What was read and is unchanged is copied, whatever it is; parts that were made
 * or derived are put together from the types of `graph.ts`. Weights are read from their files only when the bytes are
 * asked for. A model of 2 GiB and more, which no file can hold, gets external data.
 * @throws NodewiseError `type-not-allowed` for an element type that ONNX does not have, `limit-exceeded` for a model
 *   that is too large beside its weights; getting the bytes throws what reading the weights throws
 */
export function writeOnnx(model: Model, options: OnnxWriteOptions = {}): OnnxFiles {
  if (model.dialect !== 'onnx') fail('internal', 'a model of another dialect must be converted first')
  const files = write(model, options)
  if (files.model.length <= MAX_MESSAGE) return files
  const split = write(model, { ...options, externalBytes: EXTERNAL_WHERE_TOO_LARGE })
  return split.model.length <= MAX_MESSAGE
    ? split
    : fail(
        'limit-exceeded',
        `the model has ${split.model.length} bytes besides its weights, ${MAX_MESSAGE} are possible`
      )
}

function write(
  model: Model,
  { dataFile = 'model.data', externalBytes, keepExternal = false }: OnnxWriteOptions
): OnnxFiles {
  const origin = originOf(model)
  const file = new ExternalFile(dataFile)
  const moves = origin?.hasExternal() === true && (!keepExternal || externalBytes !== undefined)
  const placement = externalBytes === undefined ? undefined : { file, least: externalBytes }
  const message =
    origin?.model === model && !moves && placement === undefined
      ? { length: origin.source.size, chunks: () => chunksOf(origin.source, 0, origin.source.size) }
      : modelMessage(model, origin, placement, moves ? file : undefined)
  return { model: message, ...(!file.isEmpty && { data: file }) }
}

function modelMessage(
  model: Model,
  origin: Origin | undefined,
  placement: Placement | undefined,
  moveTo: ExternalFile | undefined
): Piece {
  const move = origin && moveTo ? moved(origin, moveTo) : undefined
  const reader = origin && new MessageReader(origin.source, move)
  const map = origin && reader && new FileMap(origin.model, reader)
  const writer = new GraphWriter(reader, map, placement)
  const base = origin ? baseOf(model) : undefined
  const fields = new FieldWriter('ModelProto')
  if (model.irVersion !== base?.irVersion) fields.integer('ir_version', model.irVersion)
  if (model.producer !== base?.producer) producerFields(fields, model.producer)
  if (model.opsets !== base?.opsets) opsetFields(fields, model.opsets)
  if (model.metadata !== base?.metadata)
    fields.messages(
      'metadata_props',
      [...model.metadata].map(([key, value]) => entry(key, value))
    )
  if (model.graph !== base?.graph || placement !== undefined) fields.bytes('graph', writer.graph(model.graph))
  if (model.functions !== base?.functions || placement !== undefined)
    fields.messages(
      'functions',
      [...model.functions.values()].map(fn => writer.function(fn))
    )
  return fields.onto(reader, reader?.root)
}

/** Name and version of the producer, which the graph has as one text. */
function producerFields(fields: FieldWriter, producer: string): void {
  const [, name, version] = /^(.*?)(?: (\S+))?$/s.exec(producer) ?? ['', producer, '']
  fields.textIf('producer_name', name).textIf('producer_version', version ?? '')
}

/** Moves tensors of the files of external data to the one that is written; tensors of one range stay one. */
function moved(
  origin: Origin,
  target: ExternalFile
): (tensor: FileMessage, reader: MessageReader) => Changes | undefined {
  return (tensor, reader) => {
    const fields = reader.fields(tensor)
    if (reader.integer(fields, 'data_location') !== 1n) return undefined
    const entries = new Map(
      messagesOf(fields, 'external_data').map(message => {
        const parts = reader.fields(message)
        return [reader.text(parts, 'key'), reader.text(parts, 'value')]
      })
    )
    const location = entries.get('location') ?? ''
    const source = origin.external(location)
    const offset = Number(entries.get('offset') ?? 0)
    // A length of 0 is one that is not stated, see `externalContent`.
    const length = Number(entries.get('length') ?? 0) || bytesOf(reader, fields)
    // What loading has found fault with stays as it is.
    if (!isPosition(offset) || !isPosition(length)) return undefined
    const piece = { length, chunks: () => chunksOf(source, offset, length) }
    return externalFields(new FieldWriter('TensorProto'), target, piece, `${offset}:${length}:${location}`).fields
  }
}

/** Bytes that the elements of a tensor take by its type and dims; NaN for a type that is not known. */
function bytesOf(reader: MessageReader, fields: readonly FileField[]): number {
  const type = dtypeFromOnnx(Number(reader.integer(fields, 'data_type')))
  const count = reader.integers(fields, 'dims').reduce((product, dim) => product * Number(dim), 1)
  return type === undefined ? NaN : fileBytes(type, count)
}

const isPosition = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
