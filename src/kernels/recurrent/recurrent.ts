import type { Numbers } from '../../tensor/elements.ts'
import { allocate } from '../../tensor/tensor.ts'
import { gemm, type Matrix, type Pace, transposed } from '../matrix/gemm.ts'
import type { Cell } from './recurrent-cells.ts'

/** Elements of all steps' gates that are computed ahead. */
const AHEAD = 1 << 18
/** What an activation function costs, in multiplications. */
const FUNCTION_WORK = 16

/** Input sequences: element `i` of step `s` of sequence `b` lies at `s * step + b * batch + i`. */
export interface Sequences {
  readonly data: Numbers
  readonly step: number
  readonly batch: number
}

/** One direction of a recurrent layer. */
export interface Layer {
  readonly steps: number
  readonly batch: number
  readonly inputSize: number
  /** Outputs of all gates together: rows of `weights`. */
  readonly gateSize: number
  readonly reverse: boolean
  readonly weights: Matrix
  /** One for each output of each gate. */
  readonly bias: Float64Array
}

/**
 * Runs a cell over sequences whose lengths may differ: each has its own first steps only. A reverse layer begins with
 * the last step;
 * a shorter sequence joins when its last step comes, which is the same as reversing it alone.
 * @param visit called after each step with the sequences that took part
 */
export function* runLayer(
  layer: Layer,
  x: Sequences,
  lengths: ArrayLike<number>,
  cell: Cell,
  visit: (step: number, active: Uint8Array) => void
): Generator<void> {
  const { steps, batch, gateSize, reverse, bias } = layer
  const pace: Pace = { work: 0 }
  const ahead = Math.max(1, Math.min(steps, Math.floor(AHEAD / Math.max(1, batch * gateSize))))
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
      pace.work += batch * gateSize * FUNCTION_WORK
    }
  }
}

/** Adds `x W^T` of `count` steps to their gates, with as few products as the order of the input allows. */
function* addInputs(
  layer: Layer,
  x: Sequences,
  first: number,
  count: number,
  gates: Float64Array,
  pace: Pace
): Generator<void> {
  const { batch, inputSize, gateSize, weights } = layer
  const start = first * x.step
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
  if (x.step === batch * x.batch) return yield* multiply(count * batch, 0, x.batch, 0, 1)
  if (batch < count) for (let b = 0; b < batch; b++) yield* multiply(count, b * x.batch, x.step, b, batch)
  else for (let s = 0; s < count; s++) yield* multiply(batch, s * x.step, x.batch, s * batch, 1)
}
