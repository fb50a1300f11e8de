import { type Data, type DataType, makeData, Type, type Vector } from 'apache-arrow'
import { bytesOf, evenOffsets, itemsOf, type Numbers, type Packed } from '../packed.ts'

/** The cells of a vector as they lie in it; undefined for types whose arrays hold something else than they mean. */
export function packedOfVector(vector: Vector): Packed | undefined {
  return vector.data.length === 1 ? packedOfData(vector.data[0] as Data) : undefined
}

function packedOfData(data: Data): Packed | undefined {
  const { length: rows, typeId } = data
  const valid = validOf(data)
  switch (typeId) {
    case Type.Int:
    case Type.Float: {
      const isHalf = typeId === Type.Float && (data.type as unknown as { precision: number }).precision === 0
      if (isHalf) return undefined
      return { kind: 'numbers', rows, valid, values: (data.values as Numbers).subarray(0, rows) }
    }
    case Type.Bool: {
      const values = new Uint8Array(rows)
      for (let row = 0; row < rows; row++) values[row] = bitAt(data.values as Uint8Array, data.offset + row)
      return { kind: 'bools', rows, valid, values }
    }
    case Type.Utf8:
    case Type.Binary: {
      const offsets = (data.valueOffsets as Int32Array).subarray(0, rows + 1)
      if (!areEmpty(offsets, valid)) return undefined
      return { kind: typeId === Type.Utf8 ? 'texts' : 'binary', rows, valid, bytes: data.values as Uint8Array, offsets }
    }
    case Type.List: {
      const offsets = (data.valueOffsets as Int32Array).subarray(0, rows + 1)
      const items = packedOfData(data.children[0])
      return items && areEmpty(offsets, valid) ? { kind: 'lists', rows, valid, items, offsets } : undefined
    }
    case Type.FixedSizeList: {
      const { listSize } = data.type as unknown as { listSize: number }
      const items = valid ? undefined : packedOfData(data.children[0])
      return items && { kind: 'lists', rows, items, offsets: evenOffsets(rows, listSize) }
    }
    default:
      return undefined
  }
}

const bitAt = (bits: Uint8Array, at: number): number => (bits[at >> 3] >> (at & 7)) & 1

function validOf({ nullCount, nullBitmap, offset, length }: Data): Uint8Array | undefined {
  if (nullCount === 0 || !nullBitmap || nullBitmap.length === 0) return undefined
  const valid = new Uint8Array(length)
  for (let row = 0; row < length; row++) valid[row] = bitAt(nullBitmap, offset + row)
  return valid
}

/** Whether cells that are null take no bytes, which Arrow does not promise. */
const areEmpty = (offsets: Int32Array, valid: Uint8Array | undefined): boolean =>
  !valid || valid.every((there, row) => there === 1 || offsets[row] === offsets[row + 1])

/** Cells as Arrow's own data of a type; undefined where the type does not hold them so. */
export function dataOfPacked(packed: Packed, type: DataType): Data | undefined {
  const { rows: length, valid } = packed
  const nulls = valid
    ? { nullCount: valid.reduce((count, there) => count - there, length), nullBitmap: bitsOf(valid) }
    : { nullCount: 0 }
  switch (type.typeId) {
    case Type.Int:
    case Type.Float:
      if (packed.kind !== 'numbers') return undefined
      return makeData({ type: type as never, length, ...nulls, data: numbersFor(packed.values, type) as never })
    case Type.Bool:
      if (packed.kind !== 'bools') return undefined
      return makeData({ type: type as never, length, ...nulls, data: bitsOf(packed.values as Uint8Array) as never })
    case Type.Utf8:
    case Type.Binary:
      if (packed.kind !== 'texts' && packed.kind !== 'binary') return undefined
      return makeData({
        type: type as never,
        length,
        ...nulls,
        valueOffsets: fromZero(packed.offsets),
        data: bytesOf(packed)
      } as never)
    case Type.List:
    case Type.FixedSizeList:
      return packed.kind === 'lists' ? listData(packed, type, nulls) : undefined
    default:
      return undefined
  }
}

function listData(packed: Packed & { kind: 'lists' }, type: DataType, nulls: object): Data | undefined {
  const { rows: length, offsets, valid } = packed
  const child = dataOfPacked(itemsOf(packed), type.children[0].type as DataType)
  if (!child) return undefined
  if (type.typeId === Type.List)
    return makeData({ type: type as never, length, ...nulls, valueOffsets: fromZero(offsets), child } as never)
  const { listSize } = type as unknown as { listSize: number }
  for (let row = 0; row < length; row++) if (valid || offsets[row + 1] - offsets[row] !== listSize) return undefined
  return makeData({ type: type as never, length, ...nulls, child } as never)
}

function bitsOf(flags: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(flags.length / 8))
  for (let i = 0; i < flags.length; i++) bits[i >> 3] |= flags[i] << (i & 7)
  return bits
}

const fromZero = (offsets: Int32Array): Int32Array =>
  offsets[0] === 0 ? offsets : offsets.map(offset => offset - offsets[0])

/** Numbers in the array of a type. */
function numbersFor(values: Numbers, type: DataType): Numbers {
  const { ArrayType } = type as unknown as { ArrayType: new (length: number) => Numbers }
  if (values instanceof ArrayType) return values
  const converted = new ArrayType(values.length)
  const is64 = converted instanceof BigInt64Array || converted instanceof BigUint64Array
  for (let i = 0; i < values.length; i++) converted[i] = (is64 ? BigInt(values[i]) : Number(values[i])) as number
  return converted
}
