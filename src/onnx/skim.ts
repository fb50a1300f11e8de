import { fail } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import { FIELDS, type RootMessages, type WireField } from './schema.js'
import { SkeletonWriter } from './skeleton.ts'
import { malformed, WireReader } from './wire.ts'

/** The elements of a tensor, or some of them, where they lie in the file. */
export interface Payload {
  /** The field of TensorProto that holds them (`raw_data`, `int64_data`). */
  readonly field: string
  readonly offset: number
  length: number
  /** Elements one by one, each with its tag, in place of one packed run; `string_data` always. */
  readonly tagged: boolean
  /** Number of elements, where `tagged`. */
  elements: number
  /** Bytes without tags and lengths. */
  content: number
  /** The bytes themselves, where they are few. */
  bytes?: Uint8Array
}

/** What a skim leaves of a file. */
export interface Skimmed {
  /**
   * The root message without what is dropped: elements of tensors, unknown fields and fields that the loader has no use
   * for. Every
   * tensor carries the numbers of its payloads in the private field `payload`.
   */
  readonly skeleton: Uint8Array
  readonly payloads: readonly Payload[]
  /** How often each field was dropped, by `Message.field`; unknown ones together as `Message.?`. */
  readonly dropped: ReadonlyMap<string, number>
}

/** Stands for the name of every field that the schema does not have. */
export const UNKNOWN = '?'

/** Payloads below this size are kept in memory: reading them later would cost more than they weigh. */
const SMALL_PAYLOAD = 1024
/** Kept fields are copied in pieces of about this size: the window still holds them. */
const MAX_PIECE = 4096
/** Number of `TensorProto.payload` in proto/onnx.proto. */
const PAYLOAD_FIELD = 536870000

const ELEMENTS = new Set([
  'raw_data',
  'float_data',
  'int32_data',
  'string_data',
  'int64_data',
  'double_data',
  'uint64_data'
])

/** Fields that are dropped: no part of what a graph means, or not supported. */
const UNUSED = new Set([
  'doc_string',
  'denotation',
  'ModelProto.training_info',
  'ModelProto.configuration',
  'GraphProto.quantization_annotation',
  'NodeProto.device_configurations',
  'GraphProto.metadata_props',
  'NodeProto.metadata_props',
  'ValueInfoProto.metadata_props',
  'TensorProto.metadata_props',
  'FunctionProto.metadata_props'
])

/**
 * What the parts of a file cost in memory once they are loaded, in units of about 64 bytes. What is not listed costs 4
 * as a message
 * and 1 as a number or text.
 */
const COST: Readonly<Record<string, number>> = {
  NodeProto: 24,
  AttributeProto: 10,
  GraphProto: 32,
  FunctionProto: 32,
  TensorProto: 32,
  SparseTensorProto: 16,
  ValueInfoProto: 16,
  'NodeProto.output': 12,
  'AttributeProto.ints': 2,
  'AttributeProto.strings': 3,
  'TensorProto.dims': 2
}
const COST_OF_MESSAGE = 4
const COST_OF_PAYLOAD = 6
const BYTES_OF_UNIT = 64
/**
 * A file of empty messages, two bytes each, must not become a thousand times its size: a share of the limit is free,
 * then every byte that
 * is kept buys 2 units (ordinary files need 0.3 to 1.1 a byte, those with names of one letter 1.9), and a quarter of
 * one once there are plenty.
 */
const FREE_SHARE = 1 / 64
const COST_BY_BYTE = 2
const PLENTY_SHARE = 1 / 4
const COST_BY_BYTE_OF_PLENTY = 0.25
const MAX_SKELETON = 2 ** 29

interface Kind {
  readonly name: string
  readonly isGraph: boolean
  readonly fields: ReadonlyMap<number, FieldKind>
  readonly cost: number
}
interface FieldKind extends Omit<WireField, 'message'> {
  /** The kind of message that it holds, where it holds one. */
  message?: Kind
  /** `NodeProto.input`, for messages. */
  readonly title: string
  readonly unused: boolean
  readonly elements: boolean
  readonly cost: number
}

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(FIELDS).map(([name, fields]) => [
    name,
    {
      name,
      isGraph: name === 'GraphProto' || name === 'FunctionProto',
      fields: new Map(
        Object.entries(fields).map(([number, { message: _, ...field }]) => [
          Number(number),
          {
            ...field,
            title: `${name}.${field.name}`,
            unused: UNUSED.has(field.name) || UNUSED.has(`${name}.${field.name}`),
            elements: name === 'TensorProto' && ELEMENTS.has(field.name),
            cost: COST[`${name}.${field.name}`] ?? 1
          }
        ])
      ),
      cost: COST[name] ?? COST_OF_MESSAGE
    }
  ])
)
for (const [name, { fields }] of KINDS) {
  for (const [number, field] of fields) {
    const { message } = FIELDS[name][number]
    if (message !== undefined) field.message = kindOf(message)
  }
}

/**
 * Walks the wire format of an ONNX file with positioned reads and takes the elements of its tensors out, so that the
 * rest can be
 * decoded without reading them. Every length is checked against the message around it.
 * @throws NodewiseError `invalid-file` with the byte offset where the bytes are not what the format says;
 *   `limit-exceeded` where
 *   messages or graphs are nested too deep or the file would take unreasonable memory
 */
