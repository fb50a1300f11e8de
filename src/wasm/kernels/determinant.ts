import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { jobSelection, type Selector, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7

/** Det of float32 and float64 whose matrices the scratch memory has room for. */
export const selectDet: Selector = ({ op, operands: { x }, dims }) => {
  if ((x?.type !== 'float32' && x?.type !== 'float64') || product(x.dims) < MIN_ELEMENTS) return undefined
  const n = x.dims[x.dims.length - 1]
  if (8 * n * n > SCRATCH_BYTES) return undefined
  const [blocks, flops] = [product(dims), n ** 3]
  // The arguments are those of DeterminantArguments in ../assembly/wide/determinant.ts.
  const template: JobTemplate = {
    kernel: 'determinant',
    blocks,
    blockBytes: x.type === 'float64' ? 8 : 4,
    tile: tileOfFlops(4 * flops, blocks),
    work: workOfFlops(4 * blocks * flops),
    inputs: staged(1),
    args: [n, Number(x.type === 'float64')]
  }
  return jobSelection(op, template, ['x'])
}
