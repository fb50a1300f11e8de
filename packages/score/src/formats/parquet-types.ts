import type { ConvertedType, DecodedArray, ParquetParsers, SchemaElement, SchemaTree } from 'hyparquet'
import { convert, DEFAULT_PARSERS, parseDecimal } from 'hyparquet/src/convert.js'
import { NodewiseError } from 'nodewise'
import { cellsOfPacked, type Packed } from '../packed.ts'
import { type ColumnType, type Field, isList, type NumberType } from '../table.ts'

/** A time with all the digits that the file has of it. */
class ExactTime extends Date {
  readonly units: bigint

  constructor(milliseconds: number, units: bigint) {
    super(milliseconds)
    this.units = units
  }
}

/** The whole part of a quotient; a time before 1970 is in the millisecond that it began in. */
const floored = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by

/** Times keep the digits below a millisecond. */
const PARSERS: ParquetParsers = {
  ...DEFAULT_PARSERS,
  timestampFromMicroseconds: micros => new ExactTime(Number(floored(micros, 1000n)), micros),
  timestampFromNanoseconds: nanos => new ExactTime(Number(floored(nanos, 1_000_000n)), nanos)
}

/** Times of 96 bits count nanoseconds, and are written in microseconds: these reach the years that 96 bits do. */
const PARSERS_96: ParquetParsers = {
  ...PARSERS,
  timestampFromNanoseconds: nanos => new ExactTime(Number(floored(nanos, 1_000_000n)), floored(nanos, 1000n))
}

/** What says the meaning of the cells of a column. */
export const parsersOf = ({ type }: SchemaElement): ParquetParsers => (type === 'INT96' ? PARSERS_96 : PARSERS)

/**
 * What cells mean that are stored as something else: times, decimals, JSON, and the like. Undefined where they are what
 * is stored.
 */
export function meaningOf(node: SchemaTree): ((stored: Packed) => ArrayLike<unknown>) | undefined {
  const { element, children } = leafOf(node)
  const { kind } = columnType({ element, children } as SchemaTree)
  const isPlain =
    kind === 'number'
      ? isPlainNumber(element)
      : kind !== 'date' && kind !== 'timestamp' && kind !== 'json' && element.logical_type?.type !== 'UUID'
  if (isPlain) return undefined
  return stored => {
    const { valid } = stored
    const all = cellsOfPacked({ ...stored, valid: undefined })
    const present = valid ? Array.prototype.filter.call(all, (_, row) => valid[row] === 1) : all
    const cells = meantBy(present as DecodedArray, element)
    if (!valid) return cells
    let at = 0
    return Array.from(valid, there => (there === 1 ? cells[at++] : null))
  }
}

/**
 * What cells of a column mean, which are all there.
 * @throws NodewiseError `invalid-file`
 */
