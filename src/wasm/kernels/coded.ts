import { codeBytes } from '../../kernels/quantized/packed.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import type { Remembered } from '../remembered.ts'
import { arrayOf, type BoundJob, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { PANEL, SCRATCH_BYTES } from '../workspace.ts'
import { type Float8, floatPlanes, mantissaOf } from './coded-floats.ts'

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 9
/** Most rows of a block of C: with a depth of 256 they stay in the second cache. */
const MAX_BLOCK_ROWS = 256
/** The same where A is rounded: a thread keeps them for all panels. */
const MAX_ROUNDED_ROWS = 32
/** Most panels of a tile. */
const MAX_TILE = 64
/** Panels that packed rows are multiplied with at once: four streams of four columns. */
const STREAMED = 2
/** Most rows that are multiplied one by one; FEW of ../assembly/coded/product.ts. */
const FEW_ROWS = 4
/** Bytes of a chunk of codes, which one load reads. */
const CHUNK = 16
/** Bytes that could be copied while one weight is widened and multiplied. */
const WORK_OF_WEIGHT = 1.5
/** Longest sums of products of 127 and differences of two codes of 8 bits that surely fit into 32 bits. */
const MAX_ROUNDED_BLOCK = 1 << 15
/** Bits and bytes that arguments of 32 bits can count. */
const MAX_COUNT = 2 ** 32

/** A product with coded weights as far as types and dims determine it: `C[m][n] = A[m][k] W[n][k]^T`. */
export interface CodedProduct {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly bits: number
  /** Codes name values of a table. */
  readonly hasTable?: boolean
  /** Codes are floats of 8 bits. */
  readonly floats?: Float8 | undefined
  /** The first code of a byte lies in its high bits. */
  readonly isHighFirst?: boolean
  /** Codes are signed, and zero points in codes, too. */
  readonly isSigned?: boolean
  readonly rowBytes: number
  /** A may be rounded to integers of 8 bits, in blocks of the weights' size: few rows, and many by codes of 4 bits. */
  readonly mayRound?: boolean
  /** Codes that have a scale in common. */
  readonly blockSize: number
  /** Codes packed as the weights are, rows of so many bits; numbers of the type of the scales; or one for all. */
  readonly zeros:
    | { readonly kind: 'codes'; readonly rowBits: number }
    | { readonly kind: 'numbers' }
    | { readonly kind: 'one'; readonly zero: number }
}

/** The arrays of a product; what is left out the kernel does not read. Codes, scales and zeros may be packed. */
export interface CodedArrays {
  readonly a: NumericArray
  readonly codes: NumericArray
  readonly scales: Tensor
  readonly zeros: NumericArray | undefined
  readonly bias: NumericArray | undefined
  readonly table?: Float32Array
}

/** Types of scales, by their number in CodedArguments. */
const SCALE_TYPES: readonly DType[] = ['float32', 'float16', 'bfloat16']

/** Rows of the first factor, whose last dim is `k`. */
export const rowsOf = (dims: readonly number[]): number => product(dims, 0, dims.length - 1)

/** Whether the kernel computes a product, and faster than the reference. */
export function isServed({ m, n, k, bits, rowBytes, blockSize, zeros }: CodedProduct, scales: DType): boolean {
  const blocks = Math.ceil(k / blockSize)
  const zeroBits = zeros.kind === 'codes' ? n * zeros.rowBits : 0
  return (
    m * n * k >= MIN_MULTIPLICATIONS &&
    SCALE_TYPES.includes(scales) &&
    rowBytes >= codeBytes(k, bits) &&
    Math.max(n * rowBytes, n * blocks, zeroBits, k * bits + 8) < MAX_COUNT
  )
}

/**
 * The job of a product. The arguments are those of CodedArguments in ../assembly/coded/arguments.ts.
 * @param isPacked whether the weights are in the order of nibble-packing.ts
 * @param kept keeps the template of the last call
 */
export function bindCoded(
  found: CodedProduct,
  arrays: CodedArrays,
  isPacked = false,
  kept?: Remembered<JobTemplate>
): BoundJob {
  const { a, codes, scales, zeros, bias, table } = arrays
  // What the kernel does not read must be some array.
  const values = found.floats ? floatPlanes(found.floats) : table
  const inputs = [a, codes, arrayOf(scales), zeros ?? a, bias ?? a, values ?? a]
  const scaleKind = SCALE_TYPES.indexOf(scales.type)
  const hasBias = bias !== undefined
  const make = (): JobTemplate => templateOf(found, scaleKind, hasBias, isPacked)
  return { template: kept ? kept([scaleKind, Number(hasBias), Number(isPacked)], make) : make(), inputs }
}

function templateOf(found: CodedProduct, scaleKind: number, hasBias: boolean, isPacked: boolean): JobTemplate {
  const { m, n, k, bits, hasTable, floats, isHighFirst, isSigned, rowBytes, blockSize, zeros } = found
  const isRounded = isPacked || (bits !== 4 && m <= FEW_ROWS && mayBeRounded(found))
  const rows = Math.min(m, isPacked && m > FEW_ROWS ? MAX_ROUNDED_ROWS : MAX_BLOCK_ROWS)
  const tile = tileOfFlops(2 * rows * k * PANEL, MAX_TILE)
  const sign = hasTable || floats || !isSigned ? 0 : 2 ** (bits - 1)
  return {
    kernel: 'coded',
    blocks: Math.ceil(m / rows) * Math.ceil(n / PANEL),
    blockBytes: rows * PANEL * 4,
    tile: isPacked ? Math.ceil(tile / STREAMED) * STREAMED : tile,
    ...(isPacked && m <= FEW_ROWS && { together: STREAMED }),
    work: Math.max(workOfFlops(2 * m * n * k), WORK_OF_WEIGHT * n * k),
    inputs: staged(6),
    args: [
      m,
      n,
      k,
      rows,
      bits,
      floats ? (mantissaOf(floats) === 3 ? 2 : 3) : Number(hasTable === true),
      Number(isHighFirst === true),
      // The sign bit of each code of a byte.
      (sign * 255) / (2 ** bits - 1),
      rowBytes,
      blockSize,
      Math.ceil(k / blockSize),
      scaleKind,
      ['one', 'codes', 'numbers'].indexOf(zeros.kind),
      // A signed code without its sign is larger by as much.
      sign + (zeros.kind === 'one' ? zeros.zero : 0),
      zeros.kind === 'codes' ? zeros.rowBits : 0,
      Number(hasBias),
      Number(isChunked(found)),
      Number(isRounded)
    ]
  }
}

const mayBeRounded = ({ mayRound, hasTable, floats, blockSize }: CodedProduct): boolean =>
  mayRound === true && !hasTable && !floats && blockSize <= MAX_ROUNDED_BLOCK

/** Whether rows of A are rounded once the weights are packed, and four of them have room in scratch memory. */
export const arePackable = (found: CodedProduct): boolean =>
  found.bits === 4 &&
  mayBeRounded(found) &&
  isChunked(found) &&
  8 * (found.k + CHUNK) + 64 * Math.ceil(found.k / found.blockSize) + 8192 <= SCRATCH_BYTES

/** Whether chunks of 16 bytes are whole: none belongs to two blocks, and none passes the end of a row. */
function isChunked({ k, bits, rowBytes, blockSize }: CodedProduct): boolean {
  const perChunk = (8 * CHUNK) / bits
  const isWhole = blockSize % perChunk === 0 && rowBytes >= Math.ceil(k / perChunk) * CHUNK
  return isWhole && 4 * (k + perChunk + 2 * Math.ceil(k / blockSize)) + 1024 <= SCRATCH_BYTES
}
