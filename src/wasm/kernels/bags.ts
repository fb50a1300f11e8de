import { clearBags, reduceBagSlices } from '../../kernels/gather/bag-slices.ts'
import { type BagOperands, bagSlicesOf, type GatherBagsParams } from '../../op-kit/gather-bags.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { arrayOf, selectorFor, staged, tileOfFlops } from '../selector.ts'

/** Elements that are read, below which setting the job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 10
/** What is done; the numbers are those in ../assembly/f32/bags.ts. */
const REDUCTIONS = { sum: 0, mean: 1, max: 2 } as const
const WEIGHTED = 3
const NO_WEIGHTS = new Float32Array(1)

/** GatherBags of a table on the heap, where no index stands for zeros. */
export const selectGatherBags = selectorFor<GatherBagsParams>(({ operands, parameters, dims }) => {
  const { table, indices, weights } = operands
  const width = product(dims, 1)
  const read = (indices?.dims ?? table!.dims)[0] * width
  if (parameters.outOfRange === 'zero' || read < MIN_ELEMENTS || !isOnHeap(arrayOf(table!))) return undefined
  const templateFor = (rows: number): JobTemplate => ({
    kernel: 'bags',
    blocks: dims[0],
    blockBytes: 4 * width,
    work: 4 * rows * width,
    inputs: staged(4),
    tile: tileOfFlops((rows * width) / Math.max(1, dims[0]), dims[0]),
    args: [width, weights ? WEIGHTED : REDUCTIONS[parameters.reduction]]
  })
  return {
    holds: others => isOnHeap(arrayOf(others.table as Tensor)),
    *kernel(given, params, context) {
      const tensors = given as unknown as BagOperands
      const bags = yield* bagSlicesOf(tensors, params as unknown as GatherBagsParams)
      const out = arrayOf(context.rawOutput()) as Float32Array
      const array = arrayOf(tensors.table) as Float32Array
      const inputs: NumericArray[] = [array, bags.rows, bags.bounds, bags.weights ?? NO_WEIGHTS]
      const template = templateFor(rowsIn(bags.bounds))
      const isServed = bags.rows instanceof Int32Array && (yield* runJob(template, inputs, out, context.threads))
      if (isServed) clearBags(bags.zeros, width, out)
      else yield* reduceBagSlices(array, width, bags, out)
    }
  }
})

/** Rows of all bags, which may have some of them in common. */
function rowsIn(bounds: Int32Array): number {
  let rows = 0
  for (let i = 0; i < bounds.length; i += 2) rows += bounds[i + 1] - bounds[i]
  return rows
}
