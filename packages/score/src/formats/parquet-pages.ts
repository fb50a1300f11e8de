import { brotliDecompressSync, unzipSync } from 'node:zlib'
import * as zlib from 'node:zlib'
import type { ColumnMetaData, Compressors, PageHeader, SchemaElement } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { decompressPage } from 'hyparquet/src/datapage.js'
import { deltaBinaryUnpack, deltaByteArray, deltaLengthByteArray } from 'hyparquet/src/delta.js'
import { byteStreamSplit } from 'hyparquet/src/encoding.js'
import { NodewiseError } from 'nodewise'
import {
  BytesBuilder,
  CALL_BYTES,
  evenOffsets,
  gather,
  type Numbers,
  type Packed,
  type PackedBytes
} from '../packed.ts'
import { bitsFor, readHybrid } from './parquet-levels.ts'

/** A column of Parquet that has no other inside: what it declares, and the levels of its cells. */
export interface Leaf {
  readonly element: SchemaElement
  /** Levels of a cell that is there, and of one that begins no row. */
  readonly maxDefinition: number
  readonly maxRepetition: number
}

/** The cells of a page: those that are there, and the levels that say where they stand. */
export interface Page {
  readonly cells: Packed
  /** Cells, and the places of those that are not there. */
  readonly places: number
  /** Definition levels; undefined where every cell is there. */
  readonly definition?: Uint8Array | undefined
  readonly repetition?: Uint8Array | undefined
}

/** Bytes and cells that one page may take. */
const MAX_BYTES = 2 ** 30
const MAX_CELLS = 2 ** 26

