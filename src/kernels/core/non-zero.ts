import { DTYPES, is64BitInteger, isHalf } from '../../tensor/dtype.ts'
import { halvesOf } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { readNumbers } from './numbers.ts'
import { chunkSize, COST } from './pace.ts'
import { type Positions, positionsArray } from './positions.ts'

/** Elements that are looked at between two yields. */
const CHUNK = chunkSize(COST.element)
/** All bits of a word but the sign of a float, so that -0 is zero; the same of a float of two bytes. */
const MAGNITUDE = 0x7fffffff
const MAGNITUDE_16 = 0x7fff
const ALL = -1

/** Positions in row-major order of the elements that are not zero: numbers, true, texts that are not empty. Yields. */
export function* nonZeroPositions(data: Tensor): Generator<void, Positions> {
  const count = data.data.length / DTYPES[data.type].slots
  const { countIn, find } = yield* scanOf(data)
  let found = 0
  for (let from = 0; from < count; from += CHUNK) {
    found += countIn(from, Math.min(count, from + CHUNK))
    yield
  }
  // One more, into which what follows the last one that is found is written.
  const positions = positionsArray(found + 1, count)
  let next = 0
  for (let from = 0; from < count && next < found; from += CHUNK) {
    next = find(from, Math.min(count, from + CHUNK), positions, next)
    yield
  }
  return positions.subarray(0, found)
}

/** How many elements of a tensor are not zero, without yielding. */
export const countNonZero = (flags: Uint8Array): number => countInBytes(flags, 0, flags.length)

/** Looks at the elements `from <= at < to`. */
interface Scan {
  countIn(from: number, to: number): number
  /** Writes positions from `next` on. @returns where the next one goes */
  find(from: number, to: number, positions: Positions, next: number): number
}

/** Loops of one type of array each, which are several times faster. */
function* scanOf(data: Tensor): Generator<void, Scan> {
  const { type } = data
  const { kind, slots } = DTYPES[type]
  if (kind === 'string' || kind === 'complex')
    return scanOfItems(data.data as ArrayLike<string | number>, slots, kind === 'string' ? '' : 0)
  // By their bits, which need not be widened.
  if (isHalf(type)) return scanOfSingles(data.data as Uint16Array, MAGNITUDE_16)
  const numbers = is64BitInteger(type) ? halvesOf(data) : yield* readNumbers(data)
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT: width } = numbers
  if (width === 1) return scanOfBytes(new Uint8Array(buffer, byteOffset, byteLength))
  if (width === 2) return scanOfSingles(new Uint16Array(buffer, byteOffset, byteLength / 2), ALL)
  const words = new Int32Array(buffer, byteOffset, byteLength / 4)
  if (is64BitInteger(type)) return scanOfPairs(words, ALL)
  if (width === 8) return scanOfPairs(words, MAGNITUDE)
  return scanOfSingles(words, numbers instanceof Float32Array ? MAGNITUDE : ALL)
}

// Every position is written, and the next one over it where the element is zero: nothing is there to be predicted. The
// highest bit of x | -x is set where x is not 0.

const scanOfBytes = (bytes: Uint8Array): Scan => ({
  countIn: (from, to) => countInBytes(bytes, from, to),
  find: (from, to, positions, next) => findInBytes(bytes, from, to, positions, next)
})

function countInBytes(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) count += -bytes[at] >>> 31
  return count
}

function findInBytes(bytes: Uint8Array, from: number, to: number, positions: Positions, next: number): number {
  for (let at = from; at < to; at++) {
    positions[next] = at
    next += -bytes[at] >>> 31
  }
  return next
}

/**
 * Numbers of two or four bytes.
 * @param mask the bits of an element that count
 */
const scanOfSingles = (numbers: Uint16Array | Int32Array, mask: number): Scan => ({
  countIn: (from, to) => countInSingles(numbers, mask, from, to),
  find: (from, to, positions, next) => findInSingles(numbers, mask, from, to, positions, next)
})

function countInSingles(numbers: Uint16Array | Int32Array, mask: number, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const word = numbers[at] & mask
    count += (word | -word) >>> 31
  }
  return count
}

function findInSingles(
  numbers: Uint16Array | Int32Array,
  mask: number,
  from: number,
  to: number,
  positions: Positions,
  next: number
): number {
  for (let at = from; at < to; at++) {
    positions[next] = at
    const word = numbers[at] & mask
    next += (word | -word) >>> 31
  }
  return next
}

/**
 * Elements of two words.
 * @param mask of the last word of each
 */
const scanOfPairs = (words: Int32Array, mask: number): Scan => ({
  countIn: (from, to) => countInPairs(words, mask, from, to),
  find: (from, to, positions, next) => findInPairs(words, mask, from, to, positions, next)
})

function countInPairs(words: Int32Array, mask: number, from: number, to: number): number {
  let count = 0
  for (let at = 2 * from; at < 2 * to; at += 2) {
    const word = words[at] | (words[at + 1] & mask)
    count += (word | -word) >>> 31
  }
  return count
}

function findInPairs(
  words: Int32Array,
  mask: number,
  from: number,
  to: number,
  positions: Positions,
  next: number
): number {
  for (let i = from; i < to; i++) {
    positions[next] = i
    const word = words[2 * i] | (words[2 * i + 1] & mask)
    next += (word | -word) >>> 31
  }
  return next
}

/** @param per numbers or texts of an element, which is zero where all of them are */
function scanOfItems(items: ArrayLike<string | number>, per: number, zero: string | number): Scan {
  const isNonZero = (at: number): boolean => {
    for (let i = per * at; i < per * (at + 1); i++) if (items[i] !== zero) return true
    return false
  }
  return {
    countIn(from, to) {
      let count = 0
      for (let at = from; at < to; at++) count += Number(isNonZero(at))
      return count
    },
    find(from, to, positions, next) {
      for (let at = from; at < to; at++) if (isNonZero(at)) positions[next++] = at
      return next
    }
  }
}
