import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, type Selector, selectorFor, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 17
/** Lines of a block where they lie side by side, as in ../assembly/f32/best.ts. */
const TOGETHER = 16
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4
/** Positions that fit into an int32. */
const MAX_SIZE = 0x7fffffff

interface Params {
  readonly axis: number
  readonly last: boolean
}

/** ArgMax and ArgMin of float32. */
export const selectBest = (largest: boolean): Selector =>
  selectorFor<Params>(({ op, operands, parameters }) => {
    const { data } = operands
    if (data?.type !== 'float32' || product(data.dims) < MIN_ELEMENTS) return undefined
    const { outer, size, inner } = axisLayout(data.dims, normalizeAxis(parameters.axis, data.dims.length))
    if (size > MAX_SIZE) return undefined
    const together = Math.min(inner, TOGETHER)
    // The arguments are those of BestArguments in ../assembly/f32/best.ts.
    const template: JobTemplate = {
      kernel: 'best',
      blocks: outer * Math.ceil(inner / together),
      blockBytes: together * 8,
      tile: Math.max(1, Math.floor(TILE / (size * together))),
      work: outer * size * inner * ELEMENT_WORK,
      inputs: staged(1),
      outputStaging: 'whole',
      args: [size, inner, largest ? 0 : -0x80000000, Number(parameters.last)]
    }
    return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(given.data!)] })) }
  })
