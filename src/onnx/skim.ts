import type { ByteSource } from '../files/byte-source.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { RootMessages } from './schema.js'
import { SkeletonWriter } from './skeleton.ts'
import { type FieldKind, type MessageKind, messageKind } from './skim-fields.ts'
import { StructureBudget } from './structure-budget.ts'
import { malformed, WireReader } from './wire.ts'

/** Where a tensor's elements, or entries of an attribute's list, or a part of them, are in the file. */
export interface Payload {
  /** The field of the message that holds them (`raw_data`, `int64_data`, `ints`). */
  readonly field: string
  readonly offset: number
  length: number
  /** Whether each element has a tag of its own, instead of all elements being packed; always so for strings. */
  readonly tagged: boolean
  /** Number of elements, where `tagged`. */
  elements: number
  /** Bytes of the elements without tags and lengths. */
  content: number
  /** The bytes `[offset, offset + length)` of the file, where they are few. */
  bytes?: Uint8Array
}

/** Result of a skim. */
export interface Skimmed {
  /**
   * The root message without elements of tensors, long lists of attributes, unknown fields and fields that the loader
   * has no use for. Each tensor and attribute has the indices of its payloads in the private field `payload`.
   */
  readonly skeleton: Uint8Array
  readonly payloads: readonly Payload[]
  /** How often each field was dropped, by `Message.field`; all unknown fields of a message as `Message.?`. */
  readonly dropped: ReadonlyMap<string, number>
}

/** Stands for the name of a field that the schema does not have. */
export const UNKNOWN = '?'

/** Payloads of fewer bytes are kept in memory: reading them later would take longer. */
const SMALL_PAYLOAD = 1024
/** Fields that are kept are copied in pieces of about this many bytes, so that the reader's window still holds them. */
const MAX_PIECE = 4096
/** {@link SMALL_PAYLOAD} where bytes come asynchronously: values that decide shapes must be read synchronously. */
const SMALL_AFAR = 2 ** 14
const LISTS: readonly string[] = ['floats', 'ints', 'strings']
/** Number of the fields `payload` in proto/onnx.proto. */
const PAYLOAD_FIELD = 536870000
/** Memory that a payload takes, in units of `BYTES_PER_UNIT`. */
const COST_OF_PAYLOAD = 6
const MAX_SKELETON = 2 ** 29

/** What becomes of the fields of one message. */
interface Taken {
  /** Indices of its payloads. */
  readonly payloads: number[]
  /** Names of the lists of which entries have been kept. All others are kept too, since they have an order. */
  readonly kept: string[]
}

const TAKES_NOTHING: Taken = { payloads: [], kept: [] }

/**
 * Walks the wire format of an ONNX file and takes the elements of tensors and long lists out, so that the rest can be
 * decoded. The elements are not read, but jumped over. Every length is checked against the message around it.
 * @throws NodewiseError `invalid-file` with the byte offset where the bytes do not follow the format; `limit-exceeded`
 *   where messages or graphs are nested too deep, or the file would take more memory than its size justifies
 * @param keepDocs keep the texts of `doc_string`, which some exporters fill with a stack trace a node
 */
export function skim(source: ByteSource, root: keyof RootMessages, limits: Limits, keepDocs = false): Skimmed {
  return new Skim(source, limits, keepDocs).run(messageKind(root), source.size)
}

const isList = ({ field }: Payload): boolean => LISTS.includes(field)

class Skim {
  private readonly limits: Limits
  private readonly keepDocs: boolean
  private readonly isAfar: boolean
  private readonly reader: WireReader
  private readonly out = new SkeletonWriter(MAX_SKELETON)
  private readonly budget: StructureBudget
  private readonly payloads: Payload[] = []
  private readonly dropped = new Map<string, number>()
  /** Bytes of elements and dropped fields so far. */
  private skipped = 0
  /** Bytes of payloads that are kept though they are not small. */
  private kept = 0
  /** The last fields that were kept and not yet copied, `[keptStart, keptEnd)`: neighbours are copied in one piece. */
  private keptStart = 0
  private keptEnd = 0

  constructor(source: ByteSource, limits: Limits, keepDocs: boolean) {
    this.limits = limits
    this.keepDocs = keepDocs
    this.isAfar = source.remote !== undefined
    this.reader = new WireReader(source)
    this.budget = new StructureBudget(limits)
  }

  run(root: MessageKind, size: number): Skimmed {
    this.message(root, size, 0, -1)
    this.flush()
    return { skeleton: this.out.bytes(), payloads: this.payloads, dropped: this.dropped }
  }

  /**
   * @param end offset after the message
   * @param depth number of messages around it
   * @param outerGraphs number of graphs around it, less one
   */
  private message(kind: MessageKind, end: number, depth: number, outerGraphs: number): void {
    const { reader, limits } = this
    const start = reader.offset
    const graphs = kind.isGraph ? outerGraphs + 1 : outerGraphs
    if (graphs > limits.graphDepth) this.tooDeep('graphDepth', 'graphs', start)
    if (depth > limits.messageDepth) this.tooDeep('messageDepth', 'messages', start)
    this.spend(kind.cost)
    const taken = kind.hasPayloads ? { payloads: [], kept: [] } : TAKES_NOTHING
    while (reader.offset < end) this.field(kind, end, depth, graphs, taken)
    if (taken.payloads.length > 0) this.closePayloads(taken.payloads)
  }

