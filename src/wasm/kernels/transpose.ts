import { blockLoops, type BlockParams } from '../../kernels/core/blocks.ts'
import { staysInOrder } from '../../kernels/core/share.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { product, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, type Selector, selectorFor, staged, type TensorOperands } from '../selector.ts'

/** Bytes below which setting a job up costs more than it gains. */
const MIN_BYTES = 1 << 6
/** Bytes of a line from which the reference copies it as fast. */
export const MAX_LINE_BYTES = 1 << 16
/** Bytes of a line up to which even a copy of the input to the heap is worth its time. */
export const MAX_STAGED_LINE_BYTES = 1 << 9
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17
/** Rows of a block, as in ../assembly/f32/transpose.ts. */
const BLOCK_ROWS = 32
/** Loops that fit into the arguments of a job. */
export const MAX_LOOPS = 16

/** Widest element that is moved one by one; wider ones are moved as lines. */
const MAX_WIDTH = 8

/** A loop over the output: its size, and the bytes that input and output move by. */
export interface Loop {
  readonly size: number
  readonly xStep: number
  readonly yStep: number
}

/** Transpose of elements of any width but strings. */
export const selectTranspose = selectorFor<{ readonly order: readonly number[] | undefined }>(
  ({ op, operands, parameters, dims }): Selection | undefined => {
    const { data } = operands
    if (data === undefined || data.type === 'string') return undefined
    const { order } = parameters
    const axes = order === undefined || order.length === 0 ? dims.map((_, i) => dims.length - 1 - i) : order
    if (staysInOrder(data.dims, axes)) return undefined
    const [from, to] = [stridesOf(data.dims), stridesOf(dims)]
    return moveSelection(
      op,
      data,
      axes.map((axis, i) => ({ size: dims[i], xStep: from[axis], yStep: to[i] }))
    )
  }
)

/**
 * DepthToSpace, or SpaceToDepth, of elements of any width but strings.
 * @param toDepth whether blocks of space become channels
 */
export const selectBlocks = (toDepth: boolean): Selector =>
  selectorFor<BlockParams>(({ op, operands, parameters, dims }) => {
    const { data } = operands
    if (data === undefined || data.type === 'string') return undefined
    const [deep, wide] = toDepth ? [dims, data.dims] : [data.dims, dims]
    const loops = blockLoops(deep, wide, parameters).map(({ count: size, from, to }) =>
      toDepth ? { size, xStep: to, yStep: from } : { size, xStep: from, yStep: to }
    )
    return moveSelection(
      op,
      data,
      loops.sort((a, b) => b.yStep - a.yStep)
    )
  })

/**
 * @param inElements loops over the whole output, the outermost first; their steps are in elements
 * @param dataOf the operand whose elements are moved
 */
export function moveSelection(
  op: Op,
  data: Tensor,
  inElements: readonly Loop[],
  dataOf: (given: TensorOperands) => Tensor = given => given.data!
): Selection | undefined {
  const { byteLength, length } = arrayOf(data)
  if (byteLength < MIN_BYTES || length === 0) return undefined
  const width = byteLength / product(data.dims)
  if (!Number.isInteger(width)) return undefined
  const all = inElements.map(({ size, xStep, yStep }) => ({ size, xStep: xStep * width, yStep: yStep * width }))
  if (width > MAX_WIDTH) all.push({ size: width / MAX_WIDTH, xStep: MAX_WIDTH, yStep: MAX_WIDTH })
  const loops = merged(all)
  const inner = loops.at(-1)
  if (inner === undefined || loops.length > MAX_LOOPS) return undefined
  const unit = Math.min(width, MAX_WIDTH)
  if (inner.xStep === inner.yStep) return linesSelection(op, loops, byteLength, 0, dataOf)
  const template = inner.yStep === unit ? matrixTemplate(loops, byteLength, unit) : undefined
  return template && { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(dataOf(given))] })), looksAt: [] }
}

/**
 * The job that moves all elements of an output; undefined where no kernel does.
 * @param all loops over the output, the outermost first
 * @param bytes of the output
 * @param width bytes of an element
 */
