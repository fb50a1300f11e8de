import type { SchemaElement, Statistics } from 'hyparquet'
import type { PackedBytes, PackedNumbers } from '../packed.ts'

/**
 * The least and the greatest of cells that are all there, in the order that Parquet gives the column; nothing where it
 * gives none that bytes or numbers have.
 */
export function statisticsOf(cells: PackedNumbers | PackedBytes, element: SchemaElement): Statistics {
  if (cells.rows === 0) return {}
  if (cells.kind === 'bools') {
    const values = cells.values as Uint8Array
    return { min_value: !values.includes(0), max_value: values.includes(1) }
  }
  const { converted_type: converted, logical_type: logical } = element
  const isDecimal = converted === 'DECIMAL' || logical?.type === 'DECIMAL'
  if ('values' in cells) return ofNumbers(cells, isDecimal)
  const isOrdered = !isDecimal && element.type === 'BYTE_ARRAY' && converted !== 'JSON' && converted !== 'BSON'
  return isOrdered ? ofBytes(cells) : {}
}

function ofNumbers({ values }: PackedNumbers, isDecimal: boolean): Statistics {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return ofWords(values)
  let [least, greatest] = [Infinity, -Infinity]
  // NaN is neither.
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  if (least > greatest) return {}
  // The format asks for zeros that reach both.
  const [from, to] = [least === 0 ? -0 : least, greatest === 0 ? 0 : greatest]
  if (isDecimal) return { min_value: BigInt(from), max_value: BigInt(to) }
  return { min_value: from, max_value: to }
}

/** Numbers of 64 bits, compared by their halves: a bigint for each would be an object for each. */
function ofWords(values: BigInt64Array | BigUint64Array): Statistics {
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length)
  // Turns the order of halves with and without a sign into that of numbers with one.
  const [top, low] = [values instanceof BigUint64Array ? SIGN : 0, SIGN]
  let [least, greatest] = [0, 0]
  const isLess = (one: number, other: number): boolean => {
    const [high, than] = [words[2 * one + 1] ^ top, words[2 * other + 1] ^ top]
    return high === than ? (words[2 * one] ^ low) < (words[2 * other] ^ low) : high < than
  }
  for (let i = 1; i < values.length; i++) {
    if (isLess(i, least)) least = i
    else if (isLess(greatest, i)) greatest = i
  }
  return { min_value: values[least], max_value: values[greatest] }
}

const SIGN = 1 << 31

function ofBytes({ bytes, offsets, rows }: PackedBytes): Statistics {
  let [least, greatest] = [0, 0]
  const compare = (row: number, other: number): number => {
    const [begin, end, start, stop] = [offsets[row], offsets[row + 1], offsets[other], offsets[other + 1]]
    const length = Math.min(end - begin, stop - start)
    for (let i = 0; i < length; i++) {
      const difference = bytes[begin + i] - bytes[start + i]
      if (difference !== 0) return difference
    }
    return end - begin - (stop - start)
  }
  for (let row = 1; row < rows; row++) {
    if (compare(row, least) < 0) least = row
    else if (compare(row, greatest) > 0) greatest = row
  }
  const cell = (row: number): Uint8Array => bytes.slice(offsets[row], offsets[row + 1])
  return { min_value: cell(least), max_value: cell(greatest) }
}
