import { resolveIndices } from '../../kernels/gather/indices.ts'
import { rotationLayout, type RotationParams } from '../../op-kit/rotation.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { indexReader } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { areFloat32, arrayOf, jobKernel, jobSelection, selectorFor, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 12
/** Elements of a tile, which take about 0.1 ms. */
const TILE = 1 << 16

/** Rotary positions that a plan made one call of. */
export const selectRotation = selectorFor<RotationParams>(({ op, operands, parameters }) => {
  const { x, cos, sin } = operands
  if (!x || !cos || !sin || !areFloat32(operands) || x.data.length < MIN_ELEMENTS) return undefined
  const { interleaved, rowsFirst } = parameters
  const layout = rotationLayout(x.dims, cos.dims, rowsFirst)
  const { batches, heads, length, size, half, perElement } = layout
  const steps = [layout.x, [heads * length * size, length * size, size], layout.angles]
  const template = rotateTemplate({ batches, heads, length, size, half, interleaved, perElement, steps })
  return jobSelection(op, template, ['x', 'cos', 'sin'])
})

interface Rotate {
  readonly batches: number
  readonly heads: number
  readonly length: number
  readonly size: number
  readonly half: number
  readonly interleaved: boolean
  readonly perElement: boolean
  /** Elements from batch to batch, head to head and row to row: of x, of the result, of the angles. */
  readonly steps: readonly (readonly number[])[]
}

/** The arguments are those of RotateArguments in ../assembly/f32/rotate.ts. */
export const rotateTemplate = (rotate: Rotate): JobTemplate => {
  const { batches, heads, length, size, half, interleaved, perElement, steps } = rotate
  return {
    kernel: 'rotate',
    blocks: batches * heads * length,
    blockBytes: size * 4,
    tile: Math.ceil(TILE / size),
    work: batches * heads * length * size * ELEMENT_WORK,
    inputs: staged(3),
    args: [
      ...[heads, length, size, half],
      ...steps.flat().map(step => step * 4),
      ...[interleaved, perElement].map(Number)
    ]
  }
}

interface EmbeddingParams {
  /** 0 or undefined: by the width of the tables. */
  readonly heads?: number
  readonly interleaved: boolean
  /** Columns that go by other positions of a token than its first: only in MRotaryEmbedding. */
  readonly sections?: readonly number[]
}

/** RotaryEmbedding of ONNX and of com.microsoft; tokens of several positions are left to the reference. */
export const selectRotaryEmbedding = selectorFor<EmbeddingParams>(({ op, operands, parameters }) => {
  const { positions: _positions, ...floats } = operands
  const { x, cos, sin } = floats
  if (!x || !cos || !sin || !areFloat32(floats) || x.data.length < MIN_ELEMENTS || parameters.sections) return undefined
  const half = cos.dims[cos.dims.length - 1]
  const isFlat = x.dims.length === 3
  const heads = isFlat ? parameters.heads || x.dims[2] / (2 * half) : x.dims[1]
  const [batches, length] = [x.dims[0], x.dims[x.dims.length - 2]]
  const size = isFlat ? x.dims[2] / heads : x.dims[3]
  const all = heads * length * size
  const own = isFlat ? [all, size, heads * size] : [all, length * size, size]
  const { interleaved } = parameters
  const sizes = { batches, heads, length, size, half, interleaved, perElement: false }
  const [shared, each] = [0, length * half].map(perBatch =>
    rotateTemplate({ ...sizes, steps: [own, own, [perBatch, 0, half]] })
  )
  return {
    kernel: jobKernel(op, given => {
      const tables = [given.cos!, given.sin!].map(tensor => tensor.data as Float32Array)
      const [tokens] = given.cos!.dims
      const ofTokens = tokens === 1 ? 0 : 'each'
      const rows = given.positions ? rowsOf(given.positions, batches, length, tokens) : ofTokens
      if (rows === undefined) return undefined
      const isShared = typeof rows === 'number'
      const angles = tables.map(table =>
        isShared
          ? table.subarray(rows * half, (rows + length) * half)
          : rows === 'each'
            ? table
            : rowsAt(table, rows, half)
      )
      return { template: isShared ? shared : each, inputs: [arrayOf(given.x!), ...angles] }
    })
  }
})

/**
 * Rows of the tables that the tokens go by: a list, or the first of those that follow one another in each batch.
 * Undefined where the reference is to say what is wrong.
 */
function rowsOf(
  positions: Tensor,
  batches: number,
  length: number,
  limit: number
): number | ArrayLike<number> | undefined {
  if (positions.dims.length < 2) {
    const first = indexReader(positions)(0)
    return first >= 0 && first + length <= limit ? first : undefined
  }
  const rows = resolveIndices(positions, limit, 0, FROM_START)
  for (let token = 0; token < batches * length; token++) if (rows[token] !== rows[0] + (token % length)) return rows
  return rows[0]
}

/** Rows of a table one after the other. */
function rowsAt(table: Float32Array, rows: ArrayLike<number>, half: number): Float32Array {
  const found = new Float32Array(rows.length * half)
  for (let i = 0; i < rows.length; i++) found.set(table.subarray(rows[i] * half, (rows[i] + 1) * half), i * half)
  return found
}
