import { isAscii } from 'node:buffer'
import { NodewiseError } from 'nodewise'

/** Arrays that hold numbers. */
export type Numbers =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array

interface PackedRows {
  readonly rows: number
  /** A byte a row, 0 where the cell is null; undefined where none is. */
  readonly valid?: Uint8Array | undefined
}

/** Numbers one after the other, or bools as 0 and 1. */
export interface PackedNumbers extends PackedRows {
  readonly kind: 'numbers' | 'bools'
  readonly values: Numbers
}

/** Texts in UTF-8, or bytes: those of row i stand from offset i to offset i + 1. */
export interface PackedBytes extends PackedRows {
  readonly kind: 'texts' | 'binary'
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
}

/** Lists: the items of row i stand from offset i to offset i + 1. */
export interface PackedLists extends PackedRows {
  readonly kind: 'lists'
  readonly items: Packed
  readonly offsets: Int32Array
}

/** The cells of a column in few arrays, as Arrow lays them out, without an object for each. */
export type Packed = PackedNumbers | PackedBytes | PackedLists

/** Bytes and items that offsets of 32 bits reach. */
const MAX_OFFSET = 2 ** 31 - 1

/** Rows from `begin` to `end`, as views. */
export function slicePacked(packed: Packed, begin: number, end: number): Packed {
  const rows = end - begin
  const valid = packed.valid?.subarray(begin, end)
  if ('values' in packed) return { kind: packed.kind, rows, valid, values: packed.values.subarray(begin, end) }
  const offsets = packed.offsets.subarray(begin, end + 1)
  return packed.kind === 'lists'
    ? { kind: 'lists', rows, valid, offsets, items: packed.items }
    : { kind: packed.kind, rows, valid, offsets, bytes: packed.bytes }
}

/** Rows by their indices, in that order. */
export function takePacked(packed: Packed, rows: readonly number[]): Packed {
  const valid = packed.valid && Uint8Array.from(rows, row => packed.valid?.[row] ?? 1)
  if ('values' in packed) {
    return { kind: packed.kind, rows: rows.length, valid, values: gather(packed.values, rows) }
  }
  const pieces = rows.map(row => slicePacked(packed, row, row + 1))
  return pieces.length === 0 ? slicePacked(packed, 0, 0) : { ...concatPacked(pieces), valid }
}

/** Numbers by their indices; in words, since numbers of 64 bits are objects when they are taken out. */
export function gather(from: Numbers, indices: ArrayLike<number>): Numbers {
  const count = indices.length
  const all = newNumbers(from, count)
  if (from.BYTES_PER_ELEMENT < 4) {
    for (let i = 0; i < count; i++) all[i] = from[indices[i]]
    return all
  }
  const [words, to] = [wordsOf(from), wordsOf(all)]
  if (from.BYTES_PER_ELEMENT === 4) for (let i = 0; i < count; i++) to[i] = words[indices[i]]
  else
    for (let i = 0; i < count; i++) {
      const at = 2 * indices[i]
      to[2 * i] = words[at]
      to[2 * i + 1] = words[at + 1]
    }
  return all
}

const wordsOf = ({ buffer, byteOffset, byteLength }: Numbers): Int32Array =>
  new Int32Array(buffer, byteOffset, byteLength / 4)

/** An array of the same kind of numbers. */
export const newNumbers = (like: Numbers, length: number): Numbers =>
  new (like.constructor as new (length: number) => Numbers)(length)

/**
 * Rows of several pieces of one kind, one after the other.
 * @throws NodewiseError `limit-exceeded` where they are more than offsets can say
 */
export function concatPacked(pieces: readonly Packed[]): Packed {
  const [first] = pieces
  if (pieces.length === 1) return first
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0)
  const valid = validOf(pieces, rows)
  if ('values' in first) {
    const values = newNumbers(first.values, rows)
    let at = 0
    for (const piece of pieces as readonly PackedNumbers[]) {
      values.set(piece.values as never, at)
      at += piece.rows
    }
    return { kind: first.kind, rows, valid, values }
  }
  const offsets = joinOffsets(pieces as readonly (PackedBytes | PackedLists)[], rows)
  if (first.kind === 'lists')
    return { kind: 'lists', rows, valid, offsets, items: concatPacked((pieces as readonly PackedLists[]).map(itemsOf)) }
  const bytes = new Uint8Array(offsets[rows])
  let at = 0
  for (const piece of pieces as readonly PackedBytes[]) {
    const own = bytesOf(piece)
    bytes.set(own, at)
    at += own.length
  }
  return { kind: first.kind, rows, valid, offsets, bytes }
}

/** The bytes of the rows, and no others. */
export const bytesOf = ({ bytes, offsets, rows }: PackedBytes): Uint8Array => bytes.subarray(offsets[0], offsets[rows])