export function meantBy(cells: DecodedArray, element: SchemaElement, schemaPath?: SchemaTree[]): DecodedArray {
  if (isDecimal(element)) return decimals(cells, element)
  const decoder = { element, parsers: parsersOf(element), utf8: false, schemaPath }
  try {
    return convert(cells, decoder as unknown as Parameters<typeof convert>[1])
  } catch (error) {
    throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${(error as Error).message}`)
  }
}

/** Decimals as numbers, by a quotient: times a hundredth, 57 hundredths are 0.5700000000000001. */
function decimals(cells: DecodedArray, { scale, logical_type: logical }: SchemaElement): number[] {
  const unit = 10 ** (scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0))
  return Array.from(cells as ArrayLike<unknown>, cell =>
    cell instanceof Uint8Array ? parseDecimal(cell) / unit : Number(cell) / unit
  )
}

const isDecimal = ({ converted_type: converted, logical_type: logical }: SchemaElement): boolean =>
  converted === 'DECIMAL' || logical?.type === 'DECIMAL'

/** The leaf of a column, or of its lists. */
const leafOf = (node: SchemaTree): SchemaTree => (node.children.length === 0 ? node : leafOf(node.children[0]))

const isPlainNumber = (element: SchemaElement): boolean =>
  !isDecimal(element) && element.logical_type?.type !== 'FLOAT16'

/** What the cells of a column of Parquet are; groups that are no lists are told as JSON. */
export function columnType({ element, children }: SchemaTree): ColumnType {
  if (children.length > 0) {
    const item = listItem({ element, children })
    return item ? { kind: 'list', element: columnType(item) } : { kind: 'json' }
  }
  const { type, converted_type: converted, logical_type: logical } = element
  if (logical?.type === 'STRING' || converted === 'UTF8' || logical?.type === 'ENUM' || converted === 'ENUM')
    return { kind: 'string' }
  if (logical?.type === 'UUID') return { kind: 'string' }
  if (converted === 'DATE' || logical?.type === 'DATE') return { kind: 'date' }
  if (converted?.startsWith('TIMESTAMP') === true || logical?.type === 'TIMESTAMP' || type === 'INT96')
    return { kind: 'timestamp' }
  if (isDecimal(element) || logical?.type === 'FLOAT16') return number('float64')
  if (converted === 'JSON' || logical?.type === 'JSON') return { kind: 'json' }
  switch (type) {
    case 'BOOLEAN':
      return { kind: 'bool' }
    case 'INT32':
    case 'INT64':
      return number(wholeType(element))
    case 'FLOAT':
      return number('float32')
    case 'DOUBLE':
      return number('float64')
    default:
      return { kind: 'binary' }
  }
}

const number = (type: NumberType): ColumnType => ({ kind: 'number', type })

function wholeType({ type, converted_type: converted, logical_type: logical }: SchemaElement): NumberType {
  if (logical?.type === 'INTEGER') return `${logical.isSigned ? '' : 'u'}int${logical.bitWidth}` as NumberType
  const [, unsigned, bits] = /^(U)?INT_(\d+)$/.exec(converted ?? '') ?? []
  if (bits !== undefined) return `${unsigned === undefined ? '' : 'u'}int${bits}` as NumberType
  return type === 'INT64' ? 'int64' : 'int32'
}

/** The items of a list in three levels, as the format asks for, or in two. */
function listItem({ element, children }: Pick<SchemaTree, 'element' | 'children'>): SchemaTree | undefined {
  if (element.converted_type !== 'LIST' && element.logical_type?.type !== 'LIST') return undefined
  const [repeated] = children
  return repeated.children.length === 1 ? repeated.children[0] : repeated
}

/** A column as the flat list of its schema. */
export const elementsOf = ({ element, children }: SchemaTree): SchemaElement[] => [
  element,
  ...children.flatMap(elementsOf)
]

/** How a column is declared in Parquet: as it was read, or by what its cells are. */
export const schemaElements = ({ name, type, parquet }: Field): SchemaElement[] =>
  parquet ? parquet.map(asWritten) : declared(name, type)

/**
 * The writer says sizes of whole numbers by the converted type alone. Times of 96 bits, an old form, are read and not
 * written: they become microseconds.
 */
function asWritten(element: SchemaElement): SchemaElement {
  const { logical_type: logical, ...rest } = element
  if (element.type === 'INT96') return { ...rest, type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }
  if (logical?.type !== 'INTEGER') return element
  return { ...rest, converted_type: `${logical.isSigned ? '' : 'U'}INT_${logical.bitWidth}` as ConvertedType }
}

function declared(name: string, type: ColumnType): SchemaElement[] {
  const leaf = (rest: Omit<SchemaElement, 'name' | 'repetition_type'>): SchemaElement[] => [
    { name, repetition_type: 'OPTIONAL', ...rest }
  ]
  switch (type.kind) {
    case 'number':
      return leaf(NUMBERS[type.type])
    case 'bool':
      return leaf({ type: 'BOOLEAN' })
    case 'string':
    case 'json':
      return leaf({ type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } })
    case 'binary':
      return leaf({ type: 'BYTE_ARRAY' })
    case 'date':
      return leaf({ type: 'INT32', converted_type: 'DATE' })
    case 'timestamp':
      return leaf({ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' })
    case 'list':
      return [
        { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...declared('element', type.element)
      ]
  }
}

const small = (converted: 'INT_8' | 'INT_16' | 'UINT_8' | 'UINT_16' | 'UINT_32'): Partial<SchemaElement> => ({
  type: 'INT32',
  converted_type: converted
})

const NUMBERS: Readonly<Record<NumberType, Partial<SchemaElement>>> = {
  int8: small('INT_8'),
  int16: small('INT_16'),
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint8: small('UINT_8'),
  uint16: small('UINT_16'),
  uint32: small('UINT_32'),
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
  float32: { type: 'FLOAT' },
  float64: { type: 'DOUBLE' }
}

/** Cells as the writer of columns with columns inside takes them: arrays for lists, times with all their digits. */
export function cellsFor(cells: ArrayLike<unknown>): unknown[] {
  return Array.from(cells, cell => plainCell(cell ?? null))
}

/** A cell without what only this program knows. */
export function plainCell(cell: unknown): unknown {
  if (cell instanceof ExactTime) return cell.units
  if (cell instanceof Uint8Array || !isList(cell)) return cell
  return Array.from(cell, plainCell)
}
