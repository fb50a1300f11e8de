import type { Numbers } from '../../tensor/elements.ts'
import { maskedSoftmax } from '../attention/attention.ts'
import { doubles } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix, transposed } from '../matrix/gemm.ts'
import type { Cell, CellSizes } from './recurrent-cells.ts'

/** What a cell attends to. */
export interface Memory {
  /** `[batch, rows, depth]`. */
  readonly values: Numbers
  readonly rows: number
  readonly depth: number
  /** Number of valid rows of each sequence. */
  readonly lengths: ArrayLike<number>
  /** Keys of the rows, `[batch, rows, units]`. */
  readonly keys: Float64Array
  readonly units: number
  /** `hidden x units`: what makes queries of hidden states. */
  readonly query: Matrix
  /** Factors of the units in a score. */
  readonly score: Numbers
}

/** How attention comes into the gates. */
export interface AttentionInput {
  /** Columns of the attention that the gates get: the depth of the memory, or those of `layer`. */
  readonly width: number
  /** `gateSize x width`. */
  readonly weights: Matrix
  readonly gateSize: number
  /** `(hidden + depth) x width`: makes the attention of the hidden state and what was attended to. */
  readonly layer?: Matrix | undefined
}

/**
 * A cell whose gates also get the attention that followed the time step before, zeros at first. Its scores are
 * Bahdanau's, `Σ score tanh(key + h query)`.
 */
export function attentionCell(cell: Cell, { batch, hidden }: CellSizes, memory: Memory, input: AttentionInput): Cell {
  const { width, weights, gateSize, layer } = input
  const { values, rows, depth, units } = memory
  const attention = doubles(batch * width)
  const queries = doubles(batch * units)
  const contexts = doubles(batch * depth)
  const scores = doubles(rows)

  function* contextOf(b: number, pace: Pace): Generator<void> {
    const valid = scores.subarray(0, memory.lengths[b])
    for (let row = 0; row < valid.length; row++) {
      const key = (b * rows + row) * units
      let sum = 0
      for (let i = 0; i < units; i++) sum += memory.score[i] * Math.tanh(memory.keys[key + i] + queries[b * units + i])
      valid[row] = sum
      if (pace.isDue(units * (COST.element + COST.transcendental))) yield
    }
    maskedSoftmax(valid)
    const rowsOf = matrix(values, b * rows * depth, depth)
    const context = matrix(contexts, b * depth, depth)
    yield* gemm(1, depth, valid.length, matrix(scores, 0, rows), rowsOf, context, pace)
  }

  function* attend(active: Uint8Array, pace: Pace): Generator<void> {
    queries.fill(0)
    contexts.fill(0)
    yield* gemm(batch, units, hidden, matrix(cell.h, 0, hidden), memory.query, matrix(queries, 0, units), pace)
    for (let b = 0; b < batch; b++) {
      if (active[b] === 0) continue
      yield* contextOf(b, pace)
      const own = attention.subarray(b * width, (b + 1) * width)
      if (!layer) own.set(contexts.subarray(b * depth, (b + 1) * depth))
      else {
        own.fill(0)
        const below = { ...layer, offset: layer.offset + hidden * layer.rowStride }
        yield* gemm(1, width, hidden, matrix(cell.h, b * hidden, hidden), layer, matrix(own, 0, width), pace)
        yield* gemm(1, width, depth, matrix(contexts, b * depth, depth), below, matrix(own, 0, width), pace)
      }
    }
  }

  return {
    ...cell,
    *advance(gates, active, pace) {
      yield* gemm(batch, gateSize, width, matrix(attention, 0, width), transposed(weights), gates, pace)
      yield* cell.advance(gates, active, pace)
      yield* attend(active, pace)
    }
  }
}
