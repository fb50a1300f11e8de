import type { Reduction } from '../../kernels/gather/scatter.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { MAX_INT32 } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, selectorFor, staged } from '../selector.ts'

/** Updates below which setting a job up costs more than it gains. */
const MIN_UPDATES = 1 << 7
/** Work of an update, in bytes that could be copied in the same time. */
const UPDATE_WORK = 16
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17

/** Numbers of the reductions in ../assembly/wide/scatter.ts. */
const REDUCTIONS: Readonly<Partial<Record<Reduction, number>>> = { none: 0, add: 1, mul: 2, max: 3, min: 4 }

interface Params {
  readonly axis: number
  readonly reduction: Reduction
  readonly useInitial: boolean
}

/**
 * ScatterElements whose indices are as many as the data off the axis: of elements of up to eight bytes, with reductions
 * of float32.
 */
export const selectScatterElements = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { data, indices, updates } = operands
  const { reduction, useInitial } = parameters
  if (data === undefined || indices === undefined || updates === undefined || data.type === 'string') return undefined
  const number = REDUCTIONS[reduction]
  if (number === undefined || !useInitial || (reduction !== 'none' && data.type !== 'float32')) return undefined
  if (indices.type !== 'int32' && indices.type !== 'int64') return undefined
  const axis = normalizeAxis(parameters.axis, dims.length)
  const size = dims[axis]
  const isServed = indices.dims.every((dim, i) => i === axis || dim === dims[i])
  const count = product(indices.dims)
  if (!isServed || count < MIN_UPDATES || size > MAX_INT32) return undefined
  const bytes = arrayOf(data).byteLength
  const width = bytes / product(dims)
  if (width > 8) return undefined
  const outer = product(dims, 0, axis)
  // The arguments are those of ScatterArguments in ../assembly/wide/scatter.ts.
  const template = {
    kernel: 'scatter',
    blocks: outer,
    blockBytes: bytes / outer,
    tile: Math.max(1, Math.floor((TILE_BYTES * outer) / (bytes + count * UPDATE_WORK))),
    work: bytes + count * UPDATE_WORK,
    inputs: staged(3),
    outputStaging: 'whole',
    args: [width, indices.type === 'int64' ? 8 : 4, size, indices.dims[axis], product(dims, axis + 1), number]
  } as const
  const kernel = jobKernel(op, given => ({
    template,
    inputs: [given.data!, given.indices!, given.updates!].map(arrayOf)
  }))
  return { kernel }
})
