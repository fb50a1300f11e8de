import type { Pack, Parameters, Selection } from '../../op-kit/define.ts'
import type { Activation, FusedParams } from '../../op-kit/fused.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { unreadTensor } from '../../tensor/unread.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { narrowTypeOf, packNarrow } from '../pack-narrow.ts'
import { packMatrix } from '../pack.ts'
import {
  areFloat32,
  arrayOf,
  type Candidate,
  floatBits,
  jobKernel,
  selectorFor,
  staged,
  tileOfFlops,
  workOfFlops
} from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { EDGE, PANEL, SCRATCH_BYTES } from '../workspace.ts'
import { activationArguments, binaryTemplate } from './elementwise.ts'

/** Multiplications below which setting a job up costs more than it gains. */
export const MIN_MULTIPLICATIONS = 1 << 5
/** Multiplications below which a constant is left as it lies. */
const MIN_PACKED = 1 << 13
/** Loops over matrices that fit into the arguments of a job. */
export const MAX_LOOPS = 8
/** Rows of a block: with a depth of 256 they stay in the second cache. A multiple of four, the rows of a strip. */
const MAX_BLOCK_ROWS = 256
/** Depth from which on fewer rows do, lest a tile take long. */
const DEEP = 1024
/**
 * Fewest and most blocks of a tile where one thread computes all, and the flops of a tile between them: rows of A are
 * put into strips once for all of a tile. Threads that share a product take fewer.
 */
const TILE = { least: 16, most: 64, flops: 1.5e8 }
/** Fewest rows that are put into strips. */
const MIN_STRIPS = 5
/** Fewest rows, columns and depth for Strassen's algorithm; below, what it saves goes into additions. */
const MIN_STRASSEN = { rows: 64, columns: 64, depth: 384 }
/** Greatest depth of a slab of it, whose sums are half as deep: rounding errors grow with the depth of a sum. */
const MAX_SLAB = 256
/** Bytes of what is known of the slabs; see ../assembly/f32/strassen.ts. */
const EVEN_BYTES = 64

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
  /** Scales the product before anything is added; 1 where left out. */
  readonly alpha?: number
  /** Operand that is added to columns or rows. */
  readonly bias?: { readonly operand: string; readonly kind: 'column' | 'row' } | undefined
  /** Operand of the dims of the product. */
  readonly residual?: string | undefined
  readonly activation: Activation | undefined
}

interface Transposes {
  readonly transposeA: boolean
  readonly transposeB: boolean
  /** Whether dim 0 of a factor is moved to the place before its last one, before it is transposed. */
  readonly movesA?: boolean
  readonly movesB?: boolean
}

export interface ProductParams extends Transposes, Partial<Pick<FusedParams, 'activation'>> {
  readonly alpha: number
}

/** MatMul and FusedMatMul of float32. */
export const selectMatMul = selectorFor<ProductParams>(call => {
  const { a, b, bias, residual } = call.operands
  const { alpha, activation } = call.parameters
  // Of a product by a list, what is added to the last axis is added to rows.
  if (activation === 'other' || (bias && b?.dims.length === 1)) return undefined
  const found = a && b && productOf(a.dims, b.dims, call.parameters)
  return selectProduct(call, found, {
    alpha,
    bias: bias && { operand: 'bias', kind: 'column' },
    residual: residual && 'residual',
    activation
  })
})

/** Gemm and FusedGemm of float32 that do not scale what they add. */
export const selectGemm = selectorFor<GemmParams>(call => {
  const { a, b, c } = call.operands
  const p = call.parameters
  if (a === undefined || b === undefined || p.activation === 'other') return undefined
  const found = productOf(a.dims, b.dims, p)
  const added = p.beta === 0 ? undefined : c
  const kind = added && found && kindOf(added.dims, found.m, found.n)
  const isOne = kind === undefined && added !== undefined && product(added.dims) === 1
  if (added && found && (isOne || (kind && p.beta !== 1)))
    return selectScaled(call, added, isOne ? [found.n] : added.dims)
  if (added && kind === undefined) return undefined
  return selectProduct(call, found, {
    alpha: p.alpha,
    bias: kind === 'column' || kind === 'row' ? { operand: 'c', kind } : undefined,
    residual: kind === 'matrix' ? 'c' : undefined,
    activation: p.activation
  })
})