/** The items of the rows, and no others. */
export const itemsOf = ({ items, offsets, rows }: PackedLists): Packed =>
  offsets[0] === 0 && offsets[rows] === items.rows ? items : slicePacked(items, offsets[0], offsets[rows])

function validOf(pieces: readonly Packed[], rows: number): Uint8Array | undefined {
  if (pieces.every(({ valid }) => !valid)) return undefined
  const all = new Uint8Array(rows).fill(1)
  let at = 0
  for (const piece of pieces) {
    if (piece.valid) all.set(piece.valid, at)
    at += piece.rows
  }
  return all
}

function joinOffsets(pieces: readonly (PackedBytes | PackedLists)[], rows: number): Int32Array {
  const total = pieces.reduce((sum, { offsets, rows: own }) => sum + offsets[own] - offsets[0], 0)
  if (total > MAX_OFFSET)
    throw new NodewiseError('limit-exceeded', `the cells of a column take ${total} bytes in one batch`)
  const all = new Int32Array(rows + 1)
  let [at, base] = [0, 0]
  for (const { offsets, rows: own } of pieces) {
    const shift = base - offsets[0]
    for (let row = 0; row <= own; row++) all[at + row] = offsets[row] + shift
    at += own
    base = all[at]
  }
  return all
}

/** Offsets of rows that all have the same size. */
export function evenOffsets(rows: number, size: number): Int32Array {
  if (rows * size > MAX_OFFSET)
    throw new NodewiseError('limit-exceeded', `${rows} lists of ${size} items are one batch`)
  const offsets = new Int32Array(rows + 1)
  for (let row = 0; row <= rows; row++) offsets[row] = row * size
  return offsets
}

/** The cells, each as a value: null, a number, a boolean, a string, bytes, or an array of those. */
export function cellsOfPacked(packed: Packed): ArrayLike<unknown> {
  const { valid } = packed
  const cells = presentCells(packed)
  if (!valid) return cells
  return Array.from(cells, (cell, row) => (valid[row] === 0 ? null : cell))
}

function presentCells(packed: Packed): ArrayLike<unknown> {
  switch (packed.kind) {
    case 'numbers':
      return packed.values
    case 'bools':
      return Array.from(packed.values as Uint8Array, Boolean)
    case 'texts':
      return textsOf(packed)
    case 'binary':
      return Array.from({ length: packed.rows }, (_, row) =>
        packed.bytes.subarray(packed.offsets[row], packed.offsets[row + 1])
      )
    case 'lists':
      return listsOf(packed)
  }
}

function textsOf(packed: PackedBytes): string[] {
  const { rows, offsets } = packed
  const bytes = bytesOf(packed)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = offsets[0]
  if (!isAscii(text))
    return Array.from({ length: rows }, (_, i) => text.toString('utf8', offsets[i] - start, offsets[i + 1] - start))
  const whole = text.toString('latin1')
  return Array.from({ length: rows }, (_, i) => whole.slice(offsets[i] - start, offsets[i + 1] - start))
}

/** Lists of numbers as typed arrays, save those of bytes, which would be cells of bytes. */
function listsOf({ rows, offsets, items }: PackedLists): unknown[] {
  const cells = cellsOfPacked(items)
  const asArray = Array.isArray(cells) || cells instanceof Uint8Array
  return Array.from({ length: rows }, (_, i) =>
    asArray
      ? Array.prototype.slice.call(cells, offsets[i], offsets[i + 1])
      : (cells as Float32Array).subarray(offsets[i], offsets[i + 1])
  )
}

/** Bytes of a copy from where on a call is faster than a loop. */
export const CALL_BYTES = 48

/** Collects bytes row by row. */
export class BytesBuilder {
  #bytes = new Uint8Array(1024)
  #offsets: Int32Array
  #row = 0
  #length = 0

  constructor(rows: number) {
    this.#offsets = new Int32Array(rows + 1)
  }

  /** Adds the cell of a row. @throws NodewiseError `limit-exceeded` */
  add(from: Uint8Array, begin = 0, end = from.length): void {
    const [start, next] = [this.#length, this.#length + end - begin]
    if (next > this.#bytes.length) this.#grow(next)
    const bytes = this.#bytes
    if (end - begin > CALL_BYTES) bytes.set(from.subarray(begin, end), start)
    else for (let i = begin; i < end; i++) bytes[start + i - begin] = from[i]
    this.#length = next
    this.#offsets[++this.#row] = next
  }

  #grow(length: number): void {
    if (length > MAX_OFFSET) throw new NodewiseError('limit-exceeded', `the cells of a column take ${length} bytes`)
    const larger = new Uint8Array(Math.min(MAX_OFFSET, Math.max(length, 2 * this.#bytes.length)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }

  done(kind: PackedBytes['kind'], valid?: Uint8Array): PackedBytes {
    return {
      kind,
      rows: this.#row,
      valid,
      bytes: this.#bytes.subarray(0, this.#length),
      offsets: this.#offsets.subarray(0, this.#row + 1)
    }
  }
}
