import type { Op, Selection } from '../../op-kit/define.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobSelection, type Selector, selectorFor, staged, workOfFlops } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { MIN_MULTIPLICATIONS, type Product, productOf, type ProductParams } from './matrix.ts'
import { matrixTemplate, merged } from './transpose.ts'

/** Numbers of the types in ../assembly/wide/product.ts, and bytes of an element. */
const TYPES = { int32: [0, 4], int64: [1, 8], float64: [2, 8] } as const
type WideType = keyof typeof TYPES
/** Rows of a block. */
const ROWS = 4
/** Rows below which a transposed second factor is read as it lies: turning it would take longer. */
const MIN_TURNED_ROWS = 12
/** Products of a tile, which take some 0.1 ms. */
const TILE = 1 << 18

/** MatMul of int32, int64 or float64. */
export const selectWideMatMul = (type: WideType): Selector =>
  selectorFor<ProductParams>(({ op, operands: { a, b, bias, residual }, parameters }) =>
    bias || residual ? undefined : wideSelection(op, type, a, b, undefined, parameters)
  )

/** Gemm of these types that does not scale what it adds. */
export const selectWideGemm = (type: WideType): Selector =>
  selectorFor<ProductParams & { readonly beta: number }>(({ op, operands: { a, b, c }, parameters }) => {
    const added = parameters.beta === 0 ? undefined : c
    return added && parameters.beta !== 1 ? undefined : wideSelection(op, type, a, b, added, parameters)
  })

/**
 * A product, and the sum with what is added to it. Where there are more than a few rows, columns of the second factor
 * have to lie side by side: one that is transposed is turned first.
 */
function wideSelection(
  op: Op,
  type: WideType,
  a: Tensor | undefined,
  b: Tensor | undefined,
  added: Tensor | undefined,
  p: ProductParams
): Selection | undefined {
  if (a?.type !== type || b?.type !== type || p.alpha !== 1 || p.activation) return undefined
  const isTransposed = p.transposeB && b.dims.length > 1
  if (isTransposed && p.movesB) return undefined
  const own = isTransposed ? productTemplate(type, a.dims, b.dims, p) : undefined
  const isTurned = isTransposed && !(own && own.m < MIN_TURNED_ROWS && own.isOfDots)
  const right = isTurned ? [...b.dims.slice(0, -2), b.dims[b.dims.length - 1], b.dims[b.dims.length - 2]] : b.dims
  const found = isTransposed && !isTurned ? own : productTemplate(type, a.dims, right, { ...p, transposeB: false })
  const turn = isTurned ? turnTemplate(b.dims, TYPES[type][1]) : undefined
  if (found === undefined) return undefined
  const { template, m, n } = found
  const addition = added && arithmeticTemplate('add', type, [m, n], added.dims, [m, n])
  if (added && addition === undefined) return undefined
  if (turn === undefined && added === undefined) return jobSelection(op, template, ['a', 'b'])
  const kernel = attemptKernel(op, function* (given, out, { allocateBetween, run }) {
    const y = arrayOf(out())
    const factor = arrayOf(given.b!)
    const turned = turn ? allocateBetween(factor.byteLength / 4) : factor
    if (turn && !(yield* run(turn, [factor], turned))) return false
    if (!(yield* run(template, [arrayOf(given.a!), turned], y))) return false
    return addition === undefined || (yield* run(addition, [y, arrayOf(given.c!)], y))
  })
  return { kernel, looksAt: [] }
}

interface WideTemplate {
  readonly template: JobTemplate
  readonly m: number
  readonly n: number
  readonly isOfDots: boolean
}

/**
 * The job of a product, and sizes of its matrices. Its second factor is not transposed, unless the depth of both lies
 * side by side and dot products are computed.
 */
function productTemplate(
  type: WideType,
  a: readonly number[],
  b: readonly number[],
  p: ProductParams
): WideTemplate | undefined {
  const width = TYPES[type][1]
  const found = productOf(a, b, p, width)
  if (found === undefined) return undefined
  const { m, n, k, aElement, bRow, batches } = found
  if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
  return { template: templateOf(type, found), m, n, isOfDots: aElement === width && bRow === width }
}

/** The job of a product whose matrices lie as steps say; undefined where the kernel cannot read them so. */
export function wideTemplateOf(type: WideType, found: Product): JobTemplate | undefined {
  const width = TYPES[type][1]
  const { aElement, bRow, bColumn } = found
  const isOfDots = aElement === width && bRow === width
  return isOfDots || bColumn === width ? templateOf(type, found) : undefined
}

/** The arguments are those of WideProductArguments in ../assembly/wide/product.ts. */
function templateOf(type: WideType, { m, n, k, aRow, aElement, bRow, bColumn, batches, loops }: Product): JobTemplate {
  const [number, width] = TYPES[type]
  return {
    kernel: 'wideProduct',
    blocks: batches * Math.ceil(m / ROWS),
    blockBytes: Math.min(m, ROWS) * n * width,
    tile: Math.max(1, Math.floor(TILE / (ROWS * n * k))),
    work: workOfFlops(4 * batches * m * n * k),
    inputs: staged(2),
    args: [number, m, n, k, aRow, aElement, bRow, bColumn, loops.length, ...loops.flat()]
  }
}

/** The job of a plain product. */
export const wideProductTemplate = (
  type: WideType,
  a: readonly number[],
  b: readonly number[]
): JobTemplate | undefined => productTemplate(type, a, b, PLAIN)?.template

const PLAIN: ProductParams = { alpha: 1, transposeA: false, transposeB: false, activation: undefined }

/** The job that transposes matrices; undefined where they lie the same way then. */
function turnTemplate(dims: readonly number[], width: number): JobTemplate | undefined {
  const [rows, columns] = dims.slice(-2)
  if (rows === 1 || columns === 1) return undefined
  const size = rows * columns * width
  const loops = merged([
    { size: product(dims, 0, dims.length - 2), xStep: size, yStep: size },
    { size: columns, xStep: width, yStep: rows * width },
    { size: rows, xStep: columns * width, yStep: width }
  ])
  return matrixTemplate(loops, product(dims) * width, width)
}
