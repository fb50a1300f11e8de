import type { ByteSource } from '../../files/byte-source.ts'
import { chunksOf } from '../../files/output.ts'
import { type MessageKind, messageKind } from '../skim-fields.ts'
import { decodeText } from '../text.ts'
import { WireReader } from '../wire.ts'
import { MessageWriter, type Piece } from './message.ts'

/** A message in the file that a model was read from, without its tag and length. */
export interface FileMessage {
  readonly kind: MessageKind
  readonly start: number
  readonly end: number
  /** Further parts of a message that a singular field holds more than once: readers of protobuf merge them all. */
  readonly more?: readonly FileMessage[]
}

/** The message that a singular field holds, merged of all its values; undefined where there is none. */
export function messageIn(fields: readonly FileField[], name: string): FileMessage | undefined {
  const [first, ...more] = messagesOf(fields, name)
  return more.length === 0 ? first : { ...first, more }
}

/** The messages in the fields of one name. */
export const messagesOf = (fields: readonly FileField[], name: string): FileMessage[] =>
  fields.flatMap(field => (field.name === name && field.message ? [field.message] : []))

/** A field of a message in the file. */
export interface FileField {
  /** Name in the schema; empty for a field that the schema does not have. */
  readonly name: string
  /** Offset of its tag. */
  readonly start: number
  /** Offset of its value, after the length where there is one. */
  readonly body: number
  readonly end: number
  readonly message?: FileMessage
}

/** New values of fields by their names; each is written with its tag. An empty list drops the field. */
export type Changes = ReadonlyMap<string, readonly Piece[]>

/** New values for fields of a tensor of the file; undefined where it stays as it is. */
export type ReplaceTensor = (tensor: FileMessage, reader: MessageReader) => Changes | undefined

/** The number of a field by its name. */
function fieldNumber(message: string, field: string): number {
  let numbers = NUMBERS.get(message)
  if (numbers === undefined) {
    numbers = new Map([...messageKind(message).fields].map(([number, { name }]) => [name, number]))
    NUMBERS.set(message, numbers)
  }
  return numbers.get(field) ?? 0
}

const NUMBERS = new Map<string, Map<string, number>>()

/** Reads the messages of a file that the skim has checked. */
export class MessageReader {
  readonly source: ByteSource
  readonly #reader: WireReader
  readonly #replace: ReplaceTensor | undefined

  /** @param replace called for each tensor that would be copied */
  constructor(source: ByteSource, replace?: ReplaceTensor) {
    this.source = source
    this.#reader = new WireReader(source)
    this.#replace = replace
  }

  /** The whole file as a model. */
  get root(): FileMessage {
    return { kind: messageKind('ModelProto'), start: 0, end: this.source.size }
  }

  /** The fields of a message, in the order of the file. */
  fields(message: FileMessage): FileField[] {
    const fields = this.#fieldsOf(message)
    for (const part of message.more ?? []) fields.push(...this.#fieldsOf(part))
    return fields
  }

  /** The fields of one part of a message. */
  #fieldsOf({ kind, start, end }: FileMessage): FileField[] {
    const reader = this.#reader
    const fields: FileField[] = []
    reader.offset = start
    while (reader.offset < end) {
      const from = reader.offset
      const tag = reader.tag(end, kind.name)
      const known = kind.fields.get(tag >>> 3)
      const title = known?.title ?? kind.name
      const wire = tag & 7
      let body = reader.offset
      if (wire === 0) reader.varint(end, title)
      else if (wire === 2) {
        const length = reader.length(end, title)
        body = reader.offset
        reader.skip(length, end, title)
      } else reader.skip(wire === 1 ? 8 : 4, end, title)
      fields.push({
        name: known?.name ?? '',
        start: from,
        body,
        end: reader.offset,
        ...(known?.message && { message: { kind: messageKind(known.message), start: body, end: reader.offset } })
      })
    }
    return fields
  }

  /** The text of a field; empty where the message has none. The last value counts. */
  text(fields: readonly FileField[], name: string): string {
    const field = fields.findLast(candidate => candidate.name === name)
    return field === undefined ? '' : decodeText(this.source.read(field.body, field.end - field.body))
  }

  /** The signed integer in a field; 0 where the message has none. The last value counts. */
  integer(fields: readonly FileField[], name: string): bigint {
    return this.integers(fields, name).at(-1) ?? 0n
  }

  /** The signed integers of a list, packed or not. */
  integers(fields: readonly FileField[], name: string): bigint[] {
    const integers: bigint[] = []
    for (const field of fields) {
      if (field.name !== name) continue
      let value = 0n
      let shift = 0n
      for (const byte of this.source.read(field.body, field.end - field.body)) {
        value |= BigInt(byte & 127) << shift
        shift += 7n
        if (byte >= 128) continue
        integers.push(BigInt.asIntN(64, value))
        value = shift = 0n
      }
    }
    return integers
  }

