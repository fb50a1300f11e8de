import type { Numbers } from '../../tensor/elements.ts'
import { allocate } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'
import { gemm, type Matrix, transposed } from '../matrix/gemm.ts'
import type { Cell } from './recurrent-cells.ts'

/** Elements of the gates whose products with the input are computed ahead, for several time steps at once. */
const MAX_GATES_AHEAD = 1 << 18

/** Input sequences: element `i` of time step `t` of sequence `b` lies at `t * timeStride + b * batchStride + i`. */
export interface Sequences {
  readonly data: Numbers
  readonly timeStride: number
  readonly batchStride: number
}

/** One direction of a recurrent layer. */
export interface Layer {
  /** Number of time steps. */
  readonly steps: number
  readonly batch: number
  readonly inputSize: number
  /** Outputs of all gates together. */
  readonly gateSize: number
  readonly reverse: boolean
  /** Input weights, `gateSize x inputSize`. */
  readonly weights: Matrix
  /** `gateSize` biases. */
  readonly bias: Float64Array
}

/**
 * Runs a cell over sequences of different lengths. A reverse layer begins with the last time step, and a shorter
 * sequence joins at its own last step, which equals reversing each sequence by its length.
 * @param lengths number of time steps of each sequence
 * @param visit called after each time step with the sequences that took part: 1 for each, else 0
 */
export function* runLayer(
  layer: Layer,
  x: Sequences,
  lengths: ArrayLike<number>,
  cell: Cell,
  visit: (step: number, active: Uint8Array) => void
): Generator<void> {
  const { batch, gateSize, reverse, bias } = layer
  if (batch === 0 || gateSize === 0) return
  // Nobody takes part in steps after the longest sequence.
  let steps = 0
  for (let b = 0; b < batch; b++) steps = Math.max(steps, lengths[b])
  const pace = new Pace()
  const ahead = Math.max(1, Math.min(steps, Math.floor(MAX_GATES_AHEAD / Math.max(1, batch * gateSize))))
  const gates = allocate('float64', [ahead * batch * gateSize]).data
  const active = allocate('uint8', [batch]).data
  for (let done = 0; done < steps; done += ahead) {
    const count = Math.min(ahead, steps - done)
    const first = reverse ? steps - done - count : done
    for (let at = 0; at < count * batch * gateSize; at += gateSize) gates.set(bias, at)
    yield* addInputs(layer, x, first, count, gates, pace)
    for (let k = 0; k < count; k++) {
      const step = reverse ? first + count - 1 - k : first + k
      for (let b = 0; b < batch; b++) active[b] = step < lengths[b] ? 1 : 0
      yield* cell.advance(
        { data: gates, offset: (step - first) * batch * gateSize, rowStride: gateSize, columnStride: 1 },
        active,
        pace
      )
      visit(step, active)
      if (pace.isDue(batch * COST.element + COST.allocation)) yield
    }
  }
}

/**
 * Adds `x Wᵀ` of `count` time steps from `first` on to their gates: in one product where the rows of `x` are evenly
 * spaced, else in one for each sequence or for each step, whichever are fewer.
 */
function* addInputs(
  layer: Layer,
  x: Sequences,
  first: number,
  count: number,
  gates: Float64Array,
  pace: Pace
): Generator<void> {
  const { batch, inputSize, gateSize, weights } = layer
  const start = first * x.timeStride
  /** Adds the products of `rows` rows of x, from offset `from` on, to rows `to`, `to + toStride`, … of the gates. */
  const multiply = (rows: number, from: number, stride: number, to: number, toStride: number): Generator<void> =>
    gemm(
      rows,
      gateSize,
      inputSize,
      { data: x.data, offset: start + from, rowStride: stride, columnStride: 1 },
      transposed(weights),
      { data: gates, offset: to * gateSize, rowStride: toStride * gateSize, columnStride: 1 },
      pace
    )
  if (x.timeStride === batch * x.batchStride) yield* multiply(count * batch, 0, x.batchStride, 0, 1)
  else if (batch < count)
    for (let b = 0; b < batch; b++) yield* multiply(count, b * x.batchStride, x.timeStride, b, batch)
  else for (let t = 0; t < count; t++) yield* multiply(batch, t * x.timeStride, x.batchStride, t * batch, 1)
}
