import type { ColumnChunk, Encoding, PageHeader, SchemaElement } from 'hyparquet'
import type { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { bytesOf, itemsOf, type Packed, type PackedBytes, type PackedNumbers, slicePacked } from '../packed.ts'
import type { FlatColumn } from './parquet-cursor.ts'
import { dictionaryOf } from './parquet-dictionary.ts'
import { bitsFor, packBits, writeHybrid, writeRun } from './parquet-levels.ts'
import { statisticsOf } from './parquet-statistics.ts'

/** Bytes of a page, about. */
const PAGE_BYTES = 2 ** 20

/** Packs bytes. */
export type Compress = (bytes: Uint8Array) => Uint8Array

/** Cells and lists of a page as Parquet takes them apart: those that are there, and levels that say where. */
interface Apart {
  readonly rows: number
  readonly cells: Exclude<Packed, { kind: 'lists' }>
  /** Places of cells, also of those that are null, and of lists without items. */
  readonly places: number
  /** Definition levels; undefined where every place has its cell. */
  readonly definition?: Uint8Array | undefined
  readonly repetition?: Uint8Array | undefined
}

/**
 * Writes the cells of a row group in a column, compressed by Snappy.
 * @param packed as the column stores them: numbers of its own type
 */
export function writeChunk(writer: ByteWriter, column: FlatColumn, packed: Packed, compress: Compress): ColumnChunk {
  const { element } = column.leaf
  const start = writer.offset
  const all = withoutNulls((packed.kind === 'lists' ? itemsOf(packed) : packed) as Apart['cells'])
  const dictionary = dictionaryOf(all, element)
  let unpacked = 0
  const send: Send = (levels, page, header) => {
    const bytes = compress(page)
    const before = writer.offset
    const own = levels.reduce((sum, { length }) => sum + length, 0)
    const [uncompressed_page_size, compressed_page_size] = [own + page.length, own + bytes.length]
    writePageHeader(writer, { uncompressed_page_size, compressed_page_size, ...header })
    unpacked += writer.offset - before + uncompressed_page_size
    for (const part of [...levels, bytes]) writer.appendBytes(part)
  }
  if (dictionary) {
    const page = { num_values: dictionary.cells.rows, encoding: 'PLAIN' as const }
    send([], plainBytes(dictionary.cells, element), { type: 'DICTIONARY_PAGE', dictionary_page_header: page })
  }
  const data = writer.offset
  const encoding: Encoding = dictionary ? 'RLE_DICTIONARY' : 'PLAIN'
  const { pages, places } = writePages(packed, column, dictionary?.indices, send)
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: element.type ?? 'BYTE_ARRAY',
      encodings: dictionary ? ['PLAIN', encoding] : [encoding],
      path_in_schema: [...column.path],
      codec: 'SNAPPY',
      num_values: BigInt(places),
      total_uncompressed_size: BigInt(unpacked),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(data),
      ...(dictionary && { dictionary_page_offset: BigInt(start) }),
      statistics: { ...statisticsOf(all, element), null_count: BigInt(places - all.rows) },
      encoding_stats: [
        ...(dictionary ? [{ page_type: 'DICTIONARY_PAGE' as const, encoding: 'PLAIN' as const, count: 1 }] : []),
        { page_type: 'DATA_PAGE_V2', encoding, count: pages }
      ]
    }
  }
}

/** Compresses and writes a page behind its header. */
type Send = (
  levels: readonly Uint8Array[],
  page: Uint8Array,
  header: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>
) => void

/** @param indices of a dictionary, which stand for the cells that are there */
function writePages(
  packed: Packed,
  column: FlatColumn,
  indices: Int32Array | undefined,
  send: Send
): { pages: number; places: number } {
  const { element } = column.leaf
  let [pages, places, at] = [0, 0, 0]
  for (const part of pagesOf(packed, element)) {
    const apart = takeApart(part, column)
    const count = apart.cells.rows
    const levels = levelsOf(apart, column)
    const page = indices ? indexBytes(indices.subarray(at, at + count)) : plainBytes(apart.cells, element)
    const data_page_header_v2 = {
      num_values: apart.places,
      num_nulls: apart.places - count,
      num_rows: apart.rows,
      encoding: indices ? ('RLE_DICTIONARY' as const) : ('PLAIN' as const),
      repetition_levels_byte_length: levels[0].length,
      definition_levels_byte_length: levels[1].length,
      is_compressed: true
    }
    send(levels, page, { type: 'DATA_PAGE_V2', data_page_header_v2 })
    at += count
    places += apart.places
    pages++
  }
  return { pages, places }
}

/** Rows of about a page each. */
function* pagesOf(packed: Packed, element: SchemaElement): Generator<Packed> {
  const bytes = sizeOf(packed, element)
  const step = Math.max(1, Math.ceil(packed.rows / Math.max(1, Math.ceil(bytes / PAGE_BYTES))))
  for (let row = 0; row < packed.rows; row += step) yield slicePacked(packed, row, Math.min(packed.rows, row + step))
}