  /** A message as it is in the file. Its bytes are copied when they are written. */
  whole(message: FileMessage): Piece {
    const isCopied = this.#replace === undefined || !HOLDERS.has(message.kind.name)
    if (isCopied && message.more === undefined) return this.#copy(message.start, message.end)
    return this.patch(message, NO_CHANGES)
  }

  /** A message with other values of some fields. All others stay as they are, those that are not known too. */
  patch(message: FileMessage, changes: Changes): MessageWriter {
    const replaceable = message.kind.name === 'TensorProto' && !changes.has('raw_data')
    const replaced = replaceable ? this.#replace?.(message, this) : undefined
    const wanted = replaced === undefined ? changes : new Map([...replaced, ...changes])
    const writer = new MessageWriter()
    const left = new Map(wanted)
    for (const part of [message, ...(message.more ?? [])]) {
      let keptFrom = part.start
      for (const field of this.#fieldsOf(part)) {
        const pieces = this.#newField(part, field, wanted, left)
        if (pieces === undefined) continue
        writer.add(this.#copy(keptFrom, field.start))
        for (const piece of pieces) writer.add(piece)
        keptFrom = field.end
      }
      writer.add(this.#copy(keptFrom, part.end))
    }
    for (const pieces of left.values()) for (const piece of pieces) writer.add(piece)
    return writer
  }

  /** What stands in place of a field; undefined where it stays as it is. All new values stand where the first was. */
  #newField(
    { kind }: FileMessage,
    { name, message }: FileField,
    wanted: Changes,
    left: Map<string, readonly Piece[]>
  ): readonly Piece[] | undefined {
    if (wanted.has(name)) {
      const pieces = left.get(name) ?? []
      left.delete(name)
      return pieces
    }
    if (this.#replace === undefined || message === undefined || !HOLDERS.has(message.kind.name)) return undefined
    return [new MessageWriter().bytes(fieldNumber(kind.name, name), this.whole(message))]
  }

  #copy(start: number, end: number): Piece {
    return { length: end - start, chunks: () => chunksOf(this.source, start, end - start) }
  }
}

const NO_CHANGES: Changes = new Map()

/** Messages that are tensors, or hold some at any depth. */
const HOLDERS: ReadonlySet<string> = new Set([
  'TensorProto',
  'SparseTensorProto',
  'AttributeProto',
  'NodeProto',
  'GraphProto',
  'FunctionProto',
  'TrainingInfoProto',
  'ModelProto'
])

/** Puts fields together by the names of the schema. */
export class FieldWriter {
  readonly #message: string
  readonly fields = new Map<string, MessageWriter[]>()

  constructor(message: string) {
    this.#message = message
  }

  #add(field: string, write: (writer: MessageWriter, number: number) => MessageWriter): this {
    const pieces = this.fields.get(field) ?? []
    pieces.push(write(new MessageWriter(), fieldNumber(this.#message, field)))
    this.fields.set(field, pieces)
    return this
  }

  integer(field: string, value: number | bigint): this {
    return this.#add(field, (writer, number) => writer.integer(number, value))
  }
  integers(field: string, values: Iterable<number | bigint>): this {
    this.none(field)
    for (const value of values) this.integer(field, value)
    return this
  }
  float(field: string, value: number): this {
    return this.#add(field, (writer, number) => writer.float(number, value))
  }
  text(field: string, text: string): this {
    return this.#add(field, (writer, number) => writer.text(number, text))
  }
  texts(field: string, texts: Iterable<string>): this {
    this.none(field)
    for (const text of texts) this.text(field, text)
    return this
  }
  bytes(field: string, bytes: Uint8Array | Piece): this {
    return this.#add(field, (writer, number) => writer.bytes(number, bytes))
  }
  messages(field: string, messages: Iterable<Piece>): this {
    this.none(field)
    for (const message of messages) this.bytes(field, message)
    return this
  }
  /** The field has no value, unless one is added. */
  none(...fields: readonly string[]): this {
    for (const field of fields) if (!this.fields.has(field)) this.fields.set(field, [])
    return this
  }

  /** Adds a field only where there is something to say. */
  textIf(field: string, text: string): this {
    return text === '' ? this.none(field) : this.text(field, text)
  }

  /** The message of the file with these fields in place of its own; where there is none, as {@link alone}. */
  onto(reader: MessageReader | undefined, message: FileMessage | undefined): MessageWriter {
    return reader !== undefined && message !== undefined ? reader.patch(message, this.fields) : this.alone()
  }

  /** The message of these fields alone. */
  alone(): MessageWriter {
    const writer = new MessageWriter()
    for (const pieces of this.fields.values()) for (const piece of pieces) writer.add(piece)
    return writer
  }
}

/** A message with a key and a value. */
export const entry = (key: string, value: string): MessageWriter =>
  new FieldWriter('StringStringEntryProto').text('key', key).text('value', value).alone()
