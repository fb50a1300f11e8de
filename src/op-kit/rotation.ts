import { headsInBlocks, swapHeads } from '../kernels/attention/heads.ts'
import { rotateHeads } from '../kernels/attention/rotary.ts'
import { broadcastStrides } from '../kernels/core/elementwise.ts'
import { readNumbers, targetOf } from '../kernels/core/numbers.ts'
import { Pace } from '../kernels/core/pace.ts'
import { broadcastShapes, type Dim } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { stridesOf } from '../tensor/tensor.ts'
import { defineOp, type Op, params } from './define.ts'

export interface RotationParams {
  /** Neighbours are rotated as a pair, instead of elements at the same position of the two halves. */
  readonly interleaved: boolean
  /** Rows come before heads, `[batch, rows, heads, size]`; the result is `[batch, heads, rows, size]` all the same. */
  readonly rowsFirst: boolean
}

/**
 * Rotates pairs of elements of each row by angles: what the planner makes of rotary positions that a file has in nodes
 * of its own. Cosines and sines have one number for each element of a row, where it lies, or one for each pair; x and
 * they are broadcast to each other along all other axes. At most one axis of batches and one of heads.
 */
export const rotation: Op = defineOp({
  name: 'Rotation',
  operands: { x: 'tensor', cos: 'tensor', sin: 'tensor' },
  params: params<RotationParams>(),
  shape: ({ x, cos }, { rowsFirst }) => [
    tensorFact(x.type, x.shape && cos.shape && resultShape(x.shape, cos.shape, rowsFirst))
  ],

  *run({ x, cos, sin }, { interleaved, rowsFirst }, call) {
    const out = call.output()
    const layout = rotationLayout(x.dims, cos.dims, rowsFirst)
    const { batches, heads, length, size, half, perElement } = layout
    const [batchStride, headStride, rowStride] = layout.x
    const numbers = yield* readNumbers(x)
    const from = { numbers, count: heads, length, size, offset: 0, batchStride, headStride, rowStride }
    const target = targetOf(out)
    const to = headsInBlocks(target.numbers, heads, length, size)
    const angles = { cos: yield* readNumbers(cos), sin: yield* readNumbers(sin), half, interleaved, perElement }
    const [perBatch, perHead, perRow] = layout.angles
    const at = (batch: number, row: number, head: number): number => batch * perBatch + head * perHead + row * perRow
    yield* rotateHeads(from, to, batches, angles, at, new Pace())
    yield* target.finish()
  }
})

/** Of rows as long as those of x: what a file computes of x and angles that are broadcast to each other. */
function resultShape(x: readonly Dim[], angles: readonly Dim[], rowsFirst: boolean): readonly Dim[] {
  const rows = swapHeads(x, rowsFirst)
  return broadcastShapes([rows, [...angles.slice(0, -1), 1]]) ?? rows
}

/** Sizes of a rotation, and how far x and the angles are from batch to batch, head to head and row to row. */
export interface RotationLayout {
  readonly batches: number
  readonly heads: number
  readonly length: number
  readonly size: number
  readonly half: number
  readonly perElement: boolean
  readonly x: readonly number[]
  readonly angles: readonly number[]
}

export function rotationLayout(x: readonly number[], angles: readonly number[], rowsFirst: boolean): RotationLayout {
  const own = [1, 1, 1, ...x].slice(-4)
  const rows = swapHeads(own, rowsFirst)
  const of = [1, 1, 1, ...angles].slice(-4)
  const [batches, heads, length] = rows.map((dim, i) => (dim === 1 ? of[i] : dim))
  const [size, columns] = [rows[3], of[3]]
  const steps = swapHeads(stridesOf(own), rowsFirst).map((step, i) => (rows[i] === 1 ? 0 : step))
  return {
    ...{ batches, heads, length, size, half: size / 2 },
    perElement: columns === size,
    x: steps.slice(0, 3),
    angles: broadcastStrides(angles, [batches, heads, length, columns]).slice(0, 3)
  }
}
