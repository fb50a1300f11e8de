import { asDoubles } from '../../kernels/quantized/integer-product.ts'
import type { Op, Pack, Packed } from '../../op-kit/define.ts'
import type { Activation } from '../../op-kit/fused.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import { namedPack } from '../../op-kit/packs.ts'
import { convert } from '../../tensor/convert.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { DOT_BYTES, DOT_KINDS, DOT_STRIP, dotKind } from '../dots.ts'
import type { JobTemplate } from '../jobs.ts'
import { packByJob, panelsJob } from '../pack.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, type BoundJob, staged, type TensorOperands, tileOfFlops, workOfFlops } from '../selector.ts'
import { PANEL, SCRATCH_BYTES } from '../workspace.ts'
import { activationArguments } from './elementwise.ts'
import { type Product, productOf } from './matrix.ts'

/** Multiplications below which setting a job up costs more than it gains. */
export const MIN_MULTIPLICATIONS = 1 << 3
/** Longest sums: those of products of the largest differences of bytes, 255 x 255, still fit into int32. */
export const MAX_DEPTH = 33025
/** Most rows of a block, which reads B once, and most bytes of them once they are widened. */
const MAX_BLOCK = { rows: 128, bytes: 1 << 20 }
/** Rows that are widened and computed together. */
const STRIP = 4
/** Fewest rows and depth of a block for Strassen's algorithm; below, what seven products save goes into additions. */
const MIN_STRASSEN = { rows: 64, depth: 256 }
/** Scratch memory before what depends on the depth, as in ../assembly/int8/product.ts. */
const BEFORE = 14336 + 512 + 16384 + 128
/** Products that dot products of four bytes make in the time of one of int16. */
const DOTS_PER_PRODUCT = 2.5
/** Fewest and most panels of a tile where one thread computes all; threads that share a product take fewer. */
const MIN_PANELS = 24
const MAX_PANELS = 32
/** What turns a code of uint8 into one of int8, and back. */
export const FLIP = 128

/** A product of bytes as far as types and dims determine it. */
export interface ByteProduct {
  readonly found: Product
  readonly isSigned: boolean
  readonly flip: number
  readonly transposeB: boolean
}

/** What is done with the exact sums; lists have an element for each column, or one for all. */
export interface Finish {
  readonly aZero: Tensor | undefined
  readonly bZero: Tensor | undefined
  /** Scales by which sums are multiplied in this order; none where sums are the result. */
  readonly scales?: { readonly a: Tensor; readonly b: Tensor; readonly alpha?: number }
  /** int32, added to the sums. */
  readonly added?: Tensor | undefined
  /** Added to what is scaled. */
  readonly bias?: Tensor | undefined
  /** Quantization of the result. */
  readonly scale?: Tensor | undefined
  readonly zero?: Tensor | undefined
  /** Applied to float32 last. */
  readonly activation?: Activation | undefined
}

/** Whether elements are 8-bit integers. */
export const isByte = (type: DType | undefined): boolean => type === 'uint8' || type === 'int8'

/**
 * A product of two tensors of bytes with at least two axes each; undefined where the kernel cannot compute it, or not
 * faster.
 */
export function byteProductOf(
  a: Pick<Tensor, 'type' | 'dims'>,
  b: Pick<Tensor, 'type' | 'dims'>,
  transposes = { transposeA: false, transposeB: false }
): ByteProduct | undefined {
  if (!isByte(a.type) || !isByte(b.type) || a.dims.length < 2 || b.dims.length < 2) return undefined
  const found = productOf(a.dims, b.dims, transposes)
  if (found === undefined || found.k > MAX_DEPTH) return undefined
  if (found.batches * found.m * found.n * found.k < MIN_MULTIPLICATIONS) return undefined
  const flip = b.type === 'uint8' ? FLIP : 0
  return { found, isSigned: a.type === 'int8', flip, transposeB: transposes.transposeB }
}

/** Whether there is one for all columns, or a list with one for each; also where it is left out. */
export const isOfColumns = (list: Tensor | undefined, columns: number): boolean =>
  list === undefined || isSingle(list) || (list.dims.length === 1 && list.dims[0] === columns)

/** Whether there is one for all, or it is left out. */
export const isSingle = (tensor: Tensor | undefined): boolean => tensor === undefined || product(tensor.dims) === 1

/** The element types of results, by their number in ByteProductArguments. */
export const RESULTS: readonly DType[] = ['int32', 'float32', 'uint8', 'int8']

/** What a step keeps of its job from run to run. */
export const productMemory = () => ({ templateFor: remembered<JobTemplate>() })

/** The factors of a product, and what has been packed of it by {@link packProduct}. */
interface Factors {
  readonly a: Tensor
  readonly b: Tensor
  readonly packs: Packed | undefined
}