interface GemmParams extends ProductParams {
  readonly beta: number
}

/** Gemm whose C is scaled, or one number of which a list of the given dims is made, before it is added. */
function selectScaled(call: Candidate<GemmParams>, c: Tensor, dims: readonly number[]): Selection | undefined {
  const { op } = call
  const added = <P extends Parameters>(own: P): P => ({ ...own, beta: 1 })
  const [from, count] = [product(c.dims), product(dims)]
  const operands = { ...call.operands, c: unreadTensor({ type: c.type, dims }, () => c) }
  const selection = selectGemm({ ...call, operands, parameters: added(call.parameters as never) })
  const scale = binaryTemplate('multiply', [from], [], [count])
  const kernel = selection?.kernel
  if (kernel === undefined || scale === undefined) return undefined
  const factor = new Float32Array([call.parameters.beta])
  return {
    *kernel(operands, parameters, context) {
      const { allocate, free } = temporaries()
      try {
        const scaled = allocate(count)
        if (yield* runJob(scale, [arrayOf(operands.c as Tensor), factor], scaled, context.threads)) {
          const given = { ...operands, c: new Tensor('float32', scaled, dims) }
          const rest = kernel(given, added(parameters), context)
          if (rest) yield* rest
          return
        }
      } finally {
        free()
      }
      const rest = op.run(operands, parameters, context)
      if (rest) yield* rest
    },
    ...(selection?.pack && { pack: selection.pack })
  }
}

function selectProduct(
  { op, operands }: Candidate<unknown>,
  found: Product | undefined,
  extras: Extras
): Selection | undefined {
  if (found === undefined || !areFloat32(operands)) return undefined
  const { m, n, k, batches } = found
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  const templateFor = productTemplates(found, extras)
  const names = [extras.bias?.operand, extras.residual]
  const kernel = jobKernel(op, (given, packs) => {
    const first = arrayOf(given.a!)
    const second = arrayOf(packs?.b ?? given.b!)
    const added = names.map(name => (name === undefined ? first : arrayOf(given[name]!)))
    return { template: templateFor(packs?.b?.type), inputs: [first, second, ...added] }
  })
  return batches * m * n * k < MIN_PACKED ? { kernel, looksAt: [] } : { kernel, pack: packSecond, looksAt: [] }
}

/**
 * Sizes and steps of a product by the rules of NumPy's `matmul`.
 * @param width bytes of an element
 * @returns undefined for products without elements, and more loops than arguments have room for
 */
export function productOf(
  aDims: readonly number[],
  bDims: readonly number[],
  transposes: Transposes,
  width = 4
): Product | undefined {
  // A list is a matrix of one row, or of one column.
  const a =
    aDims.length === 1
      ? factorOf([1, ...aDims], false, false, width)
      : factorOf(aDims, transposes.transposeA, transposes.movesA === true, width)
  const b =
    bDims.length === 1
      ? factorOf([...bDims, 1], false, false, width)
      : factorOf(bDims, transposes.transposeB, transposes.movesB === true, width)
  const [m, k, n] = [a.rows, a.columns, b.columns]
  const steps = { aRow: a.rowStep, aElement: a.columnStep, bRow: b.rowStep, bColumn: b.columnStep }
  const aBatch = product(a.batch)
  // Matrices that share B are one matrix with more rows.
  if (product(b.batch) === 1 && a.columnStep === width && a.step === m * k * width)
    // The row of a matrix that has one has no step of its own.
    return m * aBatch * n === 0 ? undefined : { m: m * aBatch, n, k, ...steps, aRow: k * width, batches: 1, loops: [] }
  const loops = loopsOf(a, b)
  const batches = loops.reduce((count, [size]) => count * size, 1)
  return m * n * batches === 0 || loops.length > MAX_LOOPS ? undefined : { m, n, k, ...steps, batches, loops }
}

