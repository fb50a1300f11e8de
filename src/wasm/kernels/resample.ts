import { entriesOf, firstEntry } from '../../kernels/core/point-sums.ts'
import type { AxisIndices, AxisTaps, Placement, Resampling } from '../../kernels/image/resample.ts'
import type { Parameters, Selection } from '../../op-kit/define.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  arrayOf,
  type Candidate,
  jobSelection,
  type Selector,
  selectorFor,
  staged,
  tileOfFlops,
  workOfFlops
} from '../selector.ts'
import { type Pass, passesSelection } from './passes.ts'

/** Elements of the output below which setting jobs up costs more than it gains; of a job that only moves them. */
const MIN_ELEMENTS = 1 << 8
export const MIN_TAKEN = 1 << 5
/** Entries of the tables of an axis that are worked out while a kernel is picked, and that a session keeps. */
const MAX_ENTRIES = 1 << 18
/** Yields of an operator that works its tables out, of 5 ms each. */
const MAX_YIELDS = 8
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17
/** With fewer elements in the inner dims, lines are resampled element by element. */
const SHORT_ROW = 4
/** Work of a weighted element, in multiplications and additions that could be made in the same time. */
export const ROW_FLOPS = 4
export const LINE_FLOPS = 24

/** Numbers of the types in ../assembly/f32/resample.ts. */
const TYPES: Readonly<Partial<Record<DType, number>>> = { float32: 0, uint8: 1, int8: 2 }

/** What an operator says of a call; undefined where it does more, or where that takes long. */
export function resamplingOf(
  { op, operands, parameters, dims }: Candidate,
  least: number
): Resampling | Placement | undefined {
  const x = operands.x ?? operands.data
  if (x === undefined || product(x.dims) === 0 || product(dims) < least) return undefined
  if (dims.some((count, axis) => count !== x.dims[axis] && count > MAX_ENTRIES)) return undefined
  const work = op.resampling?.(x.dims, dims, parameters)
  if (work === undefined) return undefined
  for (let yields = 0; yields < MAX_YIELDS; yields++) {
    const step = work.next()
    if (step.done) return step.value
  }
  return undefined
}

/** Resize and Interpolate to nearest elements of any type but strings. */
export const selectTaken: Selector = selectorFor<Parameters>(call => {
  const { x } = call.operands
  return x === undefined || x.type === 'string' ? undefined : takenSelection(call, x, resamplingOf(call, MIN_TAKEN))
})

/** Takes elements of `x`, where an operator says that its result has nothing else. */
export const takenSelection = (
  call: Candidate,
  x: Tensor,
  how: Resampling | Placement | undefined
): Selection | undefined =>
  how?.kind === 'indices' && how.axes.length > 0 ? takeSelection(call, x, how.axes) : undefined

function takeSelection(
  { op, operands, dims }: Candidate,
  x: Tensor,
  axes: readonly AxisIndices[]
): Selection | undefined {
  const { byteLength } = arrayOf(x)
  const width = byteLength / product(x.dims)
  if (!Number.isInteger(width) || byteLength > 2 ** 31 || axes.some(({ indices }) => indices.includes(-1)))
    return undefined
  const [first, last] = [Math.min(...axes.map(({ axis }) => axis)), Math.max(...axes.map(({ axis }) => axis))]
  const block = product(x.dims, last + 1) * width
  const tableOf = (axis: number): Int32Array | undefined => axes.find(item => item.axis === axis)?.indices
  const rowCount = product(dims, first, last)
  const indices = tableOf(last)!
  if (rowCount > MAX_ENTRIES || indices.length > MAX_ENTRIES) return undefined
  const rows = rowTable(x.dims, dims, first, last, tableOf).map(row => row * x.dims[last] * block)
  const columns = indices.map(index => index * block)
  const lineBytes = columns.length * block
  const blocks = product(dims, 0, last)
  // The arguments are those of TakeArguments in ../assembly/f32/take.ts.
  const template: JobTemplate = {
    kernel: 'takeRows',
    blocks,
    blockBytes: lineBytes,
    tile: Math.max(1, Math.floor(TILE_BYTES / lineBytes)),
    work: blocks * lineBytes * (block < 16 ? 4 : 1),
    inputs: staged(3),
    args: [
      rowCount,
      columns.length,
      product(x.dims, first) * width,
      block,
      Number(indices.every((index, i) => index === i >> 1))
    ]
  }
  return jobSelection(op, template, [operands.x ? 'x' : 'data', rows, columns])
}

