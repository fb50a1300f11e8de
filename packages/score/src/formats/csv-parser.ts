import { isUtf8 } from 'node:buffer'
import { NodewiseError } from 'nodewise'
import { BytesBuilder, type PackedBytes } from '../packed.ts'

const [COMMA, QUOTE, LF, CR] = [0x2c, 0x22, 0x0a, 0x0d]
/** Bytes that one row may take. */
const MAX_ROW_BYTES = 2 ** 26

/** Rows of CSV, column by column; texts in UTF-8. */
export type CsvRows = readonly PackedBytes[]

/**
 * Takes CSV (RFC 4180) apart: rows end with a line feed, with or without a carriage return before it; empty rows are
 * none, and a byte order mark is no text.
 */
export class CsvParser {
  #rest: Uint8Array = new Uint8Array(0)
  #row = 0
  #width = 0
  #isFirst = true
  /** Where the cells of a row begin and end, and whether quotes stand in them. */
  readonly #cells: number[] = []

  /**
   * The rows of a piece of the file, with what was left of those before, each told to `take`.
   * @throws NodewiseError `invalid-file` for quotes that stand wrong, a row with more or fewer cells than the first,
   *   and bytes that are no UTF-8; `limit-exceeded` for a row without end
   */
  parse(piece: Uint8Array, isLast: boolean, take: (bytes: Uint8Array, cells: readonly number[]) => void): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const hasMark = this.#isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    let at = hasMark ? 3 : 0
    while (at < bytes.length) {
      const end = this.#readRow(bytes, at, isLast)
      if (end < 0) break
      this.#isFirst = false
      const isEmpty = this.#cells.length === 3 && this.#cells[0] === this.#cells[1] && this.#cells[2] === 0
      if (!isEmpty) {
        this.#check()
        take(bytes, this.#cells)
      }
      at = end
    }
    if (!isUtf8(bytes.subarray(0, at))) throw new NodewiseError('invalid-file', 'the text is not in UTF-8')
    this.#rest = bytes.slice(this.#isFirst ? 0 : at)
    if (this.#rest.length > MAX_ROW_BYTES)
      throw new NodewiseError('limit-exceeded', `a row takes more than ${MAX_ROW_BYTES} bytes; is a quote not closed?`)
  }

  #check(): void {
    const width = this.#cells.length / 3
    if (this.#width === 0) this.#width = width
    if (width !== this.#width)
      throw new NodewiseError(
        'invalid-file',
        `record ${this.#row + 1} of CSV has ${width} cells, where the first has ${this.#width}`
      )
    this.#row++
  }

  /** Finds the cells of a row. @returns where the next begins, or -1 where the row does not end */
  #readRow(bytes: Uint8Array, begin: number, isLast: boolean): number {
    const cells = this.#cells
    cells.length = 0
    let at = begin
    for (;;) {
      const start = at
      let quoted = 0
      if (bytes[at] === QUOTE) {
        quoted = 1
        for (at++; ; at++) {
          at = bytes.indexOf(QUOTE, at)
          if (at < 0) return isLast ? this.#wrong('a quote is not closed') : -1
          if (bytes[at + 1] !== QUOTE) break
          quoted = 2
          at++
        }
        at++
        if (at >= bytes.length && !isLast) return -1
        cells.push(start + 1, at - 1, quoted)
        const next = bytes[at]
        const ends = at >= bytes.length || next === COMMA || next === LF || (next === CR && bytes[at + 1] === LF)
        if (!ends && !(next === CR && at + 1 >= bytes.length)) this.#wrong('more stands behind a closing quote')
      } else {
        for (; at < bytes.length; at++) {
          const byte = bytes[at]
          if (byte === COMMA || byte === LF) break
          if (byte === QUOTE) this.#wrong('a quote stands within a cell that is not quoted')
        }
        if (at >= bytes.length && !isLast) return -1
        const isReturn = at > start && bytes[at - 1] === CR && bytes[at] !== COMMA
        cells.push(start, isReturn ? at - 1 : at, 0)
      }
      if (bytes[at] === CR) at++
      if (at >= bytes.length) return isLast ? at : -1
      if (bytes[at++] === LF) return at
    }
  }

  #wrong(why: string): never {
    throw new NodewiseError('invalid-file', `record ${this.#row + 1} of CSV: ${why}`)
  }
}

/** The text of a cell. */
export const textOfCell = (bytes: Uint8Array, begin: number, end: number, quoted: number): string =>
  Buffer.from(quoted === 2 ? unquoted(bytes, begin, end) : bytes.subarray(begin, end)).toString()

/** Collects rows column by column. */
export class CsvColumns {
  readonly #builders: readonly BytesBuilder[]
  rows = 0

  constructor(columns: number, rows: number) {
    this.#builders = Array.from({ length: columns }, () => new BytesBuilder(rows))
  }

  add(bytes: Uint8Array, cells: readonly number[]): void {
    for (let i = 0, at = 0; i < this.#builders.length; i++, at += 3) {
      const [begin, end] = [cells[at], cells[at + 1]]
      if (cells[at + 2] === 2) {
        const plain = unquoted(bytes, begin, end)
        this.#builders[i].add(plain, 0, plain.length)
      } else this.#builders[i].add(bytes, begin, end)
    }
    this.rows++
  }

  done(): CsvRows {
    return this.#builders.map(builder => builder.done('texts'))
  }
}

/** Two quotes in a cell are one. */
function unquoted(bytes: Uint8Array, begin: number, end: number): Uint8Array {
  const out: number[] = []
  for (let at = begin; at < end; at++) {
    out.push(bytes[at])
    if (bytes[at] === QUOTE) at++
  }
  return Uint8Array.from(out)
}
