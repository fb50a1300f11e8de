import { NodewiseError } from '../../errors.ts'
import { readInto } from '../../files/byte-source.ts'
import { bodiesOf, type ByteRange, type Constant, type Graph, type Node } from '../../graph/graph.ts'
import { liveLayers } from '../../graph/live.ts'
import { type DType, DTYPES } from '../../tensor/dtype.ts'
import { isPacked, pack } from '../../tensor/packing.ts'
import { elementCount, fileBytes, type Tensor } from '../../tensor/tensor.ts'
import { packStrings } from '../strings.ts'

/** Where the bytes of a constant are in the `.bin`. */
export interface Slot {
  readonly offset: number
  readonly size: number
}

/** The `.bin` of a model: where each constant is, and the bytes. */
export interface Bin {
  readonly size: number
  /** Undefined for a constant that cannot be read and that no Result needs. */
  slotOf(constant: Constant): Slot | undefined
  /** The bytes in order, in pieces. Each piece may be overwritten when the next one is asked for. */
  pieces(): Iterable<Uint8Array>
}

/** Bytes that are read at a time. */
const PIECE = 1 << 20
/** Constants up to this size are compared by their bytes, larger ones by a hash first. */
const SMALL = 64

/**
 * Lays the constants of a graph and its bodies out as OpenVINO does: in the order of the layers, one right after the
 * other, equal bytes once. Only constants that have as many bytes as another are read for that, a piece at a time.
 * @throws NodewiseError as reading a constant, `type-not-allowed` where IR has no such element type
 */
export function layOut(graph: Graph): Bin {
  const slots = new Map<Constant, Slot>()
  const kept: Payload[] = []
  const owned = [...constantsOf(graph)].filter(isReadable)
  const known = new Twins(owned)
  let size = 0
  for (const { constant, node } of owned) {
    if (slots.has(constant)) continue
    const payload = payloadOf(constant, node)
    const twin = known.twinOf(payload)
    if (twin !== undefined) {
      slots.set(constant, slots.get(twin.constant) as Slot)
      continue
    }
    slots.set(constant, { offset: size, size: payload.size })
    size += payload.size
    kept.push(payload)
  }
  // OpenVINO takes an empty .bin for one that is missing, also where no constant has elements.
  const isEmpty = size === 0 && kept.length > 0
  return {
    size: isEmpty ? 1 : size,
    slotOf: constant => slots.get(constant),
    pieces: () => (isEmpty ? [new Uint8Array(1)] : joined(kept))
  }
}

/** A constant and its layer. */
interface Owned {
  readonly constant: Constant
  readonly graph: Graph
  readonly node: Node
}

/** The constants of a graph in the order of the file, those of bodies where their layers are; last the mean images. */
function* constantsOf(graph: Graph): Generator<Owned> {
  for (const node of graph.nodes) {
    if (node.constant !== undefined) yield { constant: node.constant, graph, node }
    for (const body of bodiesOf(node)) yield* constantsOf(body.graph)
  }
  for (const { mean, node } of graph.inputs)
    if (node !== undefined)
      for (const constant of mean?.images ?? []) yield { constant, graph, node: graph.nodes[node] }
}

/**
 * Whether a constant is where the file says; false where it is not, and nothing needs it.
 * @throws NodewiseError where something needs it
 */
function isReadable({ constant, graph, node }: Owned): boolean {
  try {
    constant.verify?.()
    return true
  } catch (error) {
    if (liveLayers(graph)[node.index] === 0) return false
    throw error
  }
}

/** A constant as the `.bin` gets it. */
interface Payload {
  readonly constant: Constant
  readonly size: number
  /** Where the same bytes are in a file. */
  readonly range?: ByteRange
}

function payloadOf(constant: Constant, { attributes }: Node): Payload {
  const { type, dims, raw } = constant
  if (DTYPES[type].openvino === undefined)
    throw new NodewiseError('type-not-allowed', `OpenVINO has no element type ${type}`, constant.place)
  const count = elementCount(dims)
  if (count === 0 && type !== 'string') {
    // OpenVINO writes no byte or one for a constant without elements, and takes both.
    const size = attributes.get('size')
    return { constant, size: size?.kind === 'text' && size.value === '0' ? 0 : 1 }
  }
  if (raw !== undefined && liesAlike(type)) return { constant, size: raw.length, range: raw }
  return { constant, size: type === 'string' || !liesAlike(type) ? bytesOf(constant).length : fileBytes(type, count) }
}

/** Whether the elements lie in an ONNX file and in a .bin as the same bytes. */
const liesAlike = (type: DType): boolean => !isPacked(type) || DTYPES[type].bits === 2 || DTYPES[type].bits === 4