/** The row of the data that each row of a plane is taken from; rows count over the axes `first … last-1`. */
function rowTable(
  from: readonly number[],
  to: readonly number[],
  first: number,
  last: number,
  tableOf: (axis: number) => Int32Array | undefined
): Int32Array {
  let rows = new Int32Array(1)
  for (let axis = first; axis < last; axis++) {
    const table = tableOf(axis)
    const count = to[axis]
    const next = new Int32Array(rows.length * count)
    for (let r = 0, k = 0; r < rows.length; r++)
      for (let i = 0; i < count; i++) next[k++] = rows[r] * from[axis] + (table ? table[i] : i)
    rows = next
  }
  return rows
}

/** Resize and Interpolate of float32 and bytes by weighted sums. */
export const selectResampled: Selector = selectorFor<Parameters>(call => {
  const { op, operands } = call
  const { x } = operands
  const type = x && TYPES[x.type]
  if (x === undefined || type === undefined) return undefined
  const how = resamplingOf(call, MIN_ELEMENTS)
  if (how?.kind !== 'taps' || how.axes.length === 0 || (how.between === 'whole' && type !== 0)) return undefined
  const passes: Pass[] = []
  const dims = [...x.dims]
  for (const [i, taps] of how.axes.entries()) {
    const types = [i === 0 ? type : 0, i === how.axes.length - 1 ? type : 0]
    const pass = passOf(dims, taps, types)
    if (pass === undefined) return undefined
    passes.push(pass)
    dims[taps.axis] = taps.count
  }
  return passesSelection(op, 'x', passes)
})

/** @param types numbers of the types of what is read and written */
function passOf(dims: readonly number[], taps: AxisTaps, types: readonly number[]): Pass | undefined {
  const outer = product(dims, 0, taps.axis)
  const inner = product(dims, taps.axis + 1)
  if (taps.count * taps.taps * Math.min(inner, SHORT_ROW) > MAX_ENTRIES) return undefined
  return inner < SHORT_ROW
    ? linePass(outer, dims[taps.axis], inner, taps, types)
    : rowPass(outer, dims[taps.axis], inner, taps, types)
}

/** The arguments are those of RowsResampleArguments in ../assembly/f32/resample.ts. */
function rowPass(outer: number, size: number, inner: number, table: AxisTaps, types: readonly number[]): Pass {
  const { count, taps } = table
  const indices = new Int32Array(count * taps)
  const weights = new Float32Array(count * taps)
  for (let i = 0; i < count; i++) {
    let to = i * taps
    for (let t = i * taps; t < (i + 1) * taps; t++) {
      if (Math.fround(table.weights[t]) === 0) continue
      indices[to] = table.indices[t]
      weights[to++] = table.weights[t]
    }
  }
  return passWith('resampleRows', outer * count, inner, [indices, weights], taps * ROW_FLOPS, [
    ...[size, count, inner, taps],
    ...types
  ])
}

/** The arguments are those of LinesResampleArguments in ../assembly/f32/resample.ts. */
function linePass(outer: number, size: number, inner: number, table: AxisTaps, types: readonly number[]): Pass {
  const { taps } = table
  const count = table.count * inner
  const entries = entriesOf(count, taps)
  const indices = new Int32Array(entries)
  const weights = new Float32Array(entries)
  for (let i = 0; i < table.count; i++)
    for (let t = 0; t < taps; t++)
      for (let c = 0; c < inner; c++) {
        const at = i * inner + c
        const to = firstEntry(at, taps) + 4 * t
        indices[to] = Math.max(0, table.indices[i * taps + t]) * inner + c
        weights[to] = table.weights[i * taps + t]
      }
  return passWith('resampleLines', outer, count, [indices, weights], taps * LINE_FLOPS, [
    ...[size * inner, count, count, taps],
    ...types
  ])
}

/** @param flops multiplications and additions for an element of the output */
function passWith(
  kernel: ResampleKernel,
  blocks: number,
  elements: number,
  tables: Pass['tables'],
  flops: number,
  args: readonly number[]
): Pass {
  const maxTile = Math.max(1, Math.floor(TILE_BYTES / elements))
  const template = resampleTemplate(kernel, { blocks, elements, flops, maxTile }, args)
  return { template, tables, count: blocks * elements }
}

type ResampleKernel = 'resampleRows' | 'resampleLines'

/** What a job of weighted sums takes. */
interface ResampleSize {
  readonly blocks: number
  /** Elements of a block of the output. */
  readonly elements: number
  /** Multiplications and additions for an element of the output. */
  readonly flops: number
  /** Blocks of a tile at most. */
  readonly maxTile: number
}

/** A job of weighted sums: rows or lines, with their table of elements and that of weights. */
export const resampleTemplate = (
  kernel: ResampleKernel,
  { blocks, elements, flops, maxTile }: ResampleSize,
  args: readonly number[]
): JobTemplate => ({
  kernel,
  blocks,
  blockBytes: elements * 4,
  tile: tileOfFlops(elements * flops, maxTile),
  work: workOfFlops(blocks * elements * flops),
  inputs: staged(3),
  args
})
