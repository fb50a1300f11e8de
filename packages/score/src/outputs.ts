import {
  check,
  type DType,
  type InferenceSession,
  isTensor,
  NodewiseError,
  type PortInfo,
  type Tensor,
  type Value
} from 'nodewise'
import { badUsage, elementCount } from './mapping.ts'
import type { ScoreOptions } from './options.ts'
import { evenOffsets, type Numbers, type Packed } from './packed.ts'
import { type Column, type ColumnType, type Field, type NumberType, packedColumn, plainColumn } from './table.ts'

/** An output and the column that it becomes. */
export interface MappedOutput {
  readonly name: string
  readonly field: Field
}

const TYPES: Partial<Record<DType, ColumnType>> = {
  bool: { kind: 'bool' },
  string: { kind: 'string' },
  ...Object.fromEntries(
    ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float32', 'float64'].map(type => [
      type,
      { kind: 'number', type: type as NumberType }
    ])
  )
}

/**
 * The columns that outputs become.
 * @param isBatched whether rows stand along the first dim of outputs
 * @throws NodewiseError `bad-usage` for names that are not there, and for a column that is there already
 */
export function mapOutputs(
  session: InferenceSession,
  kept: readonly Field[],
  { outputs, as = {} }: ScoreOptions,
  isBatched: boolean
): MappedOutput[] {
  const ports = new Map(session.outputMetadata.map(port => [port.name, port]))
  for (const name of [...(outputs ?? []), ...Object.keys(as)])
    if (!ports.has(name)) badUsage(`the model has no output "${name}"; it has ${session.outputNames.join(', ')}`)
  const dimsOf = inferredDims(session)
  const taken = new Set(kept.map(({ name }) => name))
  return (outputs ?? session.outputNames).map(name => {
    const column = as[name] ?? name
    if (taken.has(column))
      badUsage(`the table has a column "${column}" already; --as ${name}=other gives the output another name`)
    taken.add(column)
    return { name, field: { name: column, type: typeOf(ports.get(name) as PortInfo, dimsOf, isBatched) } }
  })
}

type Dims = readonly (number | string)[]

/** Dims of outputs that the model does not declare, as they follow from its inputs. */
function inferredDims({ model, outputMetadata }: InferenceSession): (name: string) => Dims | undefined {
  if (outputMetadata.every(port => !port.isTensor || port.shape)) return () => undefined
  const { values } = check(model)
  return name => values.find(value => value.name === name && value.graphPath === '')?.dims ?? undefined
}

function typeOf(port: PortInfo, dimsOf: (name: string) => Dims | undefined, isBatched: boolean): ColumnType {
  const shape = port.isTensor ? (port.shape ?? dimsOf(port.name)) : undefined
  if (!port.isTensor || !shape) return { kind: 'json' }
  const element: ColumnType = TYPES[port.type ?? 'float32'] ?? { kind: 'number', type: 'float32' }
  const inner = isBatched ? shape.slice(1) : shape
  // One number a row is a number, also where it stands in a column of its own.
  if (inner.length === 0 || (inner.length === 1 && inner[0] === 1)) return element
  return inner.reduceRight<ColumnType>(
    (type, dim) => ({ kind: 'list', element: type, ...(typeof dim === 'number' && { size: dim }) }),
    element
  )
}

/**
 * The cells of an output of a run.
 * @param rows that are wanted
 * @param ran rows of the run, along the first dim: those after `rows` were added to fill the model's dims; undefined
 *   where the run is one row without such a dim
 * @throws NodewiseError `shape-mismatch` where the output does not have a row for each
 */
