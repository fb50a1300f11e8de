import type { Field as ArrowField, Vector } from 'apache-arrow'
import type { SchemaElement } from 'hyparquet'
import { cellsOfPacked, concatPacked, type Packed, slicePacked, takePacked } from './packed.ts'

/** Formats of tables. */
export type Format = 'arrow' | 'arrow-stream' | 'parquet' | 'ndjson' | 'csv'

/** Types of numbers that columns have in every format. */
export type NumberType =
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float32'
  | 'float64'

/**
 * What the cells of a column are: numbers (bigints where they have 64 bits), booleans, strings, bytes, `Date`s, arrays,
 * or anything that JSON can say. Any cell may be null.
 */
export type ColumnType =
  | { readonly kind: 'number'; readonly type: NumberType }
  | { readonly kind: 'bool' | 'string' | 'binary' | 'date' | 'timestamp' | 'json' }
  | { readonly kind: 'list'; readonly element: ColumnType; readonly size?: number }

/** A column of a table. */
export interface Field {
  readonly name: string
  readonly type: ColumnType
  /** Cells are texts of which `type` says what they hold, as in CSV. */
  readonly isText?: boolean
  /** The column as its format declares it; the same format writes it so again. */
  readonly arrow?: ArrowField
  readonly parquet?: readonly SchemaElement[]
}

/** The cells of a column in some rows. Those in few arrays become single ones only where these are asked for. */
export interface Column {
  readonly cells: ArrayLike<unknown>
  /** The same cells in few arrays. */
  readonly packed?: Packed | undefined
  /** The numbers that cells of text say, where each says one, or that JSON has. */
  readonly numbers?: Packed | undefined
  /** The cells as Parquet stores them, where that is not what they mean: times, decimals. */
  readonly stored?: Packed | undefined
  /** The same cells as Arrow has them. */
  readonly vector?: Vector | undefined
  /** Rows from `begin` to `end`, as views where arrays allow. */
  slice(begin: number, end: number): Column
  /** Rows by their indices, in that order. */
  take(rows: readonly number[]): Column
}

/** A column of single cells. */
export const plainColumn = (cells: ArrayLike<unknown>): Column => ({
  cells,
  slice: (begin, end) => plainColumn(sliceCells(cells, begin, end)),
  take: rows => plainColumn(rows.map(row => cells[row]))
})

/** A column of cells in few arrays. */
export function packedColumn(packed: Packed): Column {
  const cells = lazy(() => cellsOfPacked(packed))
  return {
    get cells() {
      return cells()
    },
    packed,
    slice: (begin, end) => packedColumn(slicePacked(packed, begin, end)),
    take: rows => packedColumn(takePacked(packed, rows))
  }
}

/** A column whose cells are or say numbers, perhaps; they are read when they are asked for. */
export function numbersColumn(column: Column, read: () => Packed | undefined): Column {
  const numbers = lazy(read)
  return {
    get cells() {
      return column.cells
    },
    packed: column.packed,
    get numbers() {
      return numbers()
    },
    slice: (begin, end) =>
      numbersColumn(column.slice(begin, end), () => {
        const all = numbers()
        return all && slicePacked(all, begin, end)
      }),
    take: rows => column.take(rows)
  }
}

/** A column as Parquet stores it, and what its cells mean. */
export function storedColumn(stored: Packed, meant: (stored: Packed) => ArrayLike<unknown>): Column {
  const cells = lazy(() => meant(stored))
  return {
    get cells() {
      return cells()
    },
    stored,
    slice: (begin, end) => storedColumn(slicePacked(stored, begin, end), meant),
    take: rows => storedColumn(takePacked(stored, rows), meant)
  }
}

/** The rows of columns one after the other. */
export function joinColumns(columns: readonly Column[]): Column {
  if (columns.length === 1) return columns[0]
  const packed = columns.map(column => column.packed)
  if (packed.every(one => one !== undefined)) return packedColumn(concatPacked(packed))
  return plainColumn(columns.flatMap(({ cells }) => Array.from(cells)))
}

