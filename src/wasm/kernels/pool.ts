import { cellsOf } from '../../kernels/pool/pool.ts'
import type { Kernel, Selection } from '../../op-kit/define.ts'
import { poolAxes } from '../../op-kit/pool-shape.ts'
import type { WindowAxis } from '../../shapes/window.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor, staged } from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'
import { byteMaxPool } from './byte-pool.ts'
import { isByte } from './byte-product.ts'
import { firstOutputOnly } from './first-output.ts'

type PoolParams = Parameters<typeof poolAxes>[2]

/** Elements in windows below which setting a job up costs more than it gains. */
const MIN_TAPS = 1 << 8
/** Bytes of a padded band that stay in the cache. */
const BAND_BYTES = 1 << 17
/** Elements of input and output of a tile, which take some 0.1 ms. */
const TILE = 1 << 16
/** Work of an element of input or output, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

/** An axis of size 1. */
const ALONE: WindowAxis = { size: 1, count: 1, kernel: 1, stride: 1, dilation: 1, begin: 0, end: 0 }

/** MaxPool of float32 and bytes over one or two axes, without indices. */
export const selectMaxPool = selectorFor<PoolParams>(call => {
  const { x } = call.operands
  const axes = x && poolAxes(x.dims, call.dims, call.parameters)
  const selection = axes && (isByte(x.type) ? byteMaxPool(call, axes) : poolSelection(call, axes, undefined))
  return selection && { kernel: firstOutputOnly(call.op, selection.kernel) }
})

/** AveragePool of float32 over one or two axes. */
export const selectAveragePool = selectorFor<PoolParams & { readonly withPadding: boolean }>(call => {
  const { x } = call.operands
  const { withPadding } = call.parameters
  return x && poolSelection(call, poolAxes(x.dims, call.dims, call.parameters), axis => cellsOf(axis, withPadding))
})

/**
 * @param spatial the windows of each spatial axis
 * @param countsOf the divisors of the windows of an axis; undefined: the highest element is taken
 */
function poolSelection(
  { op, operands, dims }: Candidate<unknown>,
  spatial: readonly WindowAxis[],
  countsOf: ((axis: WindowAxis) => readonly number[]) | undefined
): (Selection & { readonly kernel: Kernel }) | undefined {
  const taps = product(dims) * product(spatial.map(({ kernel }) => kernel))
  if (operands.x?.type !== 'float32' || spatial.length > 2 || taps < MIN_TAPS) return undefined
  const axes = spatial.length === 2 ? spatial : [ALONE, ...spatial]
  const template = poolTemplate(axes, product(dims, 0, 2), countsOf === undefined)
  if (template === undefined) return undefined
  const counts = countsOf && axes.map(axis => Float32Array.from(countsOf(axis)))
  return {
    kernel: jobKernel(op, ({ x }) => {
      const data = arrayOf(x!)
      const [lines, columns] = counts ?? [data, data]
      return { template, inputs: [data, lines, columns] }
    })
  }
}

/**
 * The arguments are those of PoolArguments in ../assembly/f32/pool.ts.
 * @returns undefined where the lines of one window do not fit into scratch memory
 */
function poolTemplate([h, w]: readonly WindowAxis[], planes: number, isMax: boolean): JobTemplate | undefined {
  const windows = Math.ceil(w.count / 4) * 4
  const width = Math.ceil(((windows - 1) * w.stride + (w.kernel - 1) * w.dilation + 9) / 4) * 4
  const lines = Math.floor(BAND_BYTES / (width * 4)) - (h.kernel - 1) * h.dilation - 2
  const band = Math.max(1, Math.min(h.count, Math.floor(lines / h.stride) + 1))
  const height = (band - 1) * h.stride + (h.kernel - 1) * h.dilation + 2
  if (height * width * 4 > SCRATCH_BYTES) return undefined
  const bands = Math.ceil(h.count / band)
  const touched = planes * (h.size * w.size + h.count * w.count)
  return {
    kernel: 'pool',
    blocks: planes * bands,
    blockBytes: band * w.count * 4,
    tile: Math.max(1, Math.floor(TILE / (touched / planes / bands))),
    work: touched * ELEMENT_WORK,
    inputs: staged(3),
    outputStaging: 'whole',
    args: [
      Number(isMax),
      ...[h.size, w.size, h.kernel, w.kernel, h.stride, w.stride, h.dilation, w.dilation, h.begin, w.begin],
      ...[h.count, w.count, band]
    ]
  }
}