/** All bytes of a constant that must be encoded, or that lies in no file. */
function bytesOf(constant: Constant): Uint8Array {
  const tensor: Tensor = constant.read()
  const { type, data } = tensor
  if (type === 'string') return packStrings(data)
  if (data.length === 0) return new Uint8Array(1)
  if (isPacked(type)) return pack(type, data as Uint8Array | Int8Array, 'openvino')
  const { buffer, byteOffset, byteLength } = data
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The bytes of a constant in pieces, each read into `buffer` where they lie in a file. */
function* piecesOf({ constant, range, size }: Payload, buffer: Uint8Array): Generator<Uint8Array> {
  if (size === 0) return
  if (range === undefined) {
    yield bytesOf(constant)
    return
  }
  for (let at = 0; at < range.length; at += PIECE) {
    const piece = buffer.subarray(0, Math.min(PIECE, range.length - at))
    readInto(range.source, range.offset + at, piece)
    yield piece
  }
}

/** The bytes of all payloads; small ones are joined. */
function* joined(payloads: readonly Payload[]): Generator<Uint8Array> {
  const buffer = new Uint8Array(PIECE)
  const gathered = new Uint8Array(PIECE)
  let length = 0
  for (const payload of payloads) {
    for (const piece of piecesOf(payload, buffer)) {
      const isLarge = piece.length > PIECE / 2
      if (length > 0 && (isLarge || length + piece.length > PIECE)) {
        yield gathered.subarray(0, length)
        length = 0
      }
      if (isLarge) yield piece
      else {
        gathered.set(piece, length)
        length += piece.length
      }
    }
  }
  if (length > 0) yield gathered.subarray(0, length)
}

/** Finds constants with equal bytes. */
class Twins {
  /** Number of constants by size; one that is alone with its size needs no look. */
  private readonly sizes = new Map<number, number>()
  private readonly byContent = new Map<string, Payload>()
  private readonly byHash = new Map<string, Payload[]>()
  private readonly byRange = new Map<ByteRange['source'], Map<string, Payload>>()
  private readonly buffers = [new Uint8Array(PIECE), new Uint8Array(PIECE)] as const

  constructor(owned: readonly Owned[]) {
    for (const constant of new Set(owned.map(({ constant }) => constant))) {
      const size = sizeKey(constant)
      this.sizes.set(size, (this.sizes.get(size) ?? 0) + 1)
    }
  }

  /** A payload that was asked for before and has the same bytes. */
  twinOf(payload: Payload): Payload | undefined {
    if (this.sizes.get(sizeKey(payload.constant)) === 1) return undefined
    return this.sameRange(payload) ?? (payload.size <= SMALL ? this.sameSmall(payload) : this.sameLarge(payload))
  }

  private sameRange(payload: Payload): Payload | undefined {
    const { range } = payload
    if (range === undefined) return undefined
    let ofSource = this.byRange.get(range.source)
    if (ofSource === undefined) this.byRange.set(range.source, (ofSource = new Map()))
    const key = `${range.offset}:${range.length}`
    const twin = ofSource.get(key)
    if (twin === undefined) ofSource.set(key, payload)
    return twin
  }

  private sameSmall(payload: Payload): Payload | undefined {
    let key = ''
    for (const piece of piecesOf(payload, this.buffers[0])) key += String.fromCharCode(...piece)
    const twin = this.byContent.get(key)
    if (twin === undefined) this.byContent.set(key, payload)
    return twin
  }

  private sameLarge(payload: Payload): Payload | undefined {
    const key = `${payload.size}:${hashOf(piecesOf(payload, this.buffers[0]))}`
    const candidates = this.byHash.get(key)
    if (candidates === undefined) {
      this.byHash.set(key, [payload])
      return undefined
    }
    const twin = candidates.find(candidate => this.areEqual(candidate, payload))
    if (twin === undefined) candidates.push(payload)
    return twin
  }

  private areEqual(a: Payload, b: Payload): boolean {
    const [bufferA, bufferB] = this.buffers
    // Payloads of one size have pieces of equal lengths, but for one that is encoded as a whole.
    const others = inPieces(piecesOf(b, bufferB))
    for (const piece of inPieces(piecesOf(a, bufferA))) {
      const { value } = others.next()
      if (value === undefined || !sameBytes(piece, value)) return false
    }
    return true
  }
}

/** Equal bytes have equal keys, so that most constants need not be read. One key for all that must be encoded. */
const sizeKey = ({ type, dims }: Constant): number =>
  type === 'string' || !liesAlike(type) ? -1 : fileBytes(type, elementCount(dims)) || 1

/** Cuts what is encoded as a whole into pieces as those of a file. */
function* inPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array, undefined> {
  for (const piece of pieces)
    for (let at = 0; at < piece.length; at += PIECE) yield piece.subarray(at, Math.min(piece.length, at + PIECE))
  return undefined
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Two FNV-1a hashes of 32 bits, over words in place of bytes. They only choose what is compared byte by byte. */
function hashOf(pieces: Iterable<Uint8Array>): string {
  let a = 0x811c9dc5
  let b = 0x9747b28c
  for (const piece of inPieces(pieces)) {
    const aligned = piece.byteOffset % 4 === 0 ? piece : piece.slice()
    const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2)
    for (const word of words) {
      a = Math.imul(a ^ word, 0x01000193)
      b = Math.imul(b ^ (word >>> 13) ^ (word << 19), 0x85ebca6b)
    }
    for (let i = words.length * 4; i < piece.length; i++) a = Math.imul(a ^ piece[i], 0x01000193)
  }
  return `${a}:${b}`
}
