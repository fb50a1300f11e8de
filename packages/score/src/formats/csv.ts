import { parse } from 'csv-parse'
import { stringify } from 'csv-stringify/sync'
import { NodewiseError } from 'nodewise'
import {
  type Batch,
  type Field,
  isList,
  jsonCell,
  plainColumn,
  type Sink,
  type TableReader,
  type TableWriter
} from '../table.ts'
import type { Input } from './input.ts'
import { rowsFrom } from './lines.ts'
import { textWriter } from './text-writer.ts'
import { typeOfTexts } from './text.ts'

/** Rows that are read together. */
const CHUNK_ROWS = 4096
/** Bytes that one row may take. */
const MAX_RECORD = 2 ** 26

/**
 * Reads CSV (RFC 4180) with a line of names; blanks and quotes as they are, a byte order mark apart.
 * @throws NodewiseError `invalid-file` for a row with more or fewer cells than names
 */
export async function readCsv(input: Input, skip: number): Promise<TableReader> {
  const records = recordsOf(input)
  const names = await records.next()
  const header = names.done === true ? [] : names.value
  if (new Set(header).size < header.length) throw new NodewiseError('invalid-file', 'two columns have the same name')
  const chunks = chunksOf(records)
  const first = await chunks.next()
  const head = first.done === true ? [] : first.value
  const fields = header.map((name, i): Field => ({ name, type: typeOfTexts(head.map(row => row[i])), isText: true }))
  return {
    fields,
    fraction: () => input.fraction(),
    close: () => input.close(),
    async *batches() {
      for await (const [rows] of rowsFrom(head, chunks, skip)) yield batchOf(rows, fields)
    }
  }
}

async function* recordsOf(input: Input): AsyncGenerator<string[]> {
  const parser = parse({ bom: true, skip_empty_lines: true, max_record_size: MAX_RECORD })
  try {
    const stream = input.stream()
    stream.on('error', error => parser.destroy(error))
    yield* stream.pipe(parser) as AsyncIterable<string[]>
  } catch (error) {
    if (error instanceof NodewiseError || !(error instanceof Error) || !('code' in error)) throw error
    throw new NodewiseError('invalid-file', error.message)
  }
}

async function* chunksOf(records: AsyncIterable<string[]>): AsyncGenerator<string[][]> {
  let rows: string[][] = []
  for await (const record of records) {
    rows.push(record)
    if (rows.length < CHUNK_ROWS) continue
    yield rows
    rows = []
  }
  if (rows.length > 0) yield rows
}

const batchOf = (rows: readonly (readonly string[])[], fields: readonly Field[]): Batch => ({
  rows: rows.length,
  columns: fields.map((_, i) => plainColumn(rows.map(row => row[i])))
})

/** Writes CSV with a line of names; lists and objects as JSON, null as nothing. */
export function writeCsv(sink: Sink, fields: readonly Field[], written: number): TableWriter {
  const header = stringify([fields.map(({ name }) => name)])
  return textWriter(
    sink,
    written,
    ({ rows, columns }) =>
      stringify(Array.from({ length: rows }, (_, row) => columns.map(({ cells }) => csvCell(cells[row])))),
    header
  )
}

function csvCell(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'string') return cell
  const isJson = isList(cell) || (typeof cell === 'object' && !(cell instanceof Date))
  return isJson ? jsonCell(cell) : cell instanceof Date ? cell.toISOString() : String(cell)
}