/**
 * The job of a product. The arguments are those of ByteProductArguments in ../assembly/int8/product.ts.
 * @param type of the result: int32, or with scales float32, or with a quantization uint8 or int8
 */
export function bindByteProduct(
  { found, isSigned, flip }: ByteProduct,
  { a, b, packs }: Factors,
  type: DType,
  finish: Finish,
  { templateFor }: ReturnType<typeof productMemory>
): BoundJob {
  const { n } = found
  const listed = packs?.integers
  const integers = listed ? (listed.data as Int32Array) : integersOf(finish, n, flip)
  const hasZeros = listed ? integers.length > 1 : integers.subarray(0, n).some(zero => zero !== 0)
  const options = [
    RESULTS.indexOf(type),
    Number(isSigned),
    flip,
    Number(hasZeros),
    Number(finish.added !== undefined),
    Number(finish.bias !== undefined)
  ]
  const packed = packs === undefined ? 'no' : packs.b.dims[3] === DOT_BYTES ? 'fours' : 'pairs'
  const first = arrayOf(a)
  const { scales, aZero } = finish
  const numbers = packs?.numbers ? arrayOf(packs.numbers) : scales ? numbersOf(finish, scales, n) : first
  return {
    template: templateFor([...options, packed === 'no' ? 0 : packed === 'pairs' ? 1 : 2], () =>
      templateOf(found, packed, options, activationArguments(finish.activation))
    ),
    // What the kernel does not read must be some array.
    inputs: [
      first,
      arrayOf(packs?.b ?? b),
      hasZeros || finish.added ? integers : first,
      numbers,
      scales ? floatOf(scales.a) : first,
      aZero ? arrayOf(aZero) : NO_ZERO
    ]
  }
}

/**
 * @param options the arguments before the sizes
 * @param activation those of a function
 */
function templateOf(
  found: Product,
  packed: 'no' | 'pairs' | 'fours',
  options: readonly number[],
  activation: readonly number[]
): JobTemplate {
  const { m, n, k, batches, loops } = found
  const byDots = packed === 'fours'
  const strassenRows = packed === 'pairs' ? strassenRowsOf(m, k) : undefined
  const rows = strassenRows ?? (byDots ? dotRowsOf(m, k) : rowsOf(m, k))
  const speed = byDots ? DOTS_PER_PRODUCT : 1
  const allPanels = Math.ceil(n / PANEL)
  const most = Math.max(MIN_PANELS, tileOfFlops((2 * rows * k * PANEL) / speed, MAX_PANELS))
  // Strassen's algorithm takes two panels at a time.
  const panels = strassenRows === undefined ? 1 : 2
  return {
    kernel: 'byteProduct',
    blocks: batches * Math.ceil(m / rows) * Math.ceil(allPanels / panels),
    blockBytes: rows * panels * PANEL * 4,
    tile: Math.ceil(allPanels / Math.ceil(allPanels / most) / panels),
    // Few rows take the time in which B is read.
    work: Math.max(workOfFlops((batches * m * n * k) / speed), batches * n * k),
    inputs: staged(6),
    args: [
      ...options,
      m,
      n,
      k,
      Number(strassenRows !== undefined),
      byDots ? DOT_KINDS[dotKind()] : 0,
      rows,
      panels,
      // Steps of a product are those of elements of four bytes.
      found.aRow / 4,
      found.aElement / 4,
      packed !== 'no' ? 0 : found.bRow / 4,
      packed !== 'no' ? 0 : found.bColumn / 4,
      ...activation,
      loops.length,
      ...loops.flatMap(([size, aStep, bStep]) => [size, aStep / 4, bStep / 4])
    ]
  }
}

/** Rows of a block: as many in each. */
function rowsOf(m: number, k: number): number {
  if (m < STRIP) return m
  const strips = Math.ceil(m / STRIP)
  const widest = Math.max(1, Math.floor(MAX_BLOCK.bytes / (2 * STRIP * (k + 1))))
  const blocks = Math.ceil(strips / Math.min(MAX_BLOCK.rows / STRIP, widest))
  return Math.min(m, STRIP * Math.ceil(strips / blocks))
}

/** Rows of a block for dot products of four bytes. */
function dotRowsOf(m: number, k: number): number {
  const blocks = Math.ceil(m / Math.min(MAX_BLOCK.rows, Math.floor(MAX_BLOCK.bytes / (k + DOT_BYTES))))
  return Math.min(m, DOT_STRIP * Math.ceil(m / blocks / DOT_STRIP))
}