/** What is made when it is first asked for. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** Some rows of a table, column by column in the order of its fields. */
export interface Batch {
  readonly rows: number
  readonly columns: readonly Column[]
  /** The rows as lines of NDJSON, where they come from there. */
  readonly lines?: readonly string[]
}

/** Reads a table in batches. */
export interface TableReader {
  readonly fields: readonly Field[]
  /** Rows of the whole table; undefined where the format does not say. */
  readonly rows?: number
  /** The part of the input that has been read, from 0 to 1; undefined where its size is not known. */
  fraction(): number | undefined
  /** The batches in order, without the first rows that were skipped at opening. */
  batches(): AsyncIterable<Batch>
  close(): Promise<void>
}

/** Writes a table in batches. */
export interface TableWriter {
  /** Writes rows, or keeps them until a row group is full. */
  write(batch: Batch): Promise<void>
  /** Rows that are in the sink, all of them in whole row groups; a later process may go on after them. */
  readonly written: number
  /** What such a process needs besides, as JSON. */
  state(): unknown
  end(): Promise<void>
}

/** Where bytes of a table go. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>
  /** Bytes written, those of an earlier process included. */
  readonly bytes: number
}

/** Rows from `begin` to `end`, as views where arrays allow. */
export const sliceBatch = (batch: Batch, begin: number, end: number): Batch =>
  begin === 0 && end === batch.rows
    ? batch
    : {
        rows: end - begin,
        columns: batch.columns.map(column => column.slice(begin, end)),
        ...(batch.lines && { lines: batch.lines.slice(begin, end) })
      }

function sliceCells(cells: ArrayLike<unknown>, begin: number, end: number): ArrayLike<unknown> {
  if (Array.isArray(cells)) return cells.slice(begin, end) as unknown[]
  return ArrayBuffer.isView(cells) ? (cells as Float64Array).subarray(begin, end) : Array.from(cells).slice(begin, end)
}

/** Some rows by their indices, in that order. */
export const takeRows = ({ columns, lines }: Batch, rows: readonly number[]): Batch => ({
  rows: rows.length,
  columns: columns.map(column => column.take(rows)),
  ...(lines && { lines: rows.map(row => lines[row]) })
})

/** Text of a cell in JSON: 64-bit whole numbers in all digits, bytes in base64, floats that JSON lacks as null. */
export function jsonCell(cell: unknown): string {
  if (typeof cell === 'bigint') return String(cell)
  if (cell === null || cell === undefined) return 'null'
  if (typeof cell !== 'object') return JSON.stringify(cell)
  if (cell instanceof Uint8Array && !Array.isArray(cell)) return JSON.stringify(Buffer.from(cell).toString('base64'))
  if (cell instanceof Date) return JSON.stringify(cell)
  if (isList(cell)) return `[${jsonItems(cell)}]`
  const entries = cell instanceof Map ? [...cell] : Object.entries(cell)
  return `{${entries.map(([key, value]) => `${JSON.stringify(String(key))}:${jsonCell(value)}`).join(',')}}`
}

function jsonItems(cell: ArrayLike<unknown>): string {
  if (!(cell instanceof Float32Array || cell instanceof Float64Array)) return Array.from(cell, jsonCell).join(',')
  let text = ''
  for (let i = 0; i < cell.length; i++) text += `${i > 0 ? ',' : ''}${Number.isFinite(cell[i]) ? cell[i] : 'null'}`
  return text
}

/**
 * Whether a cell is a time beyond those that JavaScript has, up to the year 275,760, such as the `infinity` of
 * databases. Like floats that JSON lacks it becomes null where a table changes its format.
 */
export const isNoTime = (cell: unknown): boolean => cell instanceof Date && Number.isNaN(cell.getTime())

/** Whether a cell is a list: an array, or a typed one. */
export const isList = (cell: unknown): cell is ArrayLike<unknown> => Array.isArray(cell) || ArrayBuffer.isView(cell)
