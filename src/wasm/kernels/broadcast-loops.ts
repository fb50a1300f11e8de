/** A loop over the output: its size, and the bytes that each operand moves by. */
export interface BroadcastLoop {
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
export function broadcastLoops(operands: readonly Strided[], dims: readonly number[]): BroadcastLoop[] {
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

/** How the elements of a job over such loops are cut into blocks and tiles. */
export interface LineBlocks {
  readonly inner: BroadcastLoop
  /** The number of outer loops, then of each its size and steps. */
  readonly outerArguments: readonly number[]
  readonly blocks: number
  readonly blockBytes: number
  readonly tile: number
  readonly elements: number
}

/**
 * Blocks of lines; the elements of a single line are blocks of their own, so that threads can share it.
 * @param width bytes of an element of the output
 * @param tile elements of a tile
 * @returns undefined where there are more loops than arguments have room for
 */
export function lineBlocks(loops: readonly BroadcastLoop[], width: number, tile: number): LineBlocks | undefined {
  const [inner, ...outer] = loops
  if (outer.length > MAX_OUTER_LOOPS) return undefined
  const lines = outer.reduce((count, { size }) => count * size, 1)
  const isOneLine = outer.length === 0
  return {
    inner,
    outerArguments: [outer.length, ...outer.flatMap(({ size, steps }) => [size, ...steps])],
    blocks: isOneLine ? inner.size : lines,
    blockBytes: isOneLine ? width : inner.size * width,
    tile: isOneLine ? tile : Math.max(1, Math.floor(tile / inner.size)),
    elements: lines * inner.size
  }
}
