import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobSelection, type Selector, selectorFor, staged } from '../selector.ts'
import { panelOf } from './reduce.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 16
/** Blocks that threads should find at least: wider ones read more of each row, which lies side by side. */
const MIN_BLOCKS = 4
/** Most columns of a block, whose sums stay in the cache. */
const MAX_PANEL = 512

/** Numbers of the types in ../assembly/wide/cumulate.ts. Unsigned integers wrap as signed ones do. */
const TYPES: Readonly<Partial<Record<DType, number>>> = {
  int32: 0,
  uint32: 0,
  int64: 1,
  uint64: 1,
  float64: 2,
  float32: 3
}

interface Params {
  readonly axis: number
  readonly exclusive: boolean
  readonly reverse: boolean
}

/** CumSum of numbers of 32 and 64 bits. */
export const selectCumSum: Selector = selectorFor<Params>(({ op, operands, parameters }) => {
  const { data } = operands
  if (data === undefined || product(data.dims) < MIN_ELEMENTS) return undefined
  const type = TYPES[data.type]
  if (type === undefined) return undefined
  const layout = axisLayout(data.dims, normalizeAxis(parameters.axis, data.dims.length))
  const { outer, size, inner } = layout
  const panel = Math.min(panelOf(layout, MIN_BLOCKS), MAX_PANEL)
  const width = arrayOf(data).BYTES_PER_ELEMENT
  // The arguments are those of CumulateArguments in ../assembly/wide/cumulate.ts.
  const template: JobTemplate = {
    kernel: 'cumulate',
    blocks: outer * Math.ceil(inner / panel),
    blockBytes: size * panel * width,
    tile: Math.max(1, Math.floor(TILE / (size * panel))),
    work: 2 * outer * size * inner * width,
    inputs: staged(1),
    args: [size, inner, panel, type, Number(parameters.exclusive), Number(parameters.reverse)]
  }
  return jobSelection(op, template, ['data'])
})
