import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
  type RowGroup,
  type SchemaTree
} from 'hyparquet'
import { NodewiseError } from 'nodewise'
import {
  type Batch,
  type Column,
  type Field,
  lazy,
  packedColumn,
  plainColumn,
  sliceBatch,
  storedColumn,
  type TableReader
} from '../table.ts'
import type { Input } from './input.ts'
import { ColumnCursor, flatColumn } from './parquet-cursor.ts'
import { nestedColumn } from './parquet-nested.ts'
import { columnType, elementsOf, meaningOf } from './parquet-types.ts'

/** Rows that are handed on together at most, and their bytes where rows are large. */
const BATCH_ROWS = 65_536
const BATCH_BYTES = 2 ** 24

/**
 * Reads Parquet page by page; of columns with columns inside a row group at a time.
 * @throws NodewiseError `invalid-file` for bytes that are no Parquet and for a stream: Parquet is read from its end
 */
export async function readParquet(input: Input, skip: number): Promise<TableReader> {
  if (input.path === undefined)
    throw new NodewiseError('invalid-file', 'Parquet is read from its end, so it must be a file; send Arrow or NDJSON')
  const handle = await open(input.path)
  const size = input.size ?? 0
  const file: AsyncBuffer = {
    byteLength: size,
    slice: (start, end = size) => readRange(handle, start, end, size)
  }
  const metadata = await attempt(() => parquetMetadataAsync(file)).catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  const { children } = parquetSchema(metadata)
  const fields = children.map((node): Field => ({
    name: node.element.name,
    type: columnType(node),
    parquet: elementsOf(node)
  }))
  const rows = Number(metadata.num_rows)
  let done = skip
  return {
    fields,
    rows,
    fraction: () => (rows === 0 ? 1 : done / rows),
    close: () => handle.close(),
    async *batches() {
      for await (const batch of batchesOf({ handle, size, metadata, nodes: children }, skip)) {
        yield batch
        done += batch.rows
      }
    }
  }
}

async function readRange(handle: FileHandle, start: number, end: number, size: number): Promise<ArrayBuffer> {
  if (!(start >= 0 && end >= start && end <= size)) throw new Error(`bytes ${start} to ${end} are not in the file`)
  const bytes = new Uint8Array(end - start)
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, start + at)
    if (bytesRead === 0) throw new Error('the file ends too early')
    at += bytesRead
  }
  return bytes.buffer
}

/** What a table is read with. */
interface Source {
  readonly handle: FileHandle
  readonly size: number
  readonly metadata: FileMetaData
  readonly nodes: readonly SchemaTree[]
}

async function* batchesOf(source: Source, skip: number): AsyncGenerator<Batch> {
  let start = 0
  for (const group of source.metadata.row_groups) {
    const [first, end] = [start, start + Number(group.num_rows)]
    start = end
    if (end <= skip) continue
    const takers = source.nodes.map(node => takerOf(source, node, group))
    const step = rowsTogether(group)
    for (let row = first; row < end; row += step) {
      const count = Math.min(step, end - row)
      const columns = await attempt(() => Promise.all(takers.map(take => take(count))))
      if (row + count <= skip) continue
      const batch = { rows: count, columns }
      yield row < skip ? sliceBatch(batch, skip - row, count) : batch
    }
  }
}

function rowsTogether({ num_rows: rows, total_byte_size: bytes }: RowGroup): number {
  const fitting = Math.floor(BATCH_BYTES / Math.max(1, Number(bytes) / Math.max(1, Number(rows))))
  return Math.max(1, Math.min(BATCH_ROWS, fitting))
}

/** Gives the next so many rows of a column. */
function takerOf({ handle, size }: Source, node: SchemaTree, group: RowGroup): (rows: number) => Promise<Column> {
  const flat = flatColumn(node)
  const meant = flat && meaningOf(node)
  const chunk =
    flat &&
    group.columns.find(({ meta_data: meta }) => meta && String(meta.path_in_schema) === String(flat.path))?.meta_data
  if (flat && chunk && !(meant && flat.list)) {
    const cursor = lazy(() => new ColumnCursor(handle, size, flat, chunk))
    return async rows => {
      const cells = await cursor().take(rows)
      return meant ? storedColumn(cells, meant) : packedColumn(cells)
    }
  }
  const whole = lazy(() => nestedColumn(handle, size, node, group))
  let at = 0
  return async rows => {
    const cells = (await whole()).slice(at, (at += rows))
    if (cells.length < rows) throw new Error(`column "${node.element.name}" ends too early`)
    return plainColumn(cells)
  }
}

async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof NodewiseError) throw error
    throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${(error as Error).message}`)
  }
}
