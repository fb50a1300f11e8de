import { open } from 'node:fs/promises'
import { deserialize, serialize } from 'node:v8'
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type RowGroup
} from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { NodewiseError } from 'nodewise'
import type { Batch, Field, Sink, TableReader, TableWriter } from '../table.ts'
import type { Input } from './input.ts'
import { cellsFor, columnType, elementsOf, PARSERS, schemaElements } from './parquet-types.ts'

/** Rows that are handed on together, and that a written row group has. */
const CHUNK_ROWS = 8192
const GROUP_ROWS = 131_072

/**
 * Reads Parquet, a row group at a time.
 * @throws NodewiseError `invalid-file` for bytes that are no Parquet and for a stream: Parquet is read from its end
 */
export async function readParquet(input: Input, skip: number): Promise<TableReader> {
  if (input.path === undefined)
    throw new NodewiseError('invalid-file', 'Parquet is read from its end, so it must be a file; send Arrow or NDJSON')
  const handle = await open(input.path)
  const file: AsyncBuffer = {
    byteLength: input.size ?? 0,
    async slice(start, end = input.size ?? 0) {
      const bytes = new Uint8Array(Math.max(0, end - start))
      await handle.read(bytes, 0, bytes.length, start)
      return bytes.buffer
    }
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
      for await (const batch of chunksOf(file, metadata, fields, skip)) {
        yield batch
        done += batch.rows
      }
    }
  }
}

async function* chunksOf(
  file: AsyncBuffer,
  metadata: FileMetaData,
  fields: readonly Field[],
  skip: number
): AsyncGenerator<Batch> {
  const scan = await attempt(() =>
    parquetScan({ file, metadata, compressors, utf8: false, useOffsetIndex: false, parsers: PARSERS })
  )
  for (const { rowStart, rowEnd } of scan.ranges) {
    if (rowEnd <= skip) continue
    const whole = await attempt(() =>
      Promise.all(fields.map(({ name }) => scan.readColumn({ column: name, rowStart, rowEnd })))
    )
    for (let begin = Math.max(rowStart, skip); begin < rowEnd; begin += CHUNK_ROWS) {
      const end = Math.min(rowEnd, begin + CHUNK_ROWS)
      const columns = whole.map(cells => ({ cells: cells.slice(begin - rowStart, end - rowStart) }))
      yield { rows: end - begin, columns }
    }
  }
}

async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${(error as Error).message}`)
  }
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
  let written = alreadyWritten
  const group: unknown[][] = fields.map(() => [])
  const send = async (): Promise<void> => {
    await sink.write(buffer.getBytes().slice())
    buffer.index = 0
  }
  const flush = async (): Promise<void> => {
    const rows = group[0]?.length ?? 0
    // An index of pages would have to be kept for the end of the file, and a group has few pages.
    const columnData = fields.map(({ name }, i) => ({ name, data: group[i], offsetIndex: false }))
    if (rows > 0) await writer.write({ columnData, rowGroupSize: rows })
    await send()
    written += rows
    for (const cells of group) cells.length = 0
  }
  return {
    get written() {
      return written
    },
    state: () => serialize(writer.row_groups).toString('base64'),
    async write({ columns }) {
      columns.forEach(({ cells }, i) => {
        for (const cell of cellsFor(fields[i], cells)) group[i].push(cell)
      })
      if (group[0].length >= GROUP_ROWS) await flush()
    },
    async end() {
      await flush()
      await writer.finish()
      await send()
    }
  }
}