/** Rows of a block for Strassen's algorithm (../assembly/int8/strassen.ts); undefined where it does not pay. */
function strassenRowsOf(m: number, k: number): number | undefined {
  if (k % 4 !== 0 || k < MIN_STRASSEN.depth) return undefined
  // Seven quarters of eight rows.
  const eights = Math.ceil(m / 8)
  const widest = Math.floor((SCRATCH_BYTES - BEFORE - PANEL * k) / (7 * STRIP * k))
  const rows = 8 * Math.ceil(eights / Math.ceil(eights / Math.min(MAX_BLOCK.rows / 8, Math.max(1, widest))))
  return Math.min(m, rows) < MIN_STRASSEN.rows ? undefined : Math.min(m, rows)
}

const columnsOf = (n: number): number => Math.ceil(n / PANEL) * PANEL

const NO_ZERO = new Uint8Array(1)

/** A number of some float type as float32, which has all of those that scales are of. */
const floatOf = (scale: Tensor): NumericArray =>
  scale.type === 'float32' ? arrayOf(scale) : Float32Array.of(firstOf(scale))

const firstOf = (tensor: Tensor): number =>
  tensor.type === 'float32' ? tensor.data[0] : convert(tensor, 'float64').data[0]

/** Zero points of the columns as the kernel wants them, and what is added to sums. */
function integersOf({ bZero, added }: Finish, n: number, flip: number): Int32Array {
  const columns = columnsOf(n)
  const integers = new Int32Array(added ? 2 * columns : columns)
  const zeros = bZero && (bZero.data as Uint8Array)
  for (let i = 0; i < n; i++) integers[i] = (zeros === undefined ? 0 : zeros[zeros.length === 1 ? 0 : i]) - flip
  if (added) spread(added.data as Int32Array, integers.subarray(columns, columns + n))
  return integers
}

/** Scales of columns and biases as the kernel reads them. */
function numbersOf(
  { bias, scale, zero }: Finish,
  { b, alpha = 1 }: Pick<NonNullable<Finish['scales']>, 'b' | 'alpha'>,
  n: number
): Float64Array {
  const columns = columnsOf(n)
  const numbers = new Float64Array(3 + (bias ? 2 : 1) * columns)
  numbers.set([alpha, scale ? firstOf(scale) : 1, zero ? firstOf(zero) : 0])
  spread(asDoubles(b).data, numbers.subarray(3, 3 + n))
  if (bias) spread(asDoubles(bias).data, numbers.subarray(3 + columns, 3 + columns + n))
  return numbers
}

/** Writes a list with an element for each column or channel, or one for all. */
export function spread(list: ArrayLike<number>, to: Int32Array | Float64Array): void {
  if (list.length === 1) to.fill(list[0])
  else to.set(list)
}

/**
 * Packs a constant second factor, and, where all that goes into them is constant, the lists of the columns: `integers`,
 * one number where there is nothing to add or to subtract, and `numbers`.
 * @param names operands whose elements are in the lists
 */
export function packProduct(
  { name }: Op,
  found: ByteProduct,
  names: readonly string[],
  finishOf: (given: TensorOperands) => Finish
): Pack {
  // Sizes follow from the constant; where the second factor is none, nothing is packed.
  return namedPack([name, found.flip, found.transposeB, ...names].join(' '), function* (given, _, context) {
    const packed = yield* packBytes(found, given, context)
    if (packed === undefined || !names.every(name => name in given)) return packed
    const finish = finishOf(Object.fromEntries(names.map(name => [name, given[name]])))
    const list = integersOf(finish, found.found.n, found.flip)
    const integers = context.allocate('int32', [list.some(integer => integer !== 0) || finish.added ? list.length : 1])
    const target = integers.data as Int32Array
    target.set(list.subarray(0, target.length))
    if (!('bScale' in given)) return { ...packed, integers }
    const own = numbersOf(finish, { ...finish.scales, b: given.bScale }, found.found.n)
    const numbers = context.allocate('float64', [own.length])
    const all = numbers.data as Float64Array
    all.set(own)
    return { ...packed, integers, numbers }
  })
}

/** Puts a constant second factor, one matrix of bytes, into panels. */
function* packBytes(
  { found, flip, transposeB }: ByteProduct,
  { b }: TensorOperands,
  context: PackContext
): Generator<void, { readonly b: Tensor } | undefined> {
  if (b === undefined || !isByte(b.type) || product(b.dims, 0, b.dims.length - 2) !== 1) return undefined
  const { k, n } = found
  const [rowStep, columnStep] = transposeB ? [1, k] : [n, 1]
  const byDots = dotKind() !== 'none'
  const job = panelsJob({ k, n, rowStep, columnStep }, 'packBytePanels', [flip, Number(byDots)])
  // The sums of the columns of a panel lie behind it, as long as four of its rows.
  const panels = byDots
    ? context.allocate('int8', [job.blocks, Math.ceil(k / DOT_BYTES) + 1, PANEL, DOT_BYTES])
    : context.allocate('int8', [job.blocks, Math.ceil(k / 2), PANEL, 2])
  const packed = yield* packByJob(job, [b], panels, context.threads)
  return packed && { b: packed }
}