const broken = (why: string): never => {
  throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${why}`)
}

const { zstdDecompressSync } = zlib as { zstdDecompressSync?: typeof unzipSync }

/** What is compiled into Node is faster than what is written in JavaScript. */
const CODECS: Compressors = {
  ...compressors,
  GZIP: (input, length) => unzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ...(zstdDecompressSync && {
    ZSTD: (input: Uint8Array, length: number) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) })
  })
}

/** The cells of a dictionary. */
export function readDictionary(bytes: Uint8Array, header: PageHeader, leaf: Leaf, { codec }: ColumnMetaData): Packed {
  const count = checkedCount(header.dictionary_page_header?.num_values)
  return decode(unpacked(bytes, header.uncompressed_page_size, codec), 'PLAIN', leaf, count, undefined)
}

/**
 * The cells of a page of data, of either version.
 * @throws NodewiseError `invalid-file`, `limit-exceeded`
 */
export function readPage(
  bytes: Uint8Array,
  header: PageHeader,
  leaf: Leaf,
  { codec }: ColumnMetaData,
  dictionary: Packed | undefined
): Page {
  if (header.data_page_header_v2) return readPage2(bytes, header, leaf, codec, dictionary)
  const own = header.data_page_header ?? broken(`a page of type ${header.type}`)
  const count = checkedCount(own.num_values)
  const page = unpacked(bytes, header.uncompressed_page_size, codec)
  const view = new DataView(page.buffer, page.byteOffset, page.length)
  let at = 0
  const levels = (greatest: number): Uint8Array | undefined => {
    if (greatest === 0) return undefined
    const begin = at + 4
    at = begin + view.getUint32(at, true)
    if (at > page.length) broken('levels end too early')
    return levelsOf(page, begin, at, greatest, count)
  }
  const repetition = levels(leaf.maxRepetition)
  const definition = levels(leaf.maxDefinition)
  return pageOf(page.subarray(at), own.encoding, leaf, count, repetition, definition, dictionary)
}

function readPage2(
  bytes: Uint8Array,
  header: PageHeader,
  leaf: Leaf,
  codec: ColumnMetaData['codec'],
  dictionary: Packed | undefined
): Page {
  const own = header.data_page_header_v2 ?? broken('a page without a header')
  const count = checkedCount(own.num_values)
  const begin = own.repetition_levels_byte_length
  const end = begin + own.definition_levels_byte_length
  if (!(begin >= 0 && end >= begin && end <= bytes.length)) broken('levels end too early')
  const repetition = leaf.maxRepetition === 0 ? undefined : levelsOf(bytes, 0, begin, leaf.maxRepetition, count)
  const definition = leaf.maxDefinition === 0 ? undefined : levelsOf(bytes, begin, end, leaf.maxDefinition, count)
  const packed = bytes.subarray(end)
  const size = header.uncompressed_page_size - end
  const page = own.is_compressed === false || size === 0 ? packed : unpacked(packed, size, codec)
  return pageOf(page, own.encoding, leaf, count, repetition, definition, dictionary)
}

function pageOf(
  bytes: Uint8Array,
  encoding: string,
  leaf: Leaf,
  count: number,
  repetition: Uint8Array | undefined,
  levels: Uint8Array | undefined,
  dictionary: Packed | undefined
): Page {
  let there = count
  if (levels) for (let i = 0; i < count; i++) if (levels[i] < leaf.maxDefinition) there--
  const cells = decode(bytes, encoding, leaf, there, dictionary)
  return { cells, places: count, repetition, definition: there === count ? undefined : levels }
}

function checkedCount(count: number | undefined): number {
  if (count === undefined || !(count >= 0)) return broken('a page without a number of cells')
  if (count > MAX_CELLS) throw new NodewiseError('limit-exceeded', `a page of Parquet has ${count} cells`)
  return count
}

function unpacked(bytes: Uint8Array, size: number, codec: ColumnMetaData['codec']): Uint8Array {
  if (!(size >= 0 && size <= MAX_BYTES))
    throw new NodewiseError('limit-exceeded', `a page of Parquet unpacks to ${size} bytes`)
  return decompressPage(bytes, size, codec, CODECS)
}

function levelsOf(bytes: Uint8Array, begin: number, end: number, greatest: number, count: number): Uint8Array {
  const levels = new Uint8Array(count)
  readHybrid(bytes, begin, end, bitsFor(greatest), levels)
  return levels
}

/** Cells that are all there, as they are encoded. */
function decode(
  bytes: Uint8Array,
  encoding: string,
  leaf: Leaf,
  count: number,
  dictionary: Packed | undefined
): Packed {
  const { type, type_length: size } = leaf.element
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset: 0 }
  switch (encoding) {
    case 'PLAIN':
      return plain(bytes, leaf, count)
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return fromDictionary(bytes, count, dictionary ?? broken('a page without its dictionary'))
    case 'RLE': {
      const values = new Uint8Array(count)
      if (count > 0) readHybrid(bytes, 4, bytes.length, 1, values)
      return { kind: 'bools', rows: count, values }
    }
    case 'DELTA_BINARY_PACKED': {
      const values = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count)
      deltaBinaryUnpack(reader, count, values)
      return numbers(values, leaf)
    }
    case 'BYTE_STREAM_SPLIT': {
      const values = byteStreamSplit(reader, count, type ?? 'FLOAT', size)
      return Array.isArray(values) ? cellsOf(values as Uint8Array[], leaf) : numbers(values, leaf)
    }
    case 'DELTA_LENGTH_BYTE_ARRAY':
    case 'DELTA_BYTE_ARRAY': {
      const cells = new Array<Uint8Array>(count)
      const read = encoding === 'DELTA_BYTE_ARRAY' ? deltaByteArray : deltaLengthByteArray
      read(reader, count, cells)
      return cellsOf(cells, leaf)
    }
    default:
      return broken(`pages are encoded as ${encoding}`)
  }
}

const kindOf = ({ element }: Leaf): 'texts' | 'binary' => {
  const { converted_type: converted, logical_type: logical } = element
  const isText = converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING' || logical?.type === 'ENUM'
  return isText ? 'texts' : 'binary'
}

function cellsOf(cells: readonly Uint8Array[], leaf: Leaf): PackedBytes {
  const builder = new BytesBuilder(cells.length)
  for (const cell of cells) builder.add(cell)
  return builder.done(kindOf(leaf))
}

/** Numbers with the sign that the column says. */
function numbers(values: Numbers, { element }: Leaf): Packed {
  const { converted_type: converted, logical_type: logical } = element
  const isUnsigned = converted?.startsWith('UINT_') === true || (logical?.type === 'INTEGER' && !logical.isSigned)
  const { buffer, byteOffset, length: rows } = values
  if (isUnsigned && values instanceof Int32Array)
    return { kind: 'numbers', rows, values: new Uint32Array(buffer, byteOffset, rows) }
  if (isUnsigned && values instanceof BigInt64Array)
    return { kind: 'numbers', rows, values: new BigUint64Array(buffer, byteOffset, rows) }
  return { kind: 'numbers', rows, values }
}

const NUMBERS = { INT32: Int32Array, INT64: BigInt64Array, FLOAT: Float32Array, DOUBLE: Float64Array } as const

function plain(bytes: Uint8Array, leaf: Leaf, count: number): Packed {
  const { type, type_length: size } = leaf.element
  switch (type) {
    case 'INT32':
    case 'INT64':
    case 'FLOAT':
    case 'DOUBLE': {
      const Storage = NUMBERS[type]
      const length = count * Storage.BYTES_PER_ELEMENT
      if (length > bytes.length) broken('a page ends too early')
      const isAligned = bytes.byteOffset % Storage.BYTES_PER_ELEMENT === 0
      const { buffer, byteOffset } = isAligned ? bytes : bytes.slice(0, length)
      return numbers(new Storage(buffer as ArrayBuffer, byteOffset, count), leaf)
    }
    case 'BOOLEAN': {
      if (count > 8 * bytes.length) broken('a page ends too early')
      const values = new Uint8Array(count)
      for (let i = 0; i < count; i++) values[i] = (bytes[i >> 3] >> (i & 7)) & 1
      return { kind: 'bools', rows: count, values }
    }
    case 'BYTE_ARRAY':
      return plainBytes(bytes, leaf, count)
    case 'FIXED_LEN_BYTE_ARRAY':
      if (size === undefined || !(size >= 0) || count * size > bytes.length) return broken('a page ends too early')
      return { kind: kindOf(leaf), rows: count, bytes, offsets: evenOffsets(count, size) }
    case 'INT96':
      if (12 * count > bytes.length) broken('a page ends too early')
      return { kind: 'binary', rows: count, bytes, offsets: evenOffsets(count, 12) }
    default:
      return broken(`columns of type ${type}`)
  }
}

/** Bytes behind their lengths, drawn together. */
function plainBytes(from: Uint8Array, leaf: Leaf, count: number): PackedBytes {
  if (4 * count > from.length) broken('a page ends too early')
  const view = new DataView(from.buffer, from.byteOffset, from.length)
  const offsets = new Int32Array(count + 1)
  const bytes = new Uint8Array(from.length - 4 * count)
  let [at, end] = [0, 0]
  for (let i = 0; i < count; i++) {
    if (at + 4 > from.length) broken('a page ends too early')
    const length = view.getUint32(at, true)
    at += 4
    if (length > from.length - at) broken('a page ends too early')
    copy(from, at, length, bytes, end)
    at += length
    offsets[i + 1] = end += length
  }
  return { kind: kindOf(leaf), rows: count, bytes: bytes.subarray(0, end), offsets }
}

function copy(from: Uint8Array, at: number, length: number, to: Uint8Array, end: number): void {
  if (length >= CALL_BYTES) to.set(from.subarray(at, at + length), end)
  else for (let i = 0; i < length; i++) to[end + i] = from[at + i]
}

function fromDictionary(bytes: Uint8Array, count: number, dictionary: Packed): Packed {
  const indices = new Int32Array(count)
  if (count > 0) readHybrid(bytes, 1, bytes.length, bytes[0], indices)
  for (let i = 0; i < count; i++)
    if (indices[i] < 0 || indices[i] >= dictionary.rows)
      broken(`a dictionary of ${dictionary.rows} cells is asked for ${indices[i]}`)
  if ('values' in dictionary) {
    return { kind: dictionary.kind, rows: count, values: gather(dictionary.values, indices) }
  }
  if (dictionary.kind === 'lists') return broken('a dictionary of lists')
  const { bytes: from, offsets: places, kind } = dictionary
  const offsets = new Int32Array(count + 1)
  let total = 0
  for (let i = 0; i < count; i++) {
    total += places[indices[i] + 1] - places[indices[i]]
    if (total > MAX_BYTES) throw new NodewiseError('limit-exceeded', `a page of Parquet unpacks to ${total} bytes`)
    offsets[i + 1] = total
  }
  const all = new Uint8Array(total)
  for (let i = 0; i < count; i++) {
    const place = places[indices[i]]
    copy(from, place, places[indices[i] + 1] - place, all, offsets[i])
  }
  return { kind, rows: count, bytes: all, offsets }
}
