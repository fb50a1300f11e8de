import type { SchemaElement } from 'hyparquet'
import { unconvert } from 'hyparquet-writer/src/unconvert.js'
import { NodewiseError } from 'nodewise'
import { BytesBuilder, type Numbers, type Packed, type PackedBytes, type PackedNumbers } from '../packed.ts'
import { type Column, type Field, isList } from '../table.ts'
import type { FlatColumn } from './parquet-cursor.ts'
import { plainCell } from './parquet-types.ts'

/** The cells of a column as Parquet stores them: numbers of its own types, or bytes. */
export function storedCells(field: Field, { leaf, list }: FlatColumn, column: Column): Packed {
  const { element } = leaf
  const { stored, packed } = column
  if (stored && field.parquet) return stored
  if (packed)
    return packed.kind === 'lists' ? { ...packed, items: asStored(packed.items, element) } : asStored(packed, element)
  return list ? storedLists(column.cells, element) : storedLeaves(column.cells, element)
}

type Storage = { new (length: number): Numbers; from(values: ArrayLike<never>): Numbers }

const isUnsigned = ({ converted_type: converted }: SchemaElement): boolean => converted?.startsWith('UINT_') === true

function storageOf(element: SchemaElement): Storage {
  switch (element.type) {
    case 'INT32':
      return isUnsigned(element) ? Uint32Array : Int32Array
    case 'INT64':
      return isUnsigned(element) ? BigUint64Array : BigInt64Array
    case 'FLOAT':
      return Float32Array
    default:
      return Float64Array
  }
}

function asStored(packed: Packed, element: SchemaElement): Packed {
  if (packed.kind !== 'numbers') return packed
  const Type = storageOf(element)
  const { values } = packed
  return values instanceof Type ? packed : { ...packed, values: Type.from(values as never) }
}

function storedLists(cells: ArrayLike<unknown>, element: SchemaElement): Packed {
  const rows = cells.length
  const offsets = new Int32Array(rows + 1)
  const valid = new Uint8Array(rows)
  const items: unknown[] = []
  for (let row = 0; row < rows; row++) {
    const cell = cells[row]
    if (isList(cell)) {
      valid[row] = 1
      for (let i = 0; i < cell.length; i++) items.push(cell[i])
    }
    offsets[row + 1] = items.length
  }
  return { kind: 'lists', rows, offsets, items: storedLeaves(items, element), ...(valid.includes(0) && { valid }) }
}

function storedLeaves(cells: ArrayLike<unknown>, element: SchemaElement): PackedNumbers | PackedBytes {
  const rows = cells.length
  const plain = Array.from(cells, cell => plainCell(cell ?? null))
  const stored = unconvert(element, plain) as readonly unknown[]
  const valid = new Uint8Array(rows)
  let nulls = 0
  for (let row = 0; row < rows; row++) {
    const isThere = stored[row] !== null && stored[row] !== undefined
    valid[row] = isThere ? 1 : 0
    if (!isThere) nulls++
  }
  const mask = nulls > 0 ? { valid } : {}
  const { type } = element
  if (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') return { ...storedBytes(stored, element), ...mask }
  if (type === 'BOOLEAN') return { kind: 'bools', rows, values: Uint8Array.from(stored, Boolean as never), ...mask }
  const values = new (storageOf(element))(rows)
  for (let row = 0; row < rows; row++) if (valid[row] === 1) values[row] = numberFor(stored[row], element)
  return { kind: 'numbers', rows, values, ...mask }
}

/** A number of the type of a column. @throws NodewiseError `invalid-file` for a cell that is none */
function numberFor(cell: unknown, { name, type }: SchemaElement): number {
  const is64 = type === 'INT64'
  if (is64 && typeof cell === 'number' && Number.isInteger(cell)) return BigInt(cell) as unknown as number
  if (!is64 && typeof cell === 'bigint') return Number(cell)
  if (typeof cell === (is64 ? 'bigint' : 'number')) return cell as number
  throw new NodewiseError('invalid-file', `column "${name}": a ${typeof cell} where Parquet has ${type}`)
}

function storedBytes(cells: readonly unknown[], { name }: SchemaElement): PackedBytes {
  const builder = new BytesBuilder(cells.length)
  const nothing = new Uint8Array(0)
  for (const cell of cells) {
    if (cell === null || cell === undefined) builder.add(nothing)
    else if (cell instanceof Uint8Array) builder.add(cell)
    else if (typeof cell === 'string') builder.add(Buffer.from(cell))
    else throw new NodewiseError('invalid-file', `column "${name}": a ${typeof cell} where Parquet has bytes`)
  }
  return builder.done('binary')
}
