import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import type { KernelName } from '../wasm.ts'

/** A loop over the output: its size, and the bytes that each operand moves by. */
interface BroadcastLoop {
  size: number
  readonly steps: readonly number[]
}

/** An operand: its dims, and the bytes of an element. */
export interface Strided {
  readonly dims: readonly number[]
  readonly width: number
}

/** Loops that fit into the arguments of a job besides the innermost. */
const MAX_OUTER_LOOPS = 8

/**
 * The fewest loops over `dims`, the innermost first, with operands broadcast by NumPy's rules; there is at least one.
 */
function broadcastLoops(operands: readonly Strided[], dims: readonly number[]): BroadcastLoop[] {
  const loops: BroadcastLoop[] = []
  const next = operands.map(({ width }) => width)
  for (let i = 1; i <= dims.length; i++) {
    const size = dims[dims.length - i]
    const steps = operands.map((operand, k) => {
      const dim = operand.dims[operand.dims.length - i] ?? 1
      const step = dim === 1 ? 0 : next[k]
      next[k] *= dim
      return step
    })
    if (size === 1) continue
    const last = loops.at(-1)
    if (last && steps.every((step, k) => step === last.steps[k] * last.size)) last.size *= size
    else loops.push({ size, steps })
  }
  return loops.length > 0 ? loops : [{ size: 1, steps: operands.map(() => 0) }]
}

/** What the elements of a job over such loops cost. */
interface ElementCost {
  /** Bytes of an element of the output. */
  readonly width: number
  /** Elements of a tile. */
  readonly tile: number
  /** Work of an element, in bytes that could be copied in the same time. */
  readonly work: number
}

/**
 * A job over broadcast operands, whose blocks are lines; the elements of a single line are blocks of their own, so that
 * threads can share it. Its arguments are those of the kernel, elements of a line and bytes that each operand moves by
 * there, and then the number of outer loops, and of each its size and steps.
 * @param own arguments of the kernel
 * @param afterLine further ones, which come before the outer loops
 * @returns undefined where there are more loops than arguments have room for
 */
export function broadcastTemplate(
  kernel: KernelName,
  operands: readonly Strided[],
  dims: readonly number[],
  { width, tile, work }: ElementCost,
  own: readonly number[],
  afterLine: readonly number[] = []
): JobTemplate | undefined {
  const [inner, ...outer] = broadcastLoops(operands, dims)
  if (outer.length > MAX_OUTER_LOOPS) return undefined
  const lines = outer.reduce((count, { size }) => count * size, 1)
  const [blocks, perBlock] = outer.length === 0 ? [inner.size, 1] : [lines, inner.size]
  const blockBytes = perBlock * width
  return {
    kernel,
    blocks,
    blockBytes,
    tile: Math.max(1, Math.floor(tile / perBlock)),
    work: lines * inner.size * work,
    ...placedByParts(operands, { blocks, blockBytes }, perBlock),
    args: [
      ...own,
      inner.size,
      ...inner.steps,
      ...afterLine,
      outer.length,
      ...outer.flatMap(({ size, steps }) => [size, ...steps])
    ]
  }
}

/** Bytes of an output up to which whole arrays are copied to the heap and back: two parts, which a cache holds. */
const MAX_WHOLE = 1 << 19
/** Most bytes of a block that is staged with others of its part, see PART_BYTES. */
const MAX_BLOCK_BYTES = 1 << 15

/** How a job takes arrays that do not lie on the heap. */
export type Placement = Pick<JobTemplate, 'inputs' | 'outputStaging'>

/**
 * Operands that have an element for each of the output, and the output, pass through the stage part by part, each while
 * it is in the cache; operands that are broadcast are copied as a whole. What is small is copied as a whole, too.
 * @param operands of a job that computes the elements of its output one by one, in the order of its inputs
 * @param perBlock elements of a block
 */
export function placedByParts(
  operands: readonly Strided[],
  { blocks, blockBytes }: Pick<JobTemplate, 'blocks' | 'blockBytes'>,
  perBlock: number
): Placement {
  const widest = Math.max(blockBytes, ...operands.map(({ width }) => width * perBlock))
  const areParts = blocks * blockBytes > MAX_WHOLE && widest <= MAX_BLOCK_BYTES
  const isWhole = ({ dims }: Strided): boolean => !areParts || product(dims) !== blocks * perBlock
  return {
    inputs: operands.map(operand =>
      isWhole(operand) ? { staging: 'whole' } : { staging: 'parts', elementsPerBlock: perBlock }
    ),
    outputStaging: areParts ? 'parts' : 'whole'
  }
}

/** Whether a job writes an output outside the heap part by part, see Selection. */
export const isByParts = ({ outputStaging }: Placement): boolean => outputStaging === 'parts'
