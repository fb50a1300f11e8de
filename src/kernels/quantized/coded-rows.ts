import type { Numbers } from '../../tensor/elements.ts'
import { type CodedFloat, type Codes, decodeFloat, widen } from '../../tensor/floats.ts'
import { codeAt, type CodedRows, type PerBlock } from './packed.ts'

/** The values of NF4 codes, quantiles of the normal distribution, as bitsandbytes has them. */
export const NF4: Float64Array = Float64Array.from({ length: 16 }, (_, code) => decodeFloat('nf4', code))

const FP4_MAGNITUDES = [0, 0.0052083333, 0.6666667, 1, 0.3333333, 0.5, 0.1666667, 0.25].map(Math.fround)
/** The values of FP4 codes as bitsandbytes has them; the highest bit is the sign. */
export const FP4: Float64Array = Float64Array.from([...FP4_MAGNITUDES, ...FP4_MAGNITUDES.map(value => -value)])

/**
 * A matrix that bitsandbytes has quantized: one run of 4-bit codes for all rows, the first of a byte in its high bits,
 * in blocks that run on from row to row.
 */
export function bnb4Rows(
  codes: Uint8Array,
  table: Float64Array,
  scales: Numbers,
  rows: number,
  columns: number,
  blockSize: number
): CodedRows {
  return {
    rows,
    columns,
    decode(row, from, to, out, at) {
      const end = row * columns + to
      for (let i = row * columns + from; i < end; i++) {
        const byte = codes[Math.floor(i / 2)]
        out[at++] = table[i % 2 === 0 ? byte >> 4 : byte & 15] * scales[Math.floor(i / blockSize)]
      }
    }
  }
}

/** Codes of a block of MLAS, the linear algebra of ONNX Runtime. */
const MLAS_BLOCK = 32

/** Bytes of a row of `columns` codes as MLAS packs it: each block has a float32 scale, then a zero point or none. */
export const mlasRowBytes = (columns: number, hasZeros: boolean): number =>
  Math.ceil(columns / MLAS_BLOCK) * (MLAS_BLOCK / 2 + 4 + Number(hasZeros))

/**
 * A matrix that MLAS has packed. In the bytes of a block the first half of its codes are the low bits, the second half
 * the high bits; blocks without a zero point have 8.
 */
export function mlasRows(bytes: Uint8Array, hasZeros: boolean, rows: number, columns: number): CodedRows {
  const half = MLAS_BLOCK / 2
  const rowBytes = mlasRowBytes(columns, hasZeros)
  const blockBytes = mlasRowBytes(MLAS_BLOCK, hasZeros)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    rows,
    columns,
    decode(row, from, to, out, at) {
      for (let first = from; first < to;) {
        const block = Math.floor(first / MLAS_BLOCK)
        const start = row * rowBytes + block * blockBytes
        const scale = view.getFloat32(start, true)
        const zero = hasZeros ? bytes[start + 4] : 8
        const codes = start + blockBytes - half
        const end = Math.min(to, (block + 1) * MLAS_BLOCK)
        for (let i = first; i < end; i++) {
          const byte = bytes[codes + (i % half)]
          out[at++] = ((i % MLAS_BLOCK < half ? byte & 15 : byte >> 4) - zero) * scale
        }
        first = end
      }
    }
  }
}

/** A matrix of coded floats, such as float16, that begins at `start`; `scale` multiplies all. */
export const floatRows = (
  type: CodedFloat,
  codes: Codes,
  start: number,
  rows: number,
  columns: number,
  scale = 1
): CodedRows => ({
  rows,
  columns,
  decode(row, from, to, out, at) {
    const first = start + row * columns
    const numbers = widen(type, codes.subarray(first + from, first + to))
    for (let i = 0; i < numbers.length; i++) out[at + i] = numbers[i] * scale
  }
})

/** Rows of codes that stand for values, each block of which has a scale and a zero point; rows begin at bytes. */
export interface NamedRows {
  readonly rows: number
  readonly columns: number
  readonly codes: Uint8Array
  readonly bits: number
  /** What each code stands for. */
  readonly values: readonly number[]
  readonly blockSize: number
  readonly scaleOf: PerBlock
  readonly zeroOf: PerBlock
}

/** A matrix `(value of the code - zero) * scale`. */
export function namedRows({ rows, columns, codes, bits, values, blockSize, scaleOf, zeroOf }: NamedRows): CodedRows {
  const rowBytes = (columns * bits) / 8
  return {
    rows,
    columns,
    decode(row, from, to, out, at) {
      for (let first = from; first < to;) {
        const block = Math.floor(first / blockSize)
        const [scale, zero] = [scaleOf(row, block), zeroOf(row, block)]
        const end = Math.min(to, (block + 1) * blockSize)
        for (let i = first; i < end; i++) out[at++] = (values[codeAt(codes, row * rowBytes, i, bits)] - zero) * scale
        first = end
      }
    }
  }
}