  private field(kind: MessageKind, end: number, depth: number, graphs: number, taken: Taken): void {
    const { reader, out } = this
    const start = reader.offset
    const tag = reader.tag(end, kind.name)
    const wire = tag & 7
    const known = kind.fields.get(tag >>> 3)
    if (known === undefined) return this.drop(`${kind.name}.${UNKNOWN}`, wire, start, end)
    if (wire !== known.wire && !(known.list && wire === 2)) {
      malformed(known.title, start, `its wire type is ${wire}, not ${known.wire}`)
    }
    if (known.isUnused && !(this.keepDocs && known.name === 'doc_string'))
      return this.drop(known.title, wire, start, end)
    if (known.isElements) return this.elements(known, wire, start, end, taken)
    if (known.isEntries) return this.entries(known, tag, start, end, taken)
    if (known.message === undefined) return this.keep(known, wire, start, end)
    const length = reader.length(end, known.title)
    this.flush()
    const opened = out.open(tag)
    this.message(messageKind(known.message), reader.offset + length, depth + 1, graphs)
    this.flush()
    out.close(opened)
  }

  private drop(title: string, wire: number, start: number, end: number): void {
    this.skipped += this.skipValue(wire, start, end, title)
    this.dropped.set(title, (this.dropped.get(title) ?? 0) + 1)
  }

  /** Keeps a number, a text or a packed list: `flush` copies it as it is. */
  private keep(known: FieldKind, wire: number, start: number, end: number): void {
    const length = this.skipValue(wire, start, end, known.title)
    this.spend(wire === 2 && known.list ? length * known.cost : known.cost)
    this.keepFrom(start)
  }

  /** Keeps what has been read since `start`. */
  private keepFrom(start: number): void {
    if (start !== this.keptEnd || start - this.keptStart > MAX_PIECE) {
      this.flush()
      this.keptStart = start
      this.reader.held = start
    }
    this.keptEnd = this.reader.offset
  }

  /** Copies the fields that were kept to the skeleton. */
  private flush(): void {
    const length = this.keptEnd - this.keptStart
    if (length > 0) {
      this.out.reserve(length)
      this.out.copy(this.reader.view(this.keptStart, length))
    }
    this.keptStart = this.keptEnd
    this.reader.held = -1
  }

  /** Notes where elements are; those of a tagged field that follow each other are one payload. */
  private elements(known: FieldKind, wire: number, start: number, end: number, taken: Taken): void {
    const { reader, payloads } = this
    const length = this.skipValue(wire, start, end, known.title)
    this.skipped += length
    const tagged = wire !== 2 || known.name === 'string_data'
    const last = payloads[taken.payloads.at(-1) ?? -1]
    if (tagged && last?.tagged && last.field === known.name && last.offset + last.length === start) {
      last.length = reader.offset - last.offset
      last.elements++
      last.content += length
      return
    }
    this.spend(COST_OF_PAYLOAD)
    this.take(known, tagged ? start : reader.offset - length, tagged ? 1 : 0, length, taken)
  }

  /** Notes where entries of a list are, those that follow each other together, or keeps them where they are few. */
  private entries(known: FieldKind, tag: number, start: number, end: number, taken: Taken): void {
    const { reader, payloads } = this
    const { name, title } = known
    const wire = tag & 7
    let content = this.skipValue(wire, start, end, title)
    const tagged = wire !== 2 || name === 'strings'
    let elements = tagged ? 1 : 0
    while (tagged && reader.offset < end) {
      const at = reader.offset
      if (reader.tag(end, title) !== tag) {
        reader.offset = at
        break
      }
      content += this.skipValue(wire, at, end, title)
      elements++
    }
    const offset = tagged ? start : reader.offset - content
    const isLong = reader.offset - offset >= SMALL_PAYLOAD
    const isTaken = (isLong && !taken.kept.includes(name)) || taken.payloads.some(at => payloads[at].field === name)
    this.spend((elements || content) * (isTaken ? known.costInFile : known.cost))
    if (isTaken) {
      this.spend(COST_OF_PAYLOAD)
      this.take(known, offset, elements, content, taken)
    } else {
      taken.kept.push(name)
      this.keepFrom(start)
    }
  }

  /** @param elements 0: they are packed */
  private take({ name }: FieldKind, offset: number, elements: number, content: number, taken: Taken): void {
    const length = this.reader.offset - offset
    taken.payloads.push(this.payloads.length)
    this.payloads.push({ field: name, offset, length, tagged: elements > 0, elements, content })
  }

  /** Writes the indices of a message's payloads, and keeps the bytes of small ones. */
  private closePayloads(indices: readonly number[]): void {
    const { reader, payloads } = this
    for (const i of indices) {
      const payload = payloads[i]
      if (!this.isKept(payload)) continue
      // Copied, since a view would keep the whole window in memory.
      payload.bytes = new Uint8Array(reader.view(payload.offset, payload.length))
    }
    this.flush()
    this.out.packed(PAYLOAD_FIELD, indices)
  }

  /** Whether the bytes of a payload are kept in memory. */
  private isKept(payload: Payload): boolean {
    const { length, offset } = payload
    if (!this.isAfar || length < SMALL_PAYLOAD) return length < SMALL_PAYLOAD
    if (length > SMALL_AFAR && !isList(payload)) return false
    const { limits } = this
    this.kept += length
    if (this.kept > limits.structureBytes)
      exceed(
        'structureBytes',
        limits,
        `lists and small tensors take more than is allowed at byte ${offset}`,
        {},
        { offset }
      )
    return true
  }

  /** Moves past a value; returns how many bytes it has, without the length before it. */
  private skipValue(wire: number, start: number, end: number, title: string): number {
    const { reader } = this
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

  private spend(units: number): void {
    const { offset } = this.reader
    this.budget.spend(units, offset - this.skipped, offset)
  }

  private tooDeep(limit: 'graphDepth' | 'messageDepth', what: string, offset: number): never {
    const message = `${what} are nested more than ${this.limits[limit]} deep at byte ${offset}`
    return exceed(limit, this.limits, message, {}, { offset })
  }
}
