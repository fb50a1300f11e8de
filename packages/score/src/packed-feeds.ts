import { type DType, Tensor } from 'nodewise'
import { elementCount, type MappedInput, type RowShape } from './mapping.ts'
import { itemsOf, type Numbers, type Packed, type PackedLists } from './packed.ts'
import type { Batch } from './table.ts'

/** The array of a type of tensors, and the least and greatest of whole numbers that fit it. */
interface Storage {
  readonly Type: new (length: number) => Numbers
  readonly range?: readonly [number, number]
}

const STORAGE: Partial<Record<DType, Storage>> = {
  float32: { Type: Float32Array },
  float64: { Type: Float64Array },
  int8: { Type: Int8Array, range: [-(2 ** 7), 2 ** 7 - 1] },
  int16: { Type: Int16Array, range: [-(2 ** 15), 2 ** 15 - 1] },
  int32: { Type: Int32Array, range: [-(2 ** 31), 2 ** 31 - 1] },
  uint8: { Type: Uint8Array, range: [0, 2 ** 8 - 1] },
  uint16: { Type: Uint16Array, range: [0, 2 ** 16 - 1] },
  uint32: { Type: Uint32Array, range: [0, 2 ** 32 - 1] },
  int64: { Type: BigInt64Array },
  uint64: { Type: BigUint64Array }
}

/**
 * The tensor of columns whose cells lie in few arrays, without a look at single ones: numbers side by side, one column
 * of texts, or one of lists of numbers that all have the length that the model takes. Undefined for others, and for
 * cells that have to be looked at: those that are missing, or not of the type of the input.
 */
export function packedTensor(
  { type, dims, columns }: MappedInput,
  { rows, columns: all }: Batch
): { tensor: Tensor; shape: RowShape } | undefined {
  const packed = columns.map(column => (type === 'string' ? undefined : all[column].numbers) ?? all[column].packed)
  if (!packed.every(column => column !== undefined && !column.valid)) return undefined
  const [first] = packed as readonly Packed[]
  if (columns.length === 1 && first.kind === 'lists') return listTensor(first, type, dims, rows)
  const rank = dims?.length ?? (columns.length > 1 ? 2 : 1)
  const isVector = rank === 1 && columns.length === 1
  if (!isVector && !(rank === 2 && fits(dims?.[1], columns.length))) return undefined
  const shape = { dims: isVector ? [] : [columns.length], isBatched: true }
  const allDims = [rows, ...shape.dims]
  if (type === 'string' && columns.length === 1 && first.kind === 'texts')
    return { tensor: new Tensor('string', all[columns[0]].cells as readonly string[], allDims), shape }
  const storage = STORAGE[type]
  if (!storage || !packed.every(column => column !== undefined && 'values' in column)) return undefined
  const data = new storage.Type(rows * columns.length)
  const isFilled = packed.every((column, at) => fill(data, at, columns.length, column.values, storage))
  return isFilled ? { tensor: tensorOf(data, allDims), shape } : undefined
}

const fits = (dim: number | undefined, size: number): boolean => dim === undefined || dim === size

const tensorOf = (data: Numbers, dims: readonly number[]): Tensor => new Tensor(data as Float32Array, dims)

/** Puts numbers where every `step`th element stands. @returns false where one is not of the type */
function fill(data: Numbers, at: number, step: number, values: Numbers, { Type, range }: Storage): boolean {
  const count = values.length
  if (step === 1 && values instanceof Type) {
    data.set(values as never)
    return true
  }
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    for (let i = 0; i < count; i++) {
      const value = values[i]
      if (typeof value === 'number' && !Number.isInteger(value)) return false
      const whole = BigInt(value)
      data[i * step + at] = whole
      if (data[i * step + at] !== whole) return false
    }
    return true
  }
  if (!range) fillFloats(data as Float32Array, at, step, values)
  else
    for (let i = 0; i < count; i++) {
      const value = Number(values[i])
      if (!(value >= range[0] && value <= range[1] && Number.isInteger(value))) return false
      data[i * step + at] = value
    }
  return true
}

function fillFloats(data: Float32Array | Float64Array, at: number, step: number, values: Numbers): void {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array)
    for (let i = 0; i < values.length; i++) data[i * step + at] = Number(values[i])
  else for (let i = 0; i < values.length; i++) data[i * step + at] = values[i]
}

function listTensor(
  lists: PackedLists,
  type: DType,
  dims: MappedInput['dims'],
  rows: number
): { tensor: Tensor; shape: RowShape } | undefined {
  const storage = STORAGE[type]
  const { offsets } = lists
  const items = itemsOf(lists)
  const size = rows === 0 ? 0 : offsets[1] - offsets[0]
  if (!storage || !('values' in items) || items.valid || size === 0) return undefined
  for (let row = 0; row < rows; row++) if (offsets[row + 1] - offsets[row] !== size) return undefined
  const inner = dims ? innerDims(dims.slice(1), size) : [size]
  if (!inner) return undefined
  let data = items.values
  if (!(data instanceof storage.Type)) {
    data = new storage.Type(rows * size)
    if (!fill(data, 0, 1, items.values, storage)) return undefined
  }
  return { tensor: tensorOf(data, [rows, ...inner]), shape: { dims: inner, isBatched: true } }
}

/** The dims of a row that has so many elements; undefined where the model has others. */
function innerDims(inner: readonly (number | undefined)[], size: number): readonly number[] | undefined {
  if (inner.length === 1) return fits(inner[0], size) ? [size] : undefined
  return inner.length > 0 && elementCount(inner) === size ? (inner as readonly number[]) : undefined
}