/** A factor as a batch of matrices; steps in bytes. */
interface Factor {
  readonly rows: number
  readonly columns: number
  readonly rowStep: number
  readonly columnStep: number
  readonly batch: readonly number[]
  /** From one matrix to the next. */
  readonly step: number
}

function factorOf(dims: readonly number[], isTransposed: boolean, moves: boolean, width: number): Factor {
  const isMoved = moves && dims.length > 2
  const columns = dims[dims.length - 1]
  const rows = isMoved ? dims[0] : dims[dims.length - 2]
  const batch = isMoved ? dims.slice(1, -1) : dims.slice(0, -2)
  const rowStep = (isMoved ? product(batch) : 1) * columns * width
  const step = (isMoved ? 1 : rows) * columns * width
  return isTransposed
    ? { rows: columns, columns: rows, rowStep: width, columnStep: rowStep, batch, step }
    : { rows, columns, rowStep, columnStep: width, batch, step }
}

function loopsOf(a: Factor, b: Factor): [number, number, number][] {
  const loops: [number, number, number][] = []
  let [aStep, bStep] = [a.step, b.step]
  for (let i = 1; i <= Math.max(a.batch.length, b.batch.length); i++) {
    const aDim = a.batch[a.batch.length - i] ?? 1
    const bDim = b.batch[b.batch.length - i] ?? 1
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

/** What panels may hold, by their number in MatrixArguments. */
const PANEL_TYPES: readonly DType[] = ['float32', 'uint16', 'bfloat16']

/** As in ../assembly/f32/few-rows.ts: least depth of panels of which one row reads four side by side. */
const MIN_LONG = 512

/**
 * Panels that are read side by side, as in ../assembly/f32/few-rows.ts and few-halves.ts. Two rows read two or three,
 * by the module.
 */
function panelsTogether(rows: number, k: number, panels: DType | false): number {
  if (panels === 'float32') return [k < MIN_LONG ? 6 : 4, 6, 2][rows - 1] ?? 1
  return panels !== false && rows <= 4 ? 4 : 1
}

/**
 * Templates of a product by what the panels of its second factor hold; undefined: it is in none. Each is made when it
 * is first asked for: where dims change from run to run, products are selected anew in each.
 */
export function productTemplates(found: Product, extras: Extras): (panels: DType | undefined) => JobTemplate {
  const made = new Map<DType | undefined, JobTemplate>()
  return panels => {
    const template = made.get(panels) ?? productTemplate(found, extras, panels ?? false)
    made.set(panels, template)
    return template
  }
}

/**
 * The arguments are those of MatrixArguments in ../assembly/f32/matrix.ts.
 * @param panels what the panels of the second factor hold; false where it is in none
 */
export function productTemplate(
  found: Product,
  { alpha = 1, bias, residual, activation }: Extras,
  panels: DType | false
): JobTemplate {
  const { m, n, k, aRow, aElement, bRow, bColumn, batches, loops } = found
  const slab = panels === false ? 0 : slabOf(found)
  const rows = rowsOf(found, slab > 0)
  const isNarrow = panels !== false && panels !== 'float32'
  const together = slab > 0 ? 1 : panelsTogether(rows, k, panels)
  // Strassen's algorithm takes two panels at a time.
  const width = slab > 0 ? 2 * PANEL : PANEL
  const perRow = Math.ceil(n / width)
  return {
    kernel: 'matrix',
    blocks: batches * Math.ceil(m / rows) * perRow,
    blockBytes: rows * width * 4,
    tile: Math.ceil(tileOf(2 * rows * k * width, rows, perRow) / together) * together,
    together,
    isDivisible: rows >= MIN_STRIPS,
    // Few rows take the time in which B is read.
    work: Math.max(workOfFlops(2 * batches * m * n * k), (isNarrow ? 2 : 4) * batches * n * k),
    inputs: staged(4),
    args: [
      bias === undefined ? 0 : bias.kind === 'column' ? 1 : 2,
      Number(residual !== undefined),
      floatBits(alpha),
      m,
      n,
      k,
      rows,
      aRow,
      aElement,
      aRow * 4,
      panels ? 0 : bRow,
      panels ? 0 : bColumn,
      panels ? PANEL_TYPES.indexOf(panels) : 0,
      slab,
      Number(slab > 0 && keepsRows(rows, k, slab, isNarrow)),
      ...activationArguments(activation),
      loops.length,
      ...loops.flat()
    ]
  }
}

/** Depth of a slab of Strassen's algorithm (../assembly/f32/strassen.ts); 0 where it does not pay. */
function slabOf({ m, n, k }: Product): number {
  if (m < MIN_STRASSEN.rows || n < MIN_STRASSEN.columns || k < MIN_STRASSEN.depth || k % 4 !== 0) return 0
  return 4 * Math.ceil(k / 4 / Math.ceil(k / MAX_SLAB))
}

/**
 * Whether the scratch memory has room for what is made of a block of rows for all slabs: that serves all tiles that a
 * thread computes. As laid out in ../assembly/f32/strassen.ts.
 */
function keepsRows(rows: number, k: number, slab: number, isNarrow: boolean): boolean {
  const strips = Math.ceil(rows / 8)
  const slabs = Math.ceil(k / slab)
  const quarters = slabs * 7 * strips * slab * 8
  const panels = (isNarrow ? 144 : 80) * slab
  return EDGE + panels + 7 * 128 * strips + EVEN_BYTES + quarters + 32 * strips * slab <= SCRATCH_BYTES
}

/** Rows of a block; as many in each, and a multiple of eight, where their halves are added up. */
function rowsOf({ m, k }: Product, areHalved: boolean): number {
  const most = k > DEEP ? MAX_BLOCK_ROWS / 2 : MAX_BLOCK_ROWS
  return Math.min(m, areHalved ? 8 * Math.ceil(m / 8 / Math.ceil(m / most)) : most)
}

/**
 * Streams of panels begin anew with each tile: tiles of one to three rows take so many times as long as others, and
 * have so many panels at most.
 */
const STREAMED = { times: 12, most: 768 }

/** Blocks of a tile, `perRow` of which take the same rows of A; a multiple of four, so that threads can divide it. */
function tileOf(flopsOfBlock: number, rows: number, perRow: number): number {
  if (rows < 4) return tileOfFlops(flopsOfBlock / STREAMED.times, STREAMED.most)
  if (rows < MIN_STRIPS) return tileOfFlops(flopsOfBlock, 64)
  const most = Math.max(TILE.least, Math.min(TILE.most, Math.round(TILE.flops / flopsOfBlock)))
  return 4 * Math.ceil((perRow < most ? perRow * Math.floor(most / perRow) : perRow / Math.ceil(perRow / most)) / 4)
}

/** Puts a constant second factor, one matrix, into panels. */
const packSecond: Pack = function* ({ b }, { transposeB, movesB }, context) {
  const packed = b && movesB !== true ? yield* packFactor(b, transposeB === true, context, true) : undefined
  return packed && { b: packed }
}

/**
 * A second factor of float32 in panels.
 * @param mayNarrow whether panels may hold 16-bit floats, where these are what the factor was widened from
 * @returns undefined where it is not one matrix, or the heap is full
 */
export function* packFactor(
  factor: Tensor,
  isTransposed: boolean,
  context: PackContext,
  mayNarrow = false
): Generator<void, Tensor | undefined> {
  const axes = factor.dims.length
  if (factor.type !== 'float32' || axes < 2 || product(factor.dims, 0, axes - 2) !== 1) return undefined
  const [rows, columns] = factor.dims.slice(-2)
  const layout = isTransposed
    ? { k: columns, n: rows, rowStep: 4, columnStep: columns * 4 }
    : { k: rows, n: columns, rowStep: columns * 4, columnStep: 4 }
  const narrow = mayNarrow ? yield* narrowTypeOf(factor) : undefined
  return narrow ? yield* packNarrow(factor, layout, narrow, context) : yield* packMatrix(factor, layout, context)
}
