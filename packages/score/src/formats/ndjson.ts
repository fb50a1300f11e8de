import { NodewiseError } from 'nodewise'
import { evenOffsets, type Packed } from '../packed.ts'
import {
  type Batch,
  type Column,
  type ColumnType,
  type Field,
  jsonCell,
  numbersColumn,
  plainColumn,
  type Sink,
  type TableReader,
  type TableWriter
} from '../table.ts'
import type { Input } from './input.ts'
import { linesOf, rowsFrom } from './lines.ts'
import { textWriter } from './text-writer.ts'

/**
 * Reads NDJSON: an object a line. The fields are those of the first rows.
 * @throws NodewiseError `invalid-file` for a line that is no object
 */
export async function readNdjson(input: Input, skip: number): Promise<TableReader> {
  const chunks = linesOf(input.stream())[Symbol.asyncIterator]()
  const first = await chunks.next()
  const head = first.done === true ? [] : first.value
  const rows = head.map((line, i) => rowOf(line, i))
  const fields = fieldsOf(rows)
  return {
    fields,
    fraction: () => input.fraction(),
    close: () => input.close(),
    async *batches() {
      for await (const [lines, row] of rowsFrom(head, chunks, skip)) yield batchOf(lines, fields, row)
    }
  }
}

type Row = Readonly<Record<string, unknown>>

function rowOf(line: string, row: number): Row {
  let value: unknown
  try {
    value = parsed(line)
  } catch (error) {
    throw new NodewiseError('invalid-file', `row ${row}: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Row
  throw new NodewiseError('invalid-file', `row ${row}: a row of NDJSON is an object, {"column": value, …}`)
}

/** Whole numbers of so many digits may be none that doubles have. */
const LONG = /(?<![\d.])[1-9]\d{15}/
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g
/** A text of JSON has this sign as an escape only. */
const [MARK, ESCAPED_MARK] = ['\0', '\\u0000']

/** The value of a line; whole numbers that doubles do not have as bigints. */
function parsed(line: string): unknown {
  if (!LONG.test(line) || line.includes(ESCAPED_MARK)) return JSON.parse(line)
  const marked = line.replace(TOKEN, token =>
    /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${ESCAPED_MARK}${token}"` : token
  )
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value
  )
}

/** What a row has under a name; not what every object has, such as `constructor`. */
const cellOf = (row: Row, name: string): unknown => (Object.hasOwn(row, name) ? row[name] : null)

function fieldsOf(rows: readonly Row[]): Field[] {
  const names = new Set(rows.flatMap(row => Object.keys(row)))
  return [...names].map(name => ({ name, type: typeOf(rows.map(row => cellOf(row, name))) }))
}

/** The one type that cells have; `json` where they have several. */
function typeOf(cells: readonly unknown[]): ColumnType {
  const there = cells.filter(cell => cell !== null && cell !== undefined)
  const all = (test: (cell: unknown) => boolean): boolean => there.length > 0 && there.every(test)
  if (all(cell => typeof cell === 'boolean')) return { kind: 'bool' }
  if (all(cell => typeof cell === 'string')) return { kind: 'string' }
  if (all(cell => typeof cell === 'number' || typeof cell === 'bigint'))
    return { kind: 'number', type: all(isInt64) ? 'int64' : 'float64' }
  if (all(Array.isArray)) return { kind: 'list', element: typeOf(there.flat()) }
  return { kind: 'json' }
}

const isInt64 = (cell: unknown): boolean =>
  typeof cell === 'bigint' ? BigInt.asIntN(64, cell) === cell : Number.isSafeInteger(cell)

function batchOf(lines: readonly string[], fields: readonly Field[], firstRow: number): Batch {
  const rows = lines.map((line, i) => rowOf(line, firstRow + i))
  return {
    rows: rows.length,
    columns: fields.map(({ name }) => jsonColumn(rows.map(row => cellOf(row, name)))),
    lines
  }
}

function jsonColumn(cells: readonly unknown[]): Column {
  return numbersColumn(plainColumn(cells), () => numbersOf(cells))
}

/** Numbers, or lists of those that are equally long. */
function numbersOf(cells: readonly unknown[]): Packed | undefined {
  const rows = cells.length
  const [first] = cells
  if (typeof first === 'number') {
    const values = new Float64Array(rows)
    for (let row = 0; row < rows; row++) {
      const cell = cells[row]
      if (typeof cell !== 'number') return undefined
      values[row] = cell
    }
    return { kind: 'numbers', rows, values }
  }
  if (!Array.isArray(first) || !cells.every(cell => Array.isArray(cell) && cell.length === first.length))
    return undefined
  const items = numbersOf(cells.flat())
  return items && { kind: 'lists', rows, items, offsets: evenOffsets(rows, first.length) }
}

/** Writes NDJSON. Rows that come from NDJSON keep their text; what is new stands at their end. */
export function writeNdjson(sink: Sink, fields: readonly Field[], kept: number, written: number): TableWriter {
  const names = fields.map(({ name }) => `${JSON.stringify(name)}:`)
  const cellsFrom = ({ columns }: Batch, row: number, begin: number): string[] =>
    names.slice(begin).map((name, i) => name + jsonCell(columns[begin + i].cells[row]))
  return textWriter(sink, written, batch =>
    Array.from({ length: batch.rows }, (_, row) => {
      // All columns of such rows are kept, also those that the first rows do not have.
      if (!batch.lines) return `{${cellsFrom(batch, row, 0).join(',')}}\n`
      const line = batch.lines[row].trimEnd().slice(0, -1).trimEnd()
      const added = cellsFrom(batch, row, kept).join(',')
      return `${line}${line.endsWith('{') || added === '' ? '' : ','}${added}}\n`
    }).join('')
  )
}
