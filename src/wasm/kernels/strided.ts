import type { Op, Selection } from '../../op-kit/define.ts'
import { sliceBounds } from '../../shapes/slice.ts'
import { stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, selectorFor, staged, widthOf } from '../selector.ts'
import { linesSelection, type Loop, loopArguments, MAX_LOOPS, merged } from './transpose.ts'

/** Bytes below which setting a job up costs more than it gains. */
const MIN_BYTES = 1 << 10
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8
/** An input of more than so many times the bytes of the output is not copied to the heap. */
const MAX_STAGED_SHARE = 4

interface SliceParams {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  readonly axes: readonly number[] | undefined
  readonly steps: readonly number[] | undefined
}

/** Slice, but for long lines that the reference copies as fast. */
export const selectSlice = selectorFor<SliceParams>(({ op, operands: { data }, parameters, dims }) => {
  if (data === undefined) return undefined
  const { starts, ends, axes, steps } = parameters
  const bounds = sliceBounds(data.dims, starts, ends, axes, steps)
  const to = stridesOf(dims)
  const loops = dims.map((size, i) => ({ size, xStep: bounds.steps[i], yStep: to[i] }))
  return stridedSelection(op, data, loops, bounds.offset)
})

/** Tile, but for long lines that the reference copies as fast. */
export const selectTile = selectorFor(({ op, operands: { data }, dims }) => {
  if (data === undefined) return undefined
  const from = stridesOf(data.dims)
  const to = stridesOf(dims)
  const missing = dims.length - data.dims.length
  const loops = dims.flatMap((size, i): Loop[] => {
    const own = i < missing ? 1 : data.dims[i - missing]
    return [
      { size: size / own, xStep: 0, yStep: own * to[i] },
      { size: own, xStep: i < missing ? 0 : from[i - missing], yStep: to[i] }
    ]
  })
  return stridedSelection(op, data, loops, 0)
})

/** Expand by NumPy's rules, but for long lines that the reference copies as fast. */
export const selectExpand = selectorFor<{ readonly mode: string }>(({ op, operands: { data }, parameters, dims }) => {
  if (data === undefined || parameters.mode === 'explicit') return undefined
  const from = stridesOf(data.dims)
  const to = stridesOf(dims)
  const missing = dims.length - data.dims.length
  const loops = dims.map((size, i) => {
    const xStep = i < missing || data.dims[i - missing] === 1 ? 0 : from[i - missing]
    return { size, xStep, yStep: to[i] }
  })
  return stridedSelection(op, data, loops, 0)
})

/**
 * Elements along loops over the whole output.
 * @param inElements the loops, the outermost first; their steps are in elements
 * @param start the element at which the first loop begins
 */
function stridedSelection(op: Op, data: Tensor, inElements: readonly Loop[], start: number): Selection | undefined {
  if (data.type === 'string' || data.data.length === 0) return undefined
  const width = widthOf(data)
  const bytes = inElements.reduce((count, { size }) => count * size, width)
  if (bytes < MIN_BYTES || !isElementWidth(width)) return undefined
  const loops = merged(
    inElements.map(({ size, xStep, yStep }) => ({ size, xStep: xStep * width, yStep: yStep * width }))
  )
  const inner = loops.at(-1)
  if (inner === undefined || loops.length > MAX_LOOPS) return undefined
  if (inner.xStep === inner.yStep) return linesSelection(op, loops, bytes, start * width)
  const template = stridedTemplate(loops, bytes, width, start * width)
  const kernel = jobKernel(op, given => {
    const x = arrayOf(given.data!)
    return isOnHeap(x) || x.byteLength <= MAX_STAGED_SHARE * bytes ? { template, inputs: [x] } : undefined
  })
  return { kernel, looksAt: [] }
}

/** Whether the kernel knows elements of so many bytes. */
export const isElementWidth = (width: number): boolean => width === 1 || width === 2 || width === 4 || width === 8

/** The arguments are those of StridedArguments in ../assembly/wide/strided.ts. */
export function stridedTemplate(loops: readonly Loop[], bytes: number, width: number, start = 0): JobTemplate {
  const inner = loops[loops.length - 1]
  const outer = loops.slice(0, -1).reverse()
  const lineBytes = inner.size * width
  return {
    kernel: 'strided',
    blocks: bytes / lineBytes,
    blockBytes: lineBytes,
    tile: Math.ceil(TILE_BYTES / lineBytes),
    work: (bytes / width) * ELEMENT_WORK,
    inputs: staged(1),
    args: [width, inner.size, inner.xStep, start, ...loopArguments(outer)]
  }
}
