import { type Data, type DataType, Type } from 'apache-arrow'

/** What holds the elements of a column, or where its rows begin. */
type Elements = Exclude<Data['values'], undefined> & { readonly length: number }

/**
 * Rows of a column by their indices, in that order, of the same type and as exact: a time has all of its digits, a
 * decimal all of its words. Undefined for columns that hold unions, whose rows lie in several arrays.
 */
export function takeData(data: Data, rows: readonly number[]): Data | undefined {
  const { type }: { readonly type: DataType } = data
  const length = rows.length
  const { nullCount, nullBitmap } = nullsOf(data, rows)
  const made = (
    buffers: { readonly offsets?: Elements; readonly values?: Elements },
    children: readonly Data[] = []
  ): Data =>
    data.clone(
      type,
      0,
      length,
      nullCount,
      [buffers.offsets, buffers.values, nullBitmap] as never,
      [...children],
      data.variadicBuffers
    )
  switch (type.typeId) {
    case Type.Union:
      return undefined
    case Type.Null:
      return data.slice(0, length)
    case Type.Bool:
      return made({ values: bitsAt(data.values, data.offset, rows) })
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary: {
      const { offsets, places } = offsetsOf(data, rows)
      return made({ offsets, values: bytesAt(data.values, places) })
    }
    case Type.List:
    case Type.LargeList:
    case Type.Map: {
      const { offsets, places } = offsetsOf(data, rows)
      const items = takeData(
        data.children[0],
        places.flatMap(([begin, end]) => range(begin, end))
      )
      return items && made({ offsets }, [items])
    }
    case Type.FixedSizeList: {
      const { listSize } = type as unknown as { listSize: number }
      const items = takeData(
        data.children[0],
        rows.flatMap(row => range(row * listSize, (row + 1) * listSize))
      )
      return items && made({}, [items])
    }
    case Type.Struct: {
      const children = data.children.map(child => takeData(child, rows))
      return children.every(child => child !== undefined) ? made({}, children) : undefined
    }
    default:
      return made({ values: gather(data.values, data.stride, rows) })
  }
}

const range = (begin: number, end: number): number[] => Array.from({ length: end - begin }, (_, i) => begin + i)

function nullsOf(
  { nullCount, nullBitmap, offset }: Data,
  rows: readonly number[]
): { nullCount: number; nullBitmap: Uint8Array } {
  if (nullCount === 0 || !nullBitmap || nullBitmap.length === 0) return { nullCount: 0, nullBitmap: new Uint8Array(0) }
  const bits = bitsAt(nullBitmap, offset, rows)
  let there = 0
  for (let i = 0; i < rows.length; i++) there += (bits[i >> 3] >> (i & 7)) & 1
  return { nullCount: rows.length - there, nullBitmap: bits }
}

/** The bits of rows, eight to a byte. */
function bitsAt(from: Uint8Array, offset: number, rows: readonly number[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(rows.length / 8))
  for (let i = 0; i < rows.length; i++) {
    const at = offset + rows[i]
    bits[i >> 3] |= ((from[at >> 3] >> (at & 7)) & 1) << (i & 7)
  }
  return bits
}

/** Where a row begins and ends in the array below. */
type Place = readonly [begin: number, end: number]

/** The bytes at several places, one after the other. */
function bytesAt(from: Uint8Array, places: readonly Place[]): Uint8Array {
  const bytes = new Uint8Array(places.reduce((sum, [begin, end]) => sum + end - begin, 0))
  let at = 0
  for (const [begin, end] of places) {
    bytes.set(from.subarray(begin, end), at)
    at += end - begin
  }
  return bytes
}

/** Where the rows stand in the array below, and the offsets that say so where they stand one after the other. */
function offsetsOf({ valueOffsets }: Data, rows: readonly number[]): { offsets: Elements; places: Place[] } {
  const from = valueOffsets as unknown as Int32Array | BigInt64Array
  const places = rows.map(row => [Number(from[row]), Number(from[row + 1])] as const)
  let end = 0
  const ends = [0, ...places.map(([begin, next]) => (end += next - begin))]
  return { places, offsets: from instanceof BigInt64Array ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends) }
}

/** @param stride elements of a row */
function gather(from: Elements, stride: number, rows: readonly number[]): Elements {
  const all = new (from.constructor as new (length: number) => Int32Array)(stride * rows.length)
  rows.forEach((row, i) => all.set((from as Int32Array).subarray(stride * row, stride * (row + 1)), i * stride))
  return all
}
