import type { SchemaElement } from 'hyparquet'
import { type PackedBytes, type PackedNumbers, takePacked } from '../packed.ts'
import { bitsFor } from './parquet-levels.ts'

/** Cells that differ, in the order of their first row, and which of them each row has. */
export interface Dictionary {
  readonly cells: PackedNumbers | PackedBytes
  readonly indices: Int32Array
}

/** Rows that are looked at first; where more than this part of them differ, a dictionary does not pay. */
const SAMPLE = 1000
const DIFFERENT = 0.9
/** Cells that a dictionary has at most. */
const MAX_CELLS = 2 ** 16

/**
 * A dictionary of cells that are all there, where that at least halves their bytes.
 * @param cells numbers as they are stored, or bytes
 */
export function dictionaryOf(cells: PackedNumbers | PackedBytes, { type }: SchemaElement): Dictionary | undefined {
  const { rows } = cells
  if (type === 'BOOLEAN' || type === 'FIXED_LEN_BYTE_ARRAY' || rows < 2) return undefined
  const count = Math.min(rows, SAMPLE)
  const sample = find(cells, count, place => Math.floor((place * (rows - 1)) / (count - 1)), MAX_CELLS)
  if (!sample || sample.firsts.length > DIFFERENT * count) return undefined
  const found = find(cells, rows, row => row, MAX_CELLS)
  if (!found) return undefined
  const different = takePacked(cells, found.firsts) as PackedNumbers | PackedBytes
  const packed = sizeOf(different) + Math.ceil((rows * bitsFor(different.rows - 1)) / 8)
  return 2 * packed > sizeOf(cells) ? undefined : { cells: different, indices: found.indices }
}

const sizeOf = (cells: PackedNumbers | PackedBytes): number =>
  'values' in cells ? cells.values.byteLength : cells.offsets[cells.rows] - cells.offsets[0] + 4 * cells.rows

/** Where the cells that differ stand first, and which of them each has; undefined where there are too many. */
function find(
  cells: PackedNumbers | PackedBytes,
  count: number,
  rowOf: (place: number) => number,
  most: number
): { firsts: number[]; indices: Int32Array } | undefined {
  const { hash, isSame } = 'values' in cells ? keysOfNumbers(cells) : keysOfBytes(cells)
  const limit = Math.min(count, most)
  const bits = bitsFor(2 * limit)
  // Open addressing: a slot has the number of a cell that differs from those before, plus one.
  const slots = new Int32Array(1 << bits)
  const firsts: number[] = []
  const indices = new Int32Array(count)
  for (let place = 0; place < count; place++) {
    const row = rowOf(place)
    let slot = Math.imul(hash(row), 0x9e3779b1) >>> (32 - bits)
    while (slots[slot] !== 0 && !isSame(firsts[slots[slot] - 1], row)) slot = (slot + 1) & (slots.length - 1)
    if (slots[slot] === 0) {
      if (firsts.length === limit) return undefined
      slots[slot] = firsts.push(row)
    }
    indices[place] = slots[slot] - 1
  }
  return { firsts, indices }
}

interface Keys {
  readonly hash: (row: number) => number
  readonly isSame: (row: number, other: number) => boolean
}

/** Numbers are the same where their bits are. */
function keysOfNumbers({ values }: PackedNumbers): Keys {
  const words = new Int32Array(values.buffer, values.byteOffset, values.byteLength / 4)
  if (values.BYTES_PER_ELEMENT === 4)
    return { hash: row => words[row], isSame: (row, other) => words[row] === words[other] }
  return {
    hash: row => words[2 * row] ^ Math.imul(words[2 * row + 1], 0x85ebca6b),
    isSame: (row, other) => words[2 * row] === words[2 * other] && words[2 * row + 1] === words[2 * other + 1]
  }
}

/** The hash is FNV-1a. */
function keysOfBytes({ bytes, offsets }: PackedBytes): Keys {
  return {
    hash(row) {
      let hash = 0x811c9dc5
      for (let at = offsets[row]; at < offsets[row + 1]; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193)
      return hash
    },
    isSame(row, other) {
      const length = offsets[row + 1] - offsets[row]
      if (offsets[other + 1] - offsets[other] !== length) return false
      for (let i = 0; i < length; i++) if (bytes[offsets[row] + i] !== bytes[offsets[other] + i]) return false
      return true
    }
  }
}
