import type { Pack, Selection } from '../../op-kit/define.ts'
import type { Activation, FusedParams } from '../../op-kit/fused.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { packMatrix } from '../pack.ts'
import {
  areFloat32,
  arrayOf,
  type Candidate,
  jobKernel,
  selectorFor,
  staged,
  tileOfFlops,
  workOfFlops
} from '../selector.ts'
import { activationArguments } from './elementwise.ts'

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 9
/** Multiplications below which a constant is left as it lies. */
const MIN_PACKED = 1 << 13
/** Loops over matrices that fit into the arguments of a job. */
const MAX_LOOPS = 8
/** Columns of a panel. */
const PANEL = 8
/** Rows of a block: with a depth of 256 they stay in the second cache. A multiple of four, the rows of a strip. */
const MAX_BLOCK_ROWS = 256

/** Matrices of a product: sizes, and steps in bytes. */
export interface Product {
  readonly m: number
  readonly n: number
  readonly k: number
  readonly aRow: number
  readonly aElement: number
  readonly bRow: number
  readonly bColumn: number
  /** Matrices, and loops over them, the innermost first: size, bytes that A and B move by. */
  readonly batches: number
  readonly loops: readonly (readonly [size: number, aStep: number, bStep: number])[]
}

/** What is added to a product: a number a column, a number a row, or a matrix. */
type AdditionKind = 'column' | 'row' | 'matrix'

/** Operands that are added to a product, and the function that is applied last. */
export interface Extras {
  /** Operand that is added to columns or rows. */
  readonly bias?: { readonly operand: string; readonly kind: 'column' | 'row' } | undefined
  /** Operand of the dims of the product. */
  readonly residual?: string | undefined
  readonly activation: Activation | undefined
}

interface Transposes extends Partial<Pick<FusedParams, 'activation'>> {
  readonly transposeA: boolean
  readonly transposeB: boolean
}

/** MatMul and FusedMatMul of float32 with at least two axes each. */
export const selectMatMul = selectorFor<Transposes>(call => {
  const { a, b, bias, residual } = call.operands
  const { transposeA, transposeB, activation } = call.parameters
  const found = a && b && productOf(a.dims, b.dims, transposeA, transposeB)
  return selectProduct(call, found, {
    bias: bias && { operand: 'bias', kind: 'column' },
    residual: residual && 'residual',
    activation
  })
})

/** Gemm and FusedGemm of float32 without scaling. */
export const selectGemm = selectorFor<Transposes & { readonly alpha: number; readonly beta: number }>(call => {
  const { a, b, c } = call.operands
  const p = call.parameters
  if (a === undefined || b === undefined || p.alpha !== 1) return undefined
  const found = productOf(a.dims, b.dims, p.transposeA, p.transposeB)
  const added = p.beta === 0 ? undefined : c
  const kind = added && found && kindOf(added.dims, found.m, found.n)
  if (added && (p.beta !== 1 || kind === undefined)) return undefined
  return selectProduct(call, found, {
    bias: kind === 'column' || kind === 'row' ? { operand: 'c', kind } : undefined,
    residual: kind === 'matrix' ? 'c' : undefined,
    activation: p.activation
  })
})

function selectProduct(
  { op, operands }: Candidate<unknown>,
  found: Product | undefined,
  extras: Extras
): Selection | undefined {
  if (found === undefined || !areFloat32(operands)) return undefined
  const { m, n, k, batches } = found
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  const plain = productTemplate(found, extras, false)
  const packed = productTemplate(found, extras, true)
  const names = [extras.bias?.operand, extras.residual]
  const kernel = jobKernel(op, (given, packs) => {
    const first = arrayOf(given.a!)
    const second = arrayOf(packs?.b ?? given.b!)
    const added = names.map(name => (name === undefined ? first : arrayOf(given[name]!)))
    return { template: packs?.b ? packed : plain, inputs: [first, second, ...added] }
  })
  return batches * m * n * k < MIN_PACKED ? { kernel } : { kernel, pack: packSecond }
}

/**
 * Sizes and steps of a product by the rules of NumPy's `matmul`.
 * @returns undefined for lists of numbers, products without elements, and more loops than arguments have room for
 */
