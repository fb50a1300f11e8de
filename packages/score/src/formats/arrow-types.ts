import {
  Field as ArrowField,
  Binary,
  Bool,
  type DataType,
  DateDay,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  List,
  TimestampMillisecond,
  Type,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  type Vector,
  vectorFromArray
} from 'apache-arrow'
import type { ColumnType, Field, NumberType } from '../table.ts'

const NUMBERS: Readonly<Record<NumberType, new () => DataType>> = {
  int8: Int8,
  int16: Int16,
  int32: Int32,
  int64: Int64,
  uint8: Uint8,
  uint16: Uint16,
  uint32: Uint32,
  uint64: Uint64,
  float32: Float32,
  float64: Float64
}

/** What the cells of an Arrow column are; whatever has no kind of its own is told as JSON. */
export function columnType(type: DataType): ColumnType {
  switch (type.typeId) {
    case Type.Int: {
      const { isSigned, bitWidth } = type as unknown as { isSigned: boolean; bitWidth: number }
      return { kind: 'number', type: `${isSigned ? '' : 'u'}int${bitWidth}` as NumberType }
    }
    case Type.Float:
      return { kind: 'number', type: floatOf(type) }
    case Type.Decimal:
      return { kind: 'number', type: 'float64' }
    case Type.Bool:
      return { kind: 'bool' }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { kind: 'string' }
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return { kind: 'binary' }
    case Type.List:
    case Type.LargeList:
      return { kind: 'list', element: columnType(elementOf(type)) }
    case Type.FixedSizeList: {
      const { listSize } = type as unknown as { listSize: number }
      return { kind: 'list', element: columnType(elementOf(type)), size: listSize }
    }
    case Type.Dictionary:
      return columnType((type as unknown as { dictionary: DataType }).dictionary)
    case Type.Date:
      return { kind: 'date' }
    case Type.Timestamp:
      return { kind: 'timestamp' }
    // Units since midnight and units that have passed: numbers, as Parquet has them too.
    case Type.Time:
      return { kind: 'number', type: (type as unknown as { bitWidth: number }).bitWidth === 32 ? 'int32' : 'int64' }
    case Type.Duration:
      return { kind: 'number', type: 'int64' }
    default:
      return { kind: 'json' }
  }
}

/** Half precision is read as numbers of double precision. */
function floatOf(type: DataType): NumberType {
  const { precision } = type as unknown as { precision: number }
  return precision === 1 ? 'float32' : 'float64'
}

/**
 * Reads the cells of columns whose arrays do not hold numbers: decimals, in words of 32 bits from the lowest on, and
 * floats of 16 bits, which are numbers when read one by one. Undefined for other columns.
 */
export function numberReader(type: DataType): ((cell: unknown) => number) | undefined {
  if (type.typeId === Type.Float && (type as unknown as { precision: number }).precision === 0) return Number
  if (type.typeId !== Type.Decimal) return undefined
  const { scale } = type as unknown as { scale: number }
  return cell => {
    const words = Array.from(cell as Uint32Array)
    const bits = words.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n)
    return Number(BigInt.asIntN(32 * words.length, bits)) / 10 ** scale
  }
}

const elementOf = (type: DataType): DataType => type.children[0].type

const isDictionary = (type: DataType): boolean => type.typeId === Type.Dictionary

/** A column of words in a dictionary is written as the words: batches stand for themselves then. */
export const plainField = (field: ArrowField): ArrowField =>
  isDictionary(field.type as DataType)
    ? new ArrowField(field.name, (field.type as unknown as { dictionary: DataType }).dictionary, true, field.metadata)
    : field

/** {@link plainField} of the cells. */
export const plainVector = (vector: Vector): Vector =>
  isDictionary(vector.type as DataType)
    ? vectorFromArray(Array.from(vector) as never[], (vector.type as unknown as { dictionary: DataType }).dictionary)
    : vector

/** How a column is declared in Arrow: as it was read, or by what its cells are. */
export const arrowField = ({ name, type, arrow }: Field): ArrowField =>
  arrow ?? new ArrowField(name, arrowType(type), true)

function arrowType(type: ColumnType): DataType {
  switch (type.kind) {
    case 'number':
      return new NUMBERS[type.type]()
    case 'bool':
      return new Bool()
    case 'string':
    case 'json':
      return new Utf8()
    case 'binary':
      return new Binary()
    case 'date':
      return new DateDay()
    case 'timestamp':
      return new TimestampMillisecond()
    case 'list': {
      const item = new ArrowField('item', arrowType(type.element), true)
      return type.size === undefined ? new List(item) : new FixedSizeList(type.size, item)
    }
  }
}
