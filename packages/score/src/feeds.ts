import { castTensor, type DType, NodewiseError, Tensor } from 'nodewise'
import { elementOf, isWhole, padOf, zeroOf } from './cells.ts'
import { elementCount, type MappedInput, type RowShape } from './mapping.ts'
import { packedTensor } from './packed-feeds.ts'
import { type Batch, isList } from './table.ts'

/** A row that cannot be computed. */
export interface BadRow {
  readonly row: number
  readonly error: NodewiseError
}

/** Elements of a row, flat. */
interface Flat {
  readonly dims: readonly number[]
  readonly elements: readonly unknown[]
}

/** A tensor, and how a row fills it. */
export interface Laid {
  readonly tensor: Tensor
  readonly shape: RowShape
}

/**
 * The tensor of an input for some rows, and the rows that have no place in it.
 * @param pad what fills lists that are shorter than others; undefined: their rows are bad
 * @returns no tensor where no row has a place
 */
export function tensorOf(
  input: MappedInput,
  batch: Batch,
  pad: number | string | undefined
): (Laid | { readonly tensor?: undefined; readonly shape?: undefined }) & { readonly bad: readonly BadRow[] } {
  const fast = packedTensor(input, batch)
  if (fast) return { ...fast, bad: [] }
  const bad: BadRow[] = []
  const rows: (Flat | undefined)[] = Array.from({ length: batch.rows }, (_, row) =>
    attempt(bad, row, () => rowOf(input, batch, row))
  )
  const shape = shapeOfRows(input, rows, pad, bad)
  if (!shape) return { bad }
  const size = elementCount(shape.dims)
  const isShort = rows.some(flat => flat !== undefined && flat.elements.length < size)
  const filler = pad !== undefined && isShort ? padOf(pad, input.type, input.name) : zeroOf(input.type)
  const elements = new Array<unknown>(batch.rows * size).fill(filler)
  rows.forEach((flat, row) => {
    if (flat) attempt(bad, row, () => place(flat, shape.dims, pad !== undefined, elements, row * size))
  })
  return { tensor: toTensor(input.type, elements, shape, batch.rows), shape, bad }
}

function attempt<T>(bad: BadRow[], row: number, action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    bad.push({ row, error })
    return undefined
  }
}

function rowOf({ name, type, columns }: MappedInput, { columns: all }: Batch, row: number): Flat {
  const cells = columns.map(column => flatten(all[column].cells[row], name))
  const [first] = cells
  const elements = cells.flatMap(cell => cell.elements).map(element => elementOf(element, type, name))
  if (cells.length === 1) return { dims: first.dims, elements }
  if (cells.every(({ dims }) => dims.length === 0)) return { dims: [cells.length], elements }
  throw new NodewiseError('shape-mismatch', `input "${name}": columns that stand side by side have one element a row`)
}

function flatten(cell: unknown, name: string): Flat {
  if (!isList(cell)) return { dims: [], elements: [cell] }
  const items = Array.from(cell, item => flatten(item, name))
  const inner = items.length === 0 ? [] : items[0].dims
  if (items.some(({ dims }) => String(dims) !== String(inner)))
    throw new NodewiseError('shape-mismatch', `input "${name}": lists in a list differ in length`)
  return { dims: [items.length, ...inner], elements: items.flatMap(({ elements }) => elements) }
}

/** {@link shapeOf} the rows that the model takes; the others are bad. Undefined where it takes none. */
function shapeOfRows(
  input: MappedInput,
  rows: (Flat | undefined)[],
  pad: number | string | undefined,
  bad: BadRow[]
): RowShape | undefined {
  if (rows.every(row => row === undefined)) return undefined
  try {
    return shapeOf(input, rows, pad)
  } catch (error) {
    const before = bad.length
    rows.forEach((flat, row) => {
      if (flat && !attempt(bad, row, () => shapeOf(input, [flat], pad))) rows[row] = undefined
    })
    if (bad.length === before) throw error
    return rows.every(row => row === undefined) ? undefined : shapeOf(input, rows, pad)
  }
}

/** The dims that the rows have together, under those that the model declares. */
function shapeOf(
  { name, dims: declared, columns }: MappedInput,
  rows: readonly (Flat | undefined)[],
  pad: number | string | undefined
): RowShape {
  const present = rows.filter(row => row !== undefined)
  const rank = present[0]?.dims.length ?? 0
  let dims = Array.from({ length: rank }, (_, axis) =>
    pad === undefined ? present[0].dims[axis] : present.reduce((most, row) => Math.max(most, row.dims[axis] ?? 0), 0)
  )
  if (!declared) return { dims, isBatched: true }
  const inner = declared.slice(1)
  // One number a row fills a column of one.
  if (rank === 0 && inner.length === 1 && (inner[0] ?? 1) === 1) return { dims: [1], isBatched: true }
  if (declared.length > 0 && inner.length !== rank && elementCount(inner) === elementCount(dims))
    return { dims: inner as readonly number[], isBatched: true }
  const side = (wanted: readonly (number | undefined)[]): boolean =>
    wanted.length === dims.length && wanted.every((dim, axis) => fitsPadded(dim, dims[axis], pad !== undefined))
  if (declared.length > 0 && side(inner)) {
    dims = dims.map((dim, axis) => inner[axis] ?? dim)
    return { dims, isBatched: true }
  }
  if (side(declared)) return { dims, isBatched: false }
  const text = declared.map(dim => dim ?? '?').join(', ')
  throw new NodewiseError(
    'shape-mismatch',
    `input "${name}" is declared [${text}]; a row of its ${columns.length === 1 ? 'column' : 'columns'} has dims ` +
      `[${dims.join(', ')}]`
  )
}

const fitsPadded = (declared: number | undefined, size: number, isPadded: boolean): boolean =>
  declared === undefined || declared === size || (isPadded && size < declared)

/** Copies a row to its place, in the corner of what is larger. */
function place(
  { dims, elements }: Flat,
  into: readonly number[],
  isPadded: boolean,
  all: unknown[],
  start: number
): void {
  const isSame =
    elements.length === elementCount(into) && (dims.length !== into.length || String(dims) === String(into))
  if (isSame) {
    for (let i = 0; i < elements.length; i++) all[start + i] = elements[i]
    return
  }
  if (!isPadded || dims.length !== into.length || dims.some((dim, axis) => dim > into[axis]))
    throw new NodewiseError(
      'shape-mismatch',
      `the row has dims [${dims.join(', ')}], others [${into.join(', ')}]; --pad 0 fills what is shorter`
    )
  for (let i = 0; i < elements.length; i++) {
    let [rest, at, step] = [i, 0, 1]
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      at += (rest % dims[axis]) * step
      rest = Math.floor(rest / dims[axis])
      step *= into[axis]
    }
    all[start + at] = elements[i]
  }
}

/** The tensor of elements: bigints of whole numbers, numbers, booleans, or strings. */
function toTensor(type: DType, elements: readonly unknown[], { dims, isBatched }: RowShape, rows: number): Tensor {
  const all = isBatched ? [rows, ...dims] : dims
  const list = (isBatched ? elements : elements.slice(0, elementCount(dims))) as readonly (
    | number
    | bigint
    | boolean
    | string
  )[]
  if (type === 'string' || type === 'bool') return new Tensor(type, list, all)
  if (isWhole(type)) return castTensor(new Tensor(type === 'uint64' ? 'uint64' : 'int64', list, all), type)
  return castTensor(new Tensor('float64', Float64Array.from(list as readonly number[]), all), type)
}