export function skim(source: ByteSource, root: keyof RootMessages, limits: Limits): Skimmed {
  const reader = new WireReader(source)
  const out = new SkeletonWriter(MAX_SKELETON)
  const payloads: Payload[] = []
  const dropped = new Map<string, number>()
  const mostCost = limits.structureBytes / BYTES_OF_UNIT
  const freeCost = mostCost * FREE_SHARE
  const plenty = mostCost * PLENTY_SHARE
  let cost = 0
  let skipped = 0
  // Fields that are kept and lie one behind the other go over in one piece.
  let keptStart = 0
  let keptEnd = 0
  message(kindOf(root), source.size, 0, -1)
  flush()
  return { skeleton: out.bytes(), payloads, dropped }

  function message(kind: Kind, end: number, depth: number, outerGraphs: number): void {
    const start = reader.offset
    const graphs = kind.isGraph ? outerGraphs + 1 : outerGraphs
    if (graphs > limits.graphDepth)
      tooMuch('graphDepth', `graphs are nested more than ${limits.graphDepth} deep`, start)
    if (depth > limits.messageDepth)
      tooMuch('messageDepth', `messages are nested more than ${limits.messageDepth} deep`, start)
    spend(kind.cost)
    const firstPayload = payloads.length
    while (reader.offset < end) field(kind, end, depth, graphs, firstPayload)
    if (payloads.length > firstPayload && kind.name === 'TensorProto') closeTensor(firstPayload)
  }

  function field(kind: Kind, end: number, depth: number, graphs: number, firstPayload: number): void {
    const start = reader.offset
    const tag = reader.tag(end, kind.name)
    const wire = tag & 7
    const known = kind.fields.get(tag >>> 3)
    if (known === undefined) return drop(`${kind.name}.${UNKNOWN}`, wire, start, end)
    if (wire !== known.wire && !(known.list && wire === 2)) {
      malformed(known.title, start, `its wire type is ${wire}, not ${known.wire}`)
    }
    if (known.unused) return drop(known.title, wire, start, end)
    if (known.elements) return elements(known, wire, start, end, firstPayload)
    if (known.message === undefined) return copy(known, wire, start, end)
    const length = reader.length(end, known.title)
    flush()
    const opened = out.open(tag)
    message(known.message, reader.offset + length, depth + 1, graphs)
    flush()
    out.close(opened)
  }

  function drop(title: string, wire: number, start: number, end: number): void {
    skipped += skipValue(wire, start, end, title)
    dropped.set(title, (dropped.get(title) ?? 0) + 1)
  }

  /** A number, text or packed list goes over as it is. */
  function copy(known: FieldKind, wire: number, start: number, end: number): void {
    const length = skipValue(wire, start, end, known.title)
    spend(wire === 2 && known.list ? length * known.cost : known.cost)
    if (start !== keptEnd || start - keptStart > MAX_PIECE) {
      flush()
      keptStart = start
      reader.held = start
    }
    keptEnd = reader.offset
  }

  function flush(): void {
    const length = keptEnd - keptStart
    if (length > 0) {
      out.reserve(length)
      out.copy(reader.view(keptStart, length))
    }
    keptStart = keptEnd
    reader.held = -1
  }

  function elements(known: FieldKind, wire: number, start: number, end: number, firstPayload: number): void {
    const length = skipValue(wire, start, end, known.title)
    skipped += length
    const tagged = wire !== 2 || known.name === 'string_data'
    const last = payloads.length > firstPayload ? payloads[payloads.length - 1] : undefined
    if (tagged && last?.tagged && last.field === known.name && last.offset + last.length === start) {
      last.length = reader.offset - last.offset
      last.elements++
      last.content += length
      return
    }
    spend(COST_OF_PAYLOAD)
    const offset = tagged ? start : reader.offset - length
    payloads.push({
      field: known.name,
      offset,
      length: reader.offset - offset,
      tagged,
      elements: tagged ? 1 : 0,
      content: length
    })
  }

  function closeTensor(firstPayload: number): void {
    const numbers: number[] = []
    for (let i = firstPayload; i < payloads.length; i++) {
      const payload = payloads[i]
      // A copy, since the view would keep the whole window in memory.
      if (payload.length < SMALL_PAYLOAD) payload.bytes = new Uint8Array(reader.view(payload.offset, payload.length))
      numbers.push(i)
    }
    flush()
    out.packed(PAYLOAD_FIELD, numbers)
  }

  /** Moves past a value; returns how many bytes it has, without a length before it. */
  function skipValue(wire: number, start: number, end: number, title: string): number {
    const from = reader.offset
    if (wire === 0) reader.varint(end, title)
    else if (wire === 1) reader.skip(8, end, title)
    else if (wire === 5) reader.skip(4, end, title)
    else if (wire === 2) {
      const length = reader.length(end, title)
      reader.skip(length, end, title)
      return length
    } else malformed(title, start, `wire type ${wire} does not occur in ONNX`)
    return reader.offset - from
  }

  function spend(units: number): void {
    cost += units
    const bytes = reader.offset - skipped
    if (cost > Math.min(mostCost, freeCost + bytes * COST_BY_BYTE, plenty + bytes * COST_BY_BYTE_OF_PLENTY)) {
      tooMuch('structureBytes', 'the file has more parts than its size justifies or memory should hold', reader.offset)
    }
  }

  function tooMuch(limit: keyof Limits, what: string, offset: number): never {
    return exceed(limit, limits, `${what} at byte ${offset}`, {}, { offset })
  }
}

function kindOf(name: string): Kind {
  const kind = KINDS.get(name)
  return kind ?? fail('internal', `the schema has no message ${name}`)
}
