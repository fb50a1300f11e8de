import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, type Selector, selectorFor, staged, workOfFlops } from '../selector.ts'
import { MIN_MULTIPLICATIONS, productOf, type ProductParams } from './matrix.ts'

/** Numbers of the types in ../assembly/wide/product.ts, and bytes of an element. */
const TYPES = { int32: [0, 4], int64: [1, 8], float64: [2, 8] } as const
/** Rows of a block. */
const ROWS = 4
/** Products of a tile, which take some 0.1 ms. */
const TILE = 1 << 18

/** MatMul of int32, int64 or float64 whose second factor is not transposed. */
export const selectWideMatMul = (type: keyof typeof TYPES): Selector =>
  selectorFor<ProductParams>(({ op, operands: { a, b, bias, residual }, parameters: p }) => {
    if (a?.type !== type || b?.type !== type || bias || residual || p.alpha !== 1 || p.activation) return undefined
    const [number, width] = TYPES[type]
    const found = p.transposeB ? undefined : productOf(a.dims, b.dims, p, width)
    if (found === undefined) return undefined
    const { m, n, k, aRow, aElement, bRow, batches, loops } = found
    if (batches * m * n * k < MIN_MULTIPLICATIONS) return undefined
    // The arguments are those of WideProductArguments in ../assembly/wide/product.ts.
    const template: JobTemplate = {
      kernel: 'wideProduct',
      blocks: batches * Math.ceil(m / ROWS),
      blockBytes: Math.min(m, ROWS) * n * width,
      tile: Math.max(1, Math.floor(TILE / (ROWS * n * k))),
      work: workOfFlops(4 * batches * m * n * k),
      inputs: staged(2),
      outputStaging: 'whole',
      args: [number, m, n, k, aRow, aElement, bRow, loops.length, ...loops.flat()]
    }
    return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(given.a!), arrayOf(given.b!)] })) }
  })