export function productOf(
  aDims: readonly number[],
  bDims: readonly number[],
  transposeA: boolean,
  transposeB: boolean
): Product | undefined {
  if (aDims.length < 2 || bDims.length < 2) return undefined
  const [aRows, aColumns] = aDims.slice(-2)
  const [bRows, bColumns] = bDims.slice(-2)
  const [m, k] = transposeA ? [aColumns, aRows] : [aRows, aColumns]
  const n = transposeB ? bRows : bColumns
  const steps = {
    aRow: transposeA ? 4 : aColumns * 4,
    aElement: transposeA ? aColumns * 4 : 4,
    bRow: transposeB ? 4 : bColumns * 4,
    bColumn: transposeB ? bColumns * 4 : 4
  }
  const aBatch = product(aDims, 0, aDims.length - 2)
  // Matrices that share B are one matrix with more rows.
  if (product(bDims, 0, bDims.length - 2) === 1 && !transposeA) {
    return m * aBatch * n === 0 ? undefined : { m: m * aBatch, n, k, ...steps, batches: 1, loops: [] }
  }
  const loops = loopsOf(aDims, bDims)
  const batches = loops.reduce((count, [size]) => count * size, 1)
  return m * n * batches === 0 || loops.length > MAX_LOOPS ? undefined : { m, n, k, ...steps, batches, loops }
}

function loopsOf(aDims: readonly number[], bDims: readonly number[]): [number, number, number][] {
  const loops: [number, number, number][] = []
  let aStep = product(aDims.slice(-2)) * 4
  let bStep = product(bDims.slice(-2)) * 4
  for (let i = 3; i <= Math.max(aDims.length, bDims.length); i++) {
    const aDim = aDims[aDims.length - i] ?? 1
    const bDim = bDims[bDims.length - i] ?? 1
    const size = aDim === 1 ? bDim : aDim
    if (size !== 1) loops.push([size, aDim === 1 ? 0 : aStep, bDim === 1 ? 0 : bStep])
    aStep *= aDim
    bStep *= bDim
  }
  return loops
}

/** How something is added to a product; undefined where the kernel cannot. */
function kindOf(dims: readonly number[], m: number, n: number): AdditionKind | undefined {
  const [rows = 1, columns = 1] = dims.length === 2 ? dims : [1, dims[0]]
  if (dims.length > 2) return undefined
  if (rows === m && columns === n) return 'matrix'
  if (rows === 1 && columns === n) return 'column'
  return rows === m && columns === 1 ? 'row' : undefined
}

/** The arguments are those of MatrixArguments in ../assembly/f32/matrix.ts. */
export function productTemplate(
  found: Product,
  { bias, residual, activation }: Extras,
  isPacked: boolean
): JobTemplate {
  const { m, n, k, aRow, aElement, bRow, bColumn, batches, loops } = found
  const rows = Math.min(m, MAX_BLOCK_ROWS)
  const flopsPerBlock = 2 * rows * k * PANEL
  const blocks = batches * Math.ceil(m / rows) * Math.ceil(n / PANEL)
  return {
    kernel: 'matrix',
    blocks,
    blockBytes: rows * PANEL * 4,
    tile: rows < 4 ? tileOfFlops(flopsPerBlock, 96) : tileOfFlops(flopsPerBlock, 64),
    // Few rows take the time in which B is read.
    work: Math.max(workOfFlops(2 * batches * m * n * k), 4 * batches * n * k),
    inputs: staged(4),
    outputStaging: 'whole',
    args: [
      bias === undefined ? 0 : bias.kind === 'column' ? 1 : 2,
      Number(residual !== undefined),
      m,
      n,
      k,
      rows,
      aRow,
      aElement,
      aRow * 4,
      isPacked ? 0 : bRow,
      isPacked ? 0 : bColumn,
      ...activationArguments(activation),
      loops.length,
      ...loops.flat()
    ]
  }
}

/** Puts a constant second factor, one matrix, into panels. */
const packSecond: Pack = function* ({ b }, { transposeB }, context) {
  if (b === undefined || b.type !== 'float32' || product(b.dims, 0, b.dims.length - 2) !== 1) return undefined
  const [rows, columns] = b.dims.slice(-2)
  const packed = transposeB
    ? yield* packMatrix(b, { k: columns, n: rows, rowStep: 4, columnStep: columns * 4 }, context)
    : yield* packMatrix(b, { k: rows, n: columns, rowStep: columns * 4, columnStep: 4 }, context)
  return packed && { b: packed }
}