export function moveTemplate(all: readonly Loop[], bytes: number, width: number): JobTemplate | undefined {
  const loops = merged(all)
  const inner = loops.at(-1)
  if (inner === undefined || loops.length > MAX_LOOPS) return undefined
  if (inner.xStep === inner.yStep) return loops.length < 2 ? undefined : linesTemplate(loops, bytes)
  return inner.yStep === width ? matrixTemplate(loops, bytes, width) : undefined
}

/**
 * Copies lines, long ones only where the input lies on the heap: else a copy there would take as long.
 * @param start bytes from the first element of the input to the first line
 */
export function linesSelection(
  op: Op,
  loops: readonly Loop[],
  bytes: number,
  start = 0,
  dataOf: (given: TensorOperands) => Tensor = given => given.data!
): Selection | undefined {
  // Loops that go backwards read from before the first line on, and what comes before that need not be staged.
  const lowest = loops.reduce((at, { size, xStep }) => at + Math.min(0, (size - 1) * xStep), start)
  const template = linesTemplate(loops, bytes, start - lowest)
  if (loops.length < 2 || template.blockBytes > MAX_LINE_BYTES) return undefined
  const kernel = jobKernel(op, given => {
    const whole = arrayOf(dataOf(given))
    const x = lowest === 0 ? whole : whole.subarray(lowest / whole.BYTES_PER_ELEMENT)
    return isOnHeap(x) || template.blockBytes <= MAX_STAGED_LINE_BYTES ? { template, inputs: [x] } : undefined
  })
  return { kernel, looksAt: [] }
}

/** The fewest loops, the outermost first. */
export function merged(all: readonly Loop[]): Loop[] {
  const loops: Loop[] = []
  for (const loop of all) {
    const last = loops.at(-1)
    if (loop.size === 1) continue
    const goesOn = last?.xStep === loop.xStep * loop.size && last.yStep === loop.yStep * loop.size
    if (goesOn) loops[loops.length - 1] = { ...loop, size: last.size * loop.size }
    else loops.push(loop)
  }
  return loops
}

/** Loops as arguments of a kernel: how many there are, then each. */
export const loopArguments = (loops: readonly Loop[]): number[] => [
  loops.length,
  ...loops.flatMap(({ size, xStep, yStep }) => [size, xStep, yStep])
]

/**
 * The arguments are those of LinesArguments in ../assembly/f32/transpose.ts.
 * @param loops of which the innermost is a line, and of which there are two at least
 * @param start bytes from the first element of the input to the first line
 */
export function linesTemplate(loops: readonly Loop[], bytes: number, start = 0): JobTemplate {
  const inner = loops[loops.length - 1]
  const outer = loops.slice(0, -1).reverse()
  const lineBytes = inner.size * inner.yStep
  return {
    kernel: 'lines',
    blocks: bytes / lineBytes,
    blockBytes: lineBytes,
    tile: Math.ceil(TILE_BYTES / lineBytes),
    work: bytes,
    inputs: staged(1),
    args: [lineBytes, start, ...loopArguments(outer)]
  }
}

/**
 * The arguments are those of TransposeArguments in ../assembly/f32/transpose.ts.
 * @param loops of which the innermost is not innermost in the input
 * @param width bytes of an element
 */
export function matrixTemplate(loops: readonly Loop[], bytes: number, width: number): JobTemplate | undefined {
  const rows = loops[loops.length - 1]
  const columns = loops.find(({ xStep }) => xStep === width)
  if (columns === undefined) return undefined
  const outer = loops.filter(loop => loop !== rows && loop !== columns).reverse()
  const perMatrix = Math.ceil(rows.size / BLOCK_ROWS)
  const blocks = outer.reduce((count, { size }) => count * size, perMatrix)
  return {
    kernel: 'transpose',
    blocks,
    blockBytes: Math.ceil(bytes / blocks),
    tile: Math.max(1, Math.floor(TILE_BYTES / (bytes / blocks))),
    work: 2 * bytes,
    inputs: staged(1),
    args: [Math.log2(width), rows.size, columns.size, rows.xStep, columns.yStep, ...loopArguments(outer)]
  }
}
