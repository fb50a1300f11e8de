import type { Packed } from '../packed.ts'
import {
  type Column,
  type ColumnType,
  type Field,
  type Format,
  isList,
  isNoTime,
  jsonCell,
  packedColumn,
  plainColumn,
  type Sink,
  type TableReader,
  type TableWriter
} from '../table.ts'
import type { Input } from './input.ts'
import { wholeNumbers } from './text-numbers.ts'
import { cellOfText, otherType } from './text.ts'

/** Opens a table in a format; its modules are loaded only then. */
export async function readTable(format: Format, input: Input, skip: number): Promise<TableReader> {
  switch (format) {
    case 'arrow':
    case 'arrow-stream':
      return (await import('./arrow.ts')).readArrow(input, skip)
    case 'parquet':
      return (await import('./parquet-read.ts')).readParquet(input, skip)
    case 'ndjson':
      return (await import('./ndjson.ts')).readNdjson(input, skip)
    case 'csv':
      return (await import('./csv.ts')).readCsv(input, skip)
  }
}

/** What is written into a sink that may have rows already. */
export interface Written {
  readonly fields: readonly Field[]
  /** The first so many fields come from the table that is read, all of its columns. */
  readonly kept: number
  readonly rows: number
  readonly state: unknown
}

/** Writes a table in a format. An Arrow file is written as a stream, which is made a file at its end. */
export async function writeTable(format: Format, sink: Sink, written: Written): Promise<TableWriter> {
  const { fields, kept, rows, state } = written
  switch (format) {
    case 'arrow':
    case 'arrow-stream':
      return typed(format, fields, (await import('./arrow.ts')).writeArrowStream(sink, fields, rows))
    case 'parquet':
      return typed(format, fields, await (await import('./parquet-write.ts')).writeParquet(sink, fields, rows, state))
    case 'ndjson':
      return typed(format, fields, (await import('./ndjson.ts')).writeNdjson(sink, fields, kept, rows))
    case 'csv':
      return (await import('./csv.ts')).writeCsv(sink, fields, rows)
  }
}

/** Gives a writer cells of one type in each column; what its own format has declared is that already. */
function typed(format: Format, fields: readonly Field[], writer: TableWriter): TableWriter {
  const isTyped = format !== 'ndjson'
  const convert = fields.map((field): ((column: Column) => Column) => {
    const isNative = format === 'parquet' ? field.parquet : isTyped ? field.arrow : undefined
    if (field.isText !== true && (isNative || !isTyped)) return column => column
    return column => {
      if (column.packed && field.isText !== true) return column
      const packed = packedNumbers(field, column)
      if (packed) return packedColumn(packed)
      const { cells } = column
      return ArrayBuffer.isView(cells) ? column : plainColumn(Array.from(cells, cell => typedCell(field, cell)))
    }
  })
  return {
    get written() {
      return writer.written
    },
    state: () => writer.state(),
    write: batch => writer.write({ ...batch, columns: batch.columns.map((column, i) => convert[i](column)) }),
    end: () => writer.end()
  }
}

/** What a column of texts says, or has in JSON, without a look at single cells. */
function packedNumbers({ type }: Field, { packed, numbers }: Column): Packed | undefined {
  if (type.kind === 'string') return packed
  if (type.kind !== 'number' || numbers?.kind !== 'numbers') return undefined
  return type.type === 'int64' ? wholeNumbers(numbers) : numbers
}

function typedCell(field: Field, cell: unknown): unknown {
  if (cell === null || cell === undefined) return null
  return cellOfType(field.name, field.type, field.isText === true ? cellOfText(String(cell), field) : cell)
}

function cellOfType(name: string, type: ColumnType, cell: unknown): unknown {
  if (cell === null || cell === undefined) return null
  switch (type.kind) {
    case 'json':
      return jsonCell(cell)
    case 'list':
      if (!isList(cell)) return otherType(name, type, cell)
      return ArrayBuffer.isView(cell) ? cell : Array.from(cell, item => cellOfType(name, type.element, item))
    case 'number':
      return numberOfType(name, type, cell)
    case 'bool':
      return typeof cell === 'boolean' ? cell : otherType(name, type, cell)
    case 'string':
      return typeof cell === 'string' ? cell : otherType(name, type, cell)
    case 'binary':
      return cell
    case 'date':
    case 'timestamp':
      return isNoTime(cell) ? null : cell
  }
}

function numberOfType(name: string, type: ColumnType & { kind: 'number' }, cell: unknown): unknown {
  if (typeof cell !== 'number' && typeof cell !== 'bigint') return otherType(name, type, cell)
  if (!/64/.test(type.type) || type.type === 'float64') return Number(cell)
  return typeof cell === 'bigint' || Number.isInteger(cell) ? BigInt(cell) : otherType(name, type, cell)
}
