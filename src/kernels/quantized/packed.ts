import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import type { Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix, transposed } from '../matrix/gemm.ts'

// Numbers in blocks of codes, as MatMulNBits, GatherBlockQuantized and QMoE of com.microsoft have them. The codes of a
// row lie one after the other, the first in the lowest bits, and every row begins at a byte. They stay packed: rows are
// decoded a few at a time, when they are needed.

/** Widths of a code: a byte holds whole ones. */
export const CODE_WIDTHS: readonly number[] = [2, 4, 8]

/** Bytes that `count` codes take. */
export const codeBytes = (count: number, bits: number): number => Math.ceil((count * bits) / 8)

/** Code `i` of the row that begins at byte `start`. */
export const codeAt = (codes: Uint8Array, start: number, i: number, bits: number): number =>
  (codes[start + Math.floor((i * bits) / 8)] >> ((i * bits) & 7)) & ((1 << bits) - 1)

/** A matrix whose rows are decoded when they are needed. */
export interface CodedRows {
  readonly rows: number
  readonly columns: number
  /** Writes elements `[from, to)` of a row to `out`, from `at` on. */
  decode(row: number, from: number, to: number, out: Float64Array, at: number): void
}

/** Rows of codes, each block of which has a scale and a zero point: `(code - zero) * scale`. */
export interface BlockRows {
  readonly rows: number
  readonly columns: number
  readonly codes: Uint8Array
  readonly bits: number
  /** Byte at which the first row begins, and bytes from one row to the next. */
  readonly start: number
  readonly rowBytes: number
  readonly blockSize: number
  readonly scaleOf: PerBlock
  readonly zeroOf: PerBlock
  /** Block of each column, where that is not its own: columns that were sorted before they were quantized. */
  readonly blockOf?: Int32Array | undefined
}

/** A number of each block of each row. */
export type PerBlock = (row: number, block: number) => number

/** One number a block, rows of `blocks` one after the other. */
export const numberPerBlock =
  (numbers: Numbers, start: number, blocks: number): PerBlock =>
  (row, block) =>
    numbers[start + row * blocks + block]

/** One code a block, rows of `blocks` each from a byte on. */
export function codePerBlock(codes: Uint8Array, start: number, blocks: number, bits: number): PerBlock {
  const rowBytes = codeBytes(blocks, bits)
  return (row, block) => codeAt(codes, start + row * rowBytes, block, bits)
}

/** The zero point of codes that have none of their own: the middle of their range. */
export function middleOf(bits: number): PerBlock {
  const middle = 2 ** (bits - 1)
  return () => middle
}

/** Decodes {@link BlockRows}. */
export function blockRows(of: BlockRows): CodedRows {
  const { rows, columns, blockSize, scaleOf, zeroOf, blockOf } = of
  return {
    rows,
    columns,
    decode(row, from, to, out, at) {
      const start = of.start + row * of.rowBytes
      if (blockOf) return decodeSorted(of, row, start, from, to, out, at)
      for (let first = from; first < to;) {
        const block = Math.floor(first / blockSize)
        const end = Math.min(to, (block + 1) * blockSize)
        decodeBlock(of, start, first, end, scaleOf(row, block), zeroOf(row, block), out, at + first - from)
        first = end
      }
    }
  }
}

function decodeBlock(
  { codes, bits }: BlockRows,
  start: number,
  from: number,
  to: number,
  scale: number,
  zero: number,
  out: Float64Array,
  at: number
): void {
  const mask = (1 << bits) - 1
  let byte = start + Math.floor((from * bits) / 8)
  let shift = (from * bits) % 8
  for (const end = at + to - from; at < end; at++) {
    out[at] = (((codes[byte] >> shift) & mask) - zero) * scale
    shift += bits
    if (shift === 8) {
      shift = 0
      byte++
    }
  }
}

function decodeSorted(
  { codes, bits, scaleOf, zeroOf, blockOf }: BlockRows,
  row: number,
  start: number,
  from: number,
  to: number,
  out: Float64Array,
  at: number
): void {
  for (let i = from; i < to; i++) {
    const block = blockOf![i]
    out[at++] = (codeAt(codes, start, i, bits) - zeroOf(row, block)) * scaleOf(row, block)
  }
}

/** Elements that are decoded together, so that they stay in the cache, and between two chances to yield. */
const PANEL = 1 << 17
const CHUNK = 1 << 16
/** Nanoseconds that decoding an element takes. Measured: about 10 on a busy machine. */
const COST_OF_CODE = 15

/**
 * `out += a weights^T`, or `out += a weights`, for `m` rows of `a`. Products are summed in double precision, as in
 * {@link gemm}.
 * @param panel room for decoded rows, kept by a caller that multiplies often; see {@link panelFor}
 */
export function* multiplyCoded(
  a: Matrix,
  m: number,
  weights: CodedRows,
  isTransposed: boolean,
  out: Matrix,
  pace: Pace,
  panel = panelFor(weights)
): Generator<void> {
  const { rows, columns } = weights
  const most = Math.max(1, Math.floor(panel.length / Math.max(1, columns)))
  for (let first = 0; m > 0 && first < rows; first += most) {
    const count = Math.min(most, rows - first)
    yield* decodeRows(weights, first, count, panel, pace)
    const right = matrix(panel, 0, columns)
    if (isTransposed) yield* gemm(m, count, columns, a, transposed(right), columnsFrom(out, first), pace)
    else yield* gemm(m, columns, count, columnsFrom(a, first), right, out, pace)
  }
}

const columnsFrom = (of: Matrix, first: number): Matrix => ({ ...of, offset: of.offset + first * of.columnStride })

/** Decodes `count` rows to the start of `panel`. */
function* decodeRows(
  weights: CodedRows,
  first: number,
  count: number,
  panel: Float64Array,
  pace: Pace
): Generator<void> {
  const { columns } = weights
  for (let row = 0; row < count; row++) {
    for (let from = 0; from < columns; from += CHUNK) {
      const to = Math.min(columns, from + CHUNK)
      weights.decode(first + row, from, to, panel, row * columns + from)
      if (pace.isDue((to - from) * COST_OF_CODE)) yield
    }
  }
}

/** Room for some rows of a matrix, at least one. */
export const panelFor = ({ rows, columns }: CodedRows): Float64Array =>
  doubles(Math.min(rows, Math.max(1, Math.floor(PANEL / Math.max(1, columns)))) * columns)
