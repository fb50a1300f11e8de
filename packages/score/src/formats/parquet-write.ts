import { deserialize, serialize } from 'node:v8'
import { type ColumnChunk, parquetSchema, type RowGroup, type SchemaTree } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writeColumn } from 'hyparquet-writer/src/column.js'
import { encodeNestedValues } from 'hyparquet-writer/src/dremel.js'
import { getTreePath } from 'hyparquet/src/schema.js'
import { snappyCompressor } from 'hysnappy'
import { concatPacked, type Packed } from '../packed.ts'
import type { Column, Field, Sink, TableWriter } from '../table.ts'
import { type FlatColumn, flatColumn } from './parquet-cursor.ts'
import { type Compress, sizeOf, writeChunk } from './parquet-encode.ts'
import { leavesOf } from './parquet-nested.ts'
import { storedCells } from './parquet-stored.ts'
import { cellsFor, schemaElements } from './parquet-types.ts'

/** Rows that a row group has at least, and bytes that end one before. */
const GROUP_ROWS = 131_072
const GROUP_BYTES = 2 ** 27

/** A column of the row group that is being collected. */
interface Collected {
  readonly field: Field
  readonly node: SchemaTree
  /** Undefined for a column with columns inside, whose cells are collected one by one. */
  readonly flat: FlatColumn | undefined
  readonly pieces: Packed[]
  readonly cells: unknown[]
}

/**
 * Writes Parquet, compressed by Snappy, in row groups.
 * @param saved what {@link TableWriter.state} said of the groups that are in the sink already
 */
export async function writeParquet(
  sink: Sink,
  fields: readonly Field[],
  alreadyWritten: number,
  saved: unknown
): Promise<TableWriter> {
  const buffer = new ByteWriter()
  const schema = [{ name: 'root', num_children: fields.length }, ...fields.flatMap(schemaElements)]
  const writer = new ParquetWriter({ writer: buffer, schema, createdBy: 'nodewise' })
  if (sink.bytes > 0) {
    // The magic number at the start is in the sink.
    Object.assign(buffer, { index: 0, offset: sink.bytes })
    writer.row_groups.push(...(deserialize(Buffer.from(String(saved), 'base64')) as RowGroup[]))
    writer.num_rows = BigInt(alreadyWritten)
  }
  const compress = snappyCompressor()
  const nodes = parquetSchema({ schema }).children
  const group = fields.map((field, i): Collected => ({
    field,
    node: nodes[i],
    flat: flatColumn(nodes[i]),
    pieces: [],
    cells: []
  }))
  let [written, rows, bytes] = [alreadyWritten, 0, 0]
  const send = async (): Promise<void> => {
    await sink.write(buffer.getBytes().slice())
    buffer.index = 0
  }
  const flush = async (): Promise<void> => {
    if (rows > 0) writeGroup(writer, buffer, group, rows, compress)
    await send()
    written += rows
    ;[rows, bytes] = [0, 0]
  }
  return {
    get written() {
      return written
    },
    state: () => serialize(writer.row_groups).toString('base64'),
    async write(batch) {
      batch.columns.forEach((column, i) => {
        bytes += collect(group[i], column)
      })
      rows += batch.rows
      if (rows >= GROUP_ROWS || bytes >= GROUP_BYTES) await flush()
    },
    async end() {
      await flush()
      await writer.finish()
      await send()
    }
  }
}

/** Keeps the cells of a column until their row group is written. @returns their bytes, about */
function collect({ field, flat, pieces, cells }: Collected, column: Column): number {
  const stored = flat && storedCells(field, flat, column)
  if (stored) {
    pieces.push(stored)
    return sizeOf(stored)
  }
  for (const cell of cellsFor(column.cells)) cells.push(cell)
  return 0
}

function writeGroup(
  writer: ParquetWriter,
  buffer: ByteWriter,
  group: readonly Collected[],
  rows: number,
  compress: Compress
): void {
  const start = buffer.offset
  const columns = group.flatMap(({ node, flat, pieces, cells }): ColumnChunk[] => {
    const chunks = flat
      ? [writeChunk(buffer, flat, concatPacked(pieces), compress)]
      : nestedChunks(buffer, node, cells, compress)
    pieces.length = cells.length = 0
    return chunks
  })
  const sizes = columns.map(({ meta_data: meta }) => meta?.total_uncompressed_size ?? 0n)
  writer.num_rows += BigInt(rows)
  writer.row_groups.push({
    columns,
    num_rows: BigInt(rows),
    total_byte_size: sizes.reduce((sum, size) => sum + size, 0n),
    total_compressed_size: BigInt(buffer.offset - start)
  })
}

/** The columns inside a column, taken apart cell by cell. */
function nestedChunks(
  writer: ByteWriter,
  node: SchemaTree,
  cells: readonly unknown[],
  compress: Compress
): ColumnChunk[] {
  const root = { element: { name: 'root' }, children: [node], path: [], count: 0 } as unknown as SchemaTree
  return leavesOf(node).map(leaf => {
    const path = getTreePath(root, leaf.path)
    const schemaPath = path.map(({ element }) => element)
    const column = {
      columnName: leaf.path.join('.'),
      element: leaf.element,
      schemaPath,
      codec: 'SNAPPY',
      compressors: { SNAPPY: compress },
      stats: true,
      pageSize: 2 ** 20
    } as const
    return writeColumn({ writer, column: column as never, pageData: encodeNestedValues(path, cells as never) }).chunk
  })
}
