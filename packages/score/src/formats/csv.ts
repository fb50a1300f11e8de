import { NodewiseError } from 'nodewise'
import { cellsOfPacked, type Packed, type PackedBytes } from '../packed.ts'
import {
  type Batch,
  type Column,
  type Field,
  isList,
  isNoTime,
  jsonCell,
  numbersColumn,
  packedColumn,
  type Sink,
  type TableReader,
  type TableWriter
} from '../table.ts'
import { CsvColumns, CsvParser, type CsvRows, textOfCell } from './csv-parser.ts'
import type { Input } from './input.ts'
import { numbersOfTexts } from './text-numbers.ts'
import { textWriter } from './text-writer.ts'
import { typeOfTexts } from './text.ts'

/** Rows that are read together, and that say the types of columns; and bytes that end them before. */
const CHUNK_ROWS = 4096
const CHUNK_BYTES = 2 ** 23

/**
 * Reads CSV (RFC 4180) with a line of names; blanks as they are, a byte order mark apart.
 * @throws NodewiseError `invalid-file` for a row with more or fewer cells than names
 */
export async function readCsv(input: Input, skip: number): Promise<TableReader> {
  const chunks = chunksOf(input)
  const names = await chunks.next()
  const header = names.done === true ? [] : (names.value as string[])
  if (header.some(name => name.includes('\r')))
    throw new NodewiseError('invalid-file', 'lines of CSV end with a line feed, and not with a carriage return alone')
  const twice = header.find((name, i) => header.indexOf(name) < i)
  if (twice !== undefined)
    throw new NodewiseError('invalid-file', `two columns have the same name, ${JSON.stringify(twice)}`)
  const rest = chunks as AsyncGenerator<CsvRows>
  const first = await rest.next()
  const head = first.done === true ? undefined : first.value
  const fields = header.map((name, i): Field => ({
    name,
    type: typeOfTexts(head ? (cellsOfPacked(head[i]) as readonly string[]) : []),
    isText: true
  }))
  return {
    fields,
    fraction: () => input.fraction(),
    close: () => input.close(),
    async *batches() {
      let row = 0
      for (let rows = head; rows; rows = (await rest.next()).value as CsvRows | undefined) {
        const count = rows[0].rows
        const begin = Math.min(count, Math.max(0, skip - row))
        row += count
        if (begin < count) yield sliced(batchOf(rows, fields), begin)
      }
    }
  }
}

const sliced = ({ rows, columns }: Batch, begin: number): Batch => ({
  rows: rows - begin,
  columns: columns.map(column => column.slice(begin, rows))
})

/** The names, then rows, some thousand at a time. */
async function* chunksOf(input: Input): AsyncGenerator<string[] | CsvRows> {
  const parser = new CsvParser()
  let names: string[] | undefined
  let columns = new CsvColumns(0, 0)
  let bytes = 0
  const full: CsvRows[] = []
  const finish = (): void => {
    const rows = columns.done()
    full.push(rows)
    columns = new CsvColumns(rows.length, CHUNK_ROWS)
    bytes = 0
  }
  const take = (from: Uint8Array, cells: readonly number[]): void => {
    if (!names) {
      names = Array.from({ length: cells.length / 3 }, (_, i) =>
        textOfCell(from, cells[3 * i], cells[3 * i + 1], cells[3 * i + 2])
      )
      columns = new CsvColumns(names.length, CHUNK_ROWS)
      return
    }
    columns.add(from, cells)
    bytes += cells[cells.length - 2] - cells[0]
    if (columns.rows === CHUNK_ROWS || bytes > CHUNK_BYTES) finish()
  }
  let isTold = false
  for await (const piece of withEnd(input.stream() as AsyncIterable<Uint8Array>)) {
    parser.parse(piece ?? new Uint8Array(0), piece === undefined, take)
    if (piece === undefined && columns.rows > 0) finish()
    if (names && !isTold) yield names
    isTold = names !== undefined
    yield* full.splice(0)
  }
}

/** The pieces, then undefined. */
async function* withEnd(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | undefined> {
  yield* pieces
  yield undefined
}

const batchOf = (rows: CsvRows, fields: readonly Field[]): Batch => ({
  rows: rows[0].rows,
  columns: rows.map((texts, i) => textColumn(texts, fields[i]))
})

function textColumn(texts: PackedBytes, { type }: Field): Column {
  const column = packedColumn(texts)
  return type.kind === 'number' ? numbersColumn(column, () => numbersOfTexts(texts, type.type === 'int64')) : column
}

/** Writes CSV with a line of names; lists and objects as JSON, null as nothing. */
export function writeCsv(sink: Sink, fields: readonly Field[], written: number): TableWriter {
  const header = `${lineOf(fields.map(({ name }) => quoted(name)).join(','), fields.length)}\n`
  return textWriter(
    sink,
    written,
    ({ rows, columns }) => {
      const texts = columns.map(textsOf)
      let text = ''
      for (let row = 0; row < rows; row++) {
        let line = texts[0]?.[row] ?? ''
        for (let i = 1; i < texts.length; i++) line += `,${texts[i][row]}`
        text += `${lineOf(line, texts.length)}\n`
      }
      return text
    },
    header
  )
}

/** An empty line is no row: an empty cell that has it alone stands in quotes. */
const lineOf = (line: string, columns: number): string => (columns === 1 && line === '' ? '""' : line)

const SPECIAL = /[",\r\n]/

const quoted = (text: string): string => (SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Cells as they stand in CSV. */
function textsOf(column: Column): readonly string[] {
  const { packed } = column
  if (packed?.kind === 'numbers') return Array.from(column.cells, cell => (cell === null ? '' : String(cell)))
  if (packed?.kind === 'texts' && !packed.valid && !hasSpecial(packed)) return column.cells as readonly string[]
  return Array.from(column.cells, cell => quoted(csvCell(cell)))
}

const hasSpecial = ({ bytes }: Packed & { kind: 'texts' | 'binary' }): boolean =>
  [...'",\r\n'].some(special => bytes.includes(special.charCodeAt(0)))

function csvCell(cell: unknown): string {
  if (cell === null || cell === undefined || isNoTime(cell)) return ''
  if (typeof cell === 'string') return cell
  const isJson = isList(cell) || (typeof cell === 'object' && !(cell instanceof Date))
  return isJson ? jsonCell(cell) : cell instanceof Date ? cell.toISOString() : String(cell)
}