/** Bytes of cells, about. */
export function sizeOf(packed: Packed, element?: SchemaElement): number {
  if (packed.kind === 'lists') return sizeOf(itemsOf(packed), element) + packed.rows
  if ('values' in packed) return packed.values.byteLength
  return bytesOf(packed).length + 4 * packed.rows
}

function takeApart(packed: Packed, { leaf, list }: FlatColumn): Apart {
  const { rows, valid } = packed
  if (packed.kind !== 'lists') return { rows, places: rows, cells: withoutNulls(packed), definition: valid }
  const { offsets } = packed
  const [first, items] = [offsets[0], itemsOf(packed)]
  const there = list?.there ?? 0
  let empty = 0
  for (let row = 0; row < rows; row++) if (offsets[row] === offsets[row + 1]) empty++
  const places = items.rows + empty
  const cells = withoutNulls(items as Apart['cells'])
  const repetition = new Uint8Array(places).fill(1)
  if (empty === 0 && !items.valid) {
    for (let row = 0; row < rows; row++) repetition[offsets[row] - first] = 0
    return { rows, places, repetition, cells }
  }
  const definition = new Uint8Array(places).fill(leaf.maxDefinition)
  let at = 0
  for (let row = 0; row < rows; row++) {
    repetition[at] = 0
    const [begin, end] = [offsets[row] - first, offsets[row + 1] - first]
    if (begin === end) definition[at++] = valid?.[row] === 0 ? there - 1 : there
    for (let item = begin; item < end; item++, at++)
      if (items.valid?.[item] === 0) definition[at] = leaf.maxDefinition - 1
  }
  return { rows, places, definition, repetition, cells }
}

const NO_LEVELS = new Uint8Array(0)

function levelsOf({ places, definition, repetition }: Apart, { leaf }: FlatColumn): [Uint8Array, Uint8Array] {
  const { maxDefinition, maxRepetition } = leaf
  const width = bitsFor(maxDefinition)
  const all = definition ? writeHybrid(definition, width) : writeRun(maxDefinition, places, width)
  return [
    repetition ? writeHybrid(repetition, bitsFor(maxRepetition)) : NO_LEVELS,
    maxDefinition === 0 ? NO_LEVELS : all
  ]
}

/** The cells that are there, one after the other. */
function withoutNulls(packed: Apart['cells']): Apart['cells'] {
  const { valid, rows } = packed
  if (!valid) return packed
  let there = 0
  for (const one of valid) there += one
  if ('values' in packed) {
    const values = new (packed.values.constructor as new (length: number) => PackedNumbers['values'])(there)
    for (let row = 0, at = 0; row < rows; row++) if (valid[row] === 1) values[at++] = packed.values[row]
    return { kind: packed.kind, rows: there, values }
  }
  // Null cells have no bytes.
  const offsets = new Int32Array(there + 1)
  offsets[0] = packed.offsets[0]
  for (let row = 0, at = 0; row < rows; row++) if (valid[row] === 1) offsets[++at] = packed.offsets[row + 1]
  return { kind: packed.kind, rows: there, offsets, bytes: packed.bytes }
}

function plainBytes(cells: Apart['cells'], { type }: SchemaElement): Uint8Array {
  if (cells.kind === 'numbers') {
    const { buffer, byteOffset, byteLength } = cells.values
    return new Uint8Array(buffer, byteOffset, byteLength)
  }
  if (cells.kind === 'bools') {
    const bits = new Uint8Array(Math.ceil(cells.rows / 8))
    packBits(cells.values as Uint8Array, bits, 0)
    return bits
  }
  return type === 'FIXED_LEN_BYTE_ARRAY' ? bytesOf(cells as PackedBytes) : prefixed(cells as PackedBytes)
}

/** Each cell behind its length. */
function prefixed({ bytes, offsets, rows }: PackedBytes): Uint8Array {
  const out = new Uint8Array(offsets[rows] - offsets[0] + 4 * rows)
  const view = new DataView(out.buffer)
  let at = 0
  for (let row = 0; row < rows; row++) {
    const [begin, end] = [offsets[row], offsets[row + 1]]
    view.setUint32(at, end - begin, true)
    at += 4
    if (end - begin > 48) out.set(bytes.subarray(begin, end), at)
    else for (let i = begin; i < end; i++) out[at + i - begin] = bytes[i]
    at += end - begin
  }
  return out
}

function indexBytes(indices: Int32Array): Uint8Array {
  let greatest = 0
  for (let i = 0; i < indices.length; i++) if (indices[i] > greatest) greatest = indices[i]
  const width = bitsFor(greatest)
  return indices.length === 0 ? Uint8Array.of(0) : Buffer.concat([Uint8Array.of(width), writeHybrid(indices, width)])
}