export function columnOf({ name, field }: MappedOutput, value: Value, rows: number, ran: number | undefined): Column {
  if (!isTensor(value)) return plainColumn(itemsOf(value, rows, name))
  const { dims, cells } = elementsOf(value)
  const inner = ran === undefined ? dims : dims.slice(1)
  if (ran !== undefined && dims[0] !== ran)
    throw new NodewiseError(
      'shape-mismatch',
      `output "${name}" has dims [${dims.join(', ')}] for ${ran} rows; --outputs names those that have a row each`
    )
  const size = elementCount(inner)
  const { kind } = field.type
  if (kind !== 'list' && kind !== 'json' && size !== 1) notOne(name, inner)
  const packed = kind === 'json' ? undefined : packedOf(value, cells, rows, kind === 'list' ? inner : [])
  if (packed) return packedColumn(packed)
  if (kind !== 'list' && kind !== 'json') return plainColumn(slice(cells, 0, rows))
  return plainColumn(Array.from({ length: rows }, (_, row) => nested(cells, inner, row * size, size)))
}

/** Numbers and bools as they lie in a tensor, in lists of the dims of a row; undefined for other elements. */
function packedOf(
  { type, data }: Tensor,
  cells: ArrayLike<unknown>,
  rows: number,
  inner: readonly number[]
): Packed | undefined {
  const values = (type === 'bool' ? data : cells) as Numbers
  if (!ArrayBuffer.isView(values) || type.startsWith('complex')) return undefined
  const count = rows * elementCount(inner)
  const kind = type === 'bool' ? 'bools' : 'numbers'
  return inner.reduceRight<Packed>(
    (items, dim, axis) => {
      const lists = rows * elementCount(inner.slice(0, axis))
      return { kind: 'lists', rows: lists, items, offsets: evenOffsets(lists, dim) }
    },
    { kind, rows: count, values: values.subarray(0, count) }
  )
}

const notOne = (name: string, dims: readonly number[]): never => {
  throw new NodewiseError(
    'shape-mismatch',
    `output "${name}" has dims [${dims.join(', ')}] a row, where one is declared`
  )
}

/** Elements as cells: small floats as numbers, true and false, texts. */
function elementsOf(tensor: Tensor): { dims: readonly number[]; cells: ArrayLike<unknown> } {
  const { type, dims, data } = tensor
  if (type === 'bool') return { dims, cells: Array.from(data as ArrayLike<number>, Boolean) }
  if (TYPES[type]) return { dims, cells: data }
  if (type !== 'complex64' && type !== 'complex128') return { dims, cells: tensor.toFloat32() }
  return { dims: [...dims, 2], cells: data }
}

function slice(cells: ArrayLike<unknown>, begin: number, end: number): ArrayLike<unknown> {
  return (cells as unknown[]).slice(begin, end)
}

function nested(cells: ArrayLike<unknown>, dims: readonly number[], begin: number, size: number): unknown {
  if (dims.length === 0) return cells[begin]
  if (dims.length === 1) return listOf(slice(cells, begin, begin + size))
  const step = dims[0] === 0 ? 0 : size / dims[0]
  return Array.from({ length: dims[0] }, (_, i) => nested(cells, dims.slice(1), begin + i * step, step))
}

/** A Uint8Array is a cell of bytes. */
const listOf = (cells: ArrayLike<unknown>): ArrayLike<unknown> =>
  cells instanceof Uint8Array ? Array.from(cells) : cells

/** The items of a sequence, such as the maps that classifiers give: one a row. */
function itemsOf(value: Value, rows: number, name: string): unknown[] {
  if (!isTensor(value) && value.type === 'sequence' && value.values.length >= rows)
    return value.values.slice(0, rows).map(plain)
  throw new NodewiseError('shape-mismatch', `output "${name}" is no sequence with an item for each of ${rows} rows`)
}

function plain(value: Value): unknown {
  if (isTensor(value)) return nestedTensor(value)
  switch (value.type) {
    case 'sequence':
      return value.values.map(plain)
    case 'optional':
      return value.value === undefined ? null : plain(value.value)
    case 'map':
      return new Map([...value.entries].map(([key, item]) => [String(key), item]))
  }
}

function nestedTensor(tensor: Tensor): unknown {
  const { dims, cells } = elementsOf(tensor)
  return nested(cells, dims, 0, cells.length)
}
