import type { Reduction } from '../../kernels/gather/scatter.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { type DType, MAX_INT32 } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { arrayOf, jobSelection, selectorFor, staged, type TensorOperands } from '../selector.ts'

/** Updates below which setting a job up costs more than it gains. */
const MIN_UPDATES = 1 << 7
/** Work of an update, in bytes that could be copied in the same time. */
const UPDATE_WORK = 16
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17

/** Numbers of the reductions in ../assembly/wide/scatter.ts. */
const REDUCTIONS: Readonly<Partial<Record<Reduction, number>>> = { none: 0, add: 1, mul: 2, max: 3, min: 4 }

/** Numbers of the types there. Truth values are bytes: their sums are their maxima and their products their minima. */
const TYPES: Readonly<Partial<Record<DType, number>>> = {
  float32: 0,
  int32: 1,
  int64: 2,
  uint8: 3,
  int8: 4,
  uint16: 5,
  int16: 6,
  uint32: 7,
  uint64: 8,
  bool: 3
}
const OF_BOOLS: typeof REDUCTIONS = { none: 0, add: 3, mul: 4, max: 3, min: 4 }

/** Bytes of a job that cannot be divided, since a later update of an element stays. */
const MAX_UNDIVIDED = 1 << 26

/** What the jobs read. */
const OPERANDS = ['data', 'indices', 'updates']

interface Params {
  readonly axis: number
  readonly reduction: Reduction
  readonly useInitial: boolean
}

/**
 * ScatterElements whose indices are as many as the data off the axis: of elements of up to eight bytes, with reductions
 * of float32 and integers.
 */
export const selectScatterElements = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { data, indices } = operands
  const number = reductionOf(operands, parameters.reduction)
  if (data === undefined || indices === undefined || number === undefined || !parameters.useInitial) return undefined
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
    args: [width, indexWidth(indices), size, indices.dims[axis], product(dims, axis + 1), number]
  } as const
  return jobSelection(op, template, OPERANDS)
})

/** ScatterND of elements of any width but strings, with reductions of float32 and integers. */
export const selectScatterND = selectorFor<Pick<Params, 'reduction'>>(({ op, operands, parameters, dims }) => {
  const { data, indices, updates } = operands
  const number = reductionOf(operands, parameters.reduction)
  if (data === undefined || indices === undefined || updates === undefined || number === undefined) return undefined
  const components = indices.dims.at(-1)!
  const count = product(indices.dims, 0, indices.dims.length - 1)
  const sizes = dims.slice(0, components)
  if (components === 0 || product(updates.dims) < MIN_UPDATES || sizes.some(size => size > MAX_INT32)) return undefined
  const bytes = arrayOf(data).byteLength
  const work = bytes + arrayOf(updates).byteLength + count * UPDATE_WORK
  if (work > MAX_UNDIVIDED) return undefined
  const block = arrayOf(updates).byteLength / count
  // The arguments are those of ScatterTuplesArguments in ../assembly/wide/scatter-tuples.ts.
  return jobSelection(
    op,
    {
      kernel: 'scatterTuples',
      blocks: 1,
      blockBytes: bytes,
      tile: 1,
      work,
      inputs: staged(3),
      args: [bytes, block, count, indexWidth(indices), number, components, ...sizes]
    },
    OPERANDS
  )
})

const indexWidth = ({ type }: Tensor): number => (type === 'int64' ? 8 : 4)

/** The number of a reduction of elements whose types the kernels know; undefined where one is not known. */
function reductionOf({ data, indices, updates }: TensorOperands, reduction: Reduction): number | undefined {
  if (data === undefined || indices === undefined || updates === undefined || data.type === 'string') return undefined
  if (indices.type !== 'int32' && indices.type !== 'int64') return undefined
  const number = (data.type === 'bool' ? OF_BOOLS : REDUCTIONS)[reduction]
  const type = TYPES[data.type]
  if (reduction === 'none') return number
  return number === undefined || type === undefined ? undefined : number + 8 * type
}
