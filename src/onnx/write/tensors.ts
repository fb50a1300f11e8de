import { fail } from '../../errors.ts'
import { chunksOf } from '../../files/output.ts'
import type { Constant } from '../../graph/graph.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { isPacked, pack } from '../../tensor/packing.ts'
import { elementCount, fileBytes, type Tensor } from '../../tensor/tensor.ts'
import { entry, FieldWriter } from './fields.ts'
import type { Piece } from './message.ts'

/** All fields of TensorProto that say where elements are, or hold them. */
const CONTENT = [
  'segment',
  'float_data',
  'int32_data',
  'string_data',
  'int64_data',
  'raw_data',
  'double_data',
  'uint64_data',
  'external_data',
  'data_location'
] as const

/** `TensorProto.DataLocation.EXTERNAL` */
const EXTERNAL = 1

/** Offsets of external data are multiples of this where they are not small, so that they can be mapped (onnx.proto). */
const PAGE = 4096
const SMALL_ALIGNMENT = 64

/** The file of external data that is written beside a model. */
export class ExternalFile implements Piece {
  /** Its name, as tensors state it. */
  readonly location: string
  #length = 0
  readonly #pieces: { readonly gap: number; readonly piece: Piece }[] = []
  readonly #offsets = new Map<string, number>()

  constructor(location: string) {
    this.location = location
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  get length(): number {
    return this.#length
  }

  /**
   * Adds a piece; returns its offset.
   * @param key tells pieces apart: equal ones are written once
   */
  add(piece: Piece, key?: string): number {
    const earlier = key === undefined ? undefined : this.#offsets.get(key)
    if (earlier !== undefined) return earlier
    const unit = piece.length < PAGE ? SMALL_ALIGNMENT : PAGE
    const offset = Math.ceil(this.#length / unit) * unit
    this.#pieces.push({ gap: offset - this.#length, piece })
    this.#length = offset + piece.length
    if (key !== undefined) this.#offsets.set(key, offset)
    return offset
  }

  *chunks(): Generator<Uint8Array> {
    for (const { gap, piece } of this.#pieces) {
      if (gap > 0) yield new Uint8Array(gap)
      yield* piece.chunks()
    }
  }
}

/** The number that ONNX has for a type. */
export const onnxType = (type: DType): number =>
  DTYPES[type].onnx ?? fail('type-not-allowed', `ONNX has no element type ${type}`)

/** Type, dims and elements of a constant as fields of a TensorProto; the elements are read when they are written. */
export function tensorFields(constant: Constant, external?: ExternalFile): FieldWriter {
  const { type, dims } = constant
  const fields = new FieldWriter('TensorProto').integers('dims', dims).integer('data_type', onnxType(type))
  fields.none(...CONTENT)
  if (type === 'string') {
    for (const text of constant.read().data as string[]) fields.text('string_data', text)
    return fields
  }
  const piece = elementsOf(constant)
  return external === undefined ? fields.bytes('raw_data', piece) : externalFields(fields, external, piece)
}

/** States that the elements are in a file beside the model. */
export function externalFields(fields: FieldWriter, file: ExternalFile, piece: Piece, key?: string): FieldWriter {
  const offset = file.add(piece, key)
  return fields
    .none(...CONTENT)
    .messages('external_data', [
      entry('location', file.location),
      entry('offset', String(offset)),
      entry('length', String(piece.length))
    ])
    .integer('data_location', EXTERNAL)
}

/** The elements as `raw_data` has them. */
function elementsOf(constant: Constant): Piece {
  const { raw, type, dims } = constant
  const length = fileBytes(type, elementCount(dims))
  // Both layouts pack the types that ONNX has in the same way.
  if (raw?.length === length) return { length, chunks: () => chunksOf(raw.source, raw.offset, length) }
  return {
    length,
    *chunks() {
      yield bytesOf(constant.read())
    }
  }
}

function bytesOf({ type, data }: Tensor): Uint8Array {
  if (Array.isArray(data)) return fail('internal', 'strings do not lie as raw bytes')
  if (isPacked(type)) return pack(type, data as Uint8Array, 'onnx')
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}
