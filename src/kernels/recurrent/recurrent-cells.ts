import { allocate } from '../../tensor/tensor.ts'
import type { UnaryLoop } from '../core/elementwise.ts'
import { COST, type Pace } from '../core/pace.ts'
import { gemm, matrix, type Matrix, rowsFrom, transposed } from '../matrix/gemm.ts'

/** Sizes of a layer's state: a row of `hidden` elements for each sequence of the batch. */
export interface CellSizes {
  readonly batch: number
  readonly hidden: number
}

/** What the gates of one direction have in common. */
export interface Gates {
  /** Recurrence weights: for each gate `hidden` rows of `hidden` elements. */
  readonly recurrence: Matrix
  /** Activation functions in the order of the specification: f, g, h. */
  readonly functions: readonly UnaryLoop[]
  /** Bound of the magnitude of what the gates' functions are given; Infinity where there is none. */
  readonly clip: number
}

/** The state of a recurrent layer, and how it advances by one time step. */
export interface Cell {
  readonly h: Float64Array
  /** The cell state of an LSTM. */
  readonly c?: Float64Array
  /**
   * Advances the state of the active sequences by one time step; the others keep theirs.
   * @param gates a row for each sequence, gate after gate: the biases plus the products with the input. Overwritten.
   * @param active 1 for each sequence that takes part, else 0
   */
  advance(gates: Matrix<Float64Array>, active: Uint8Array, pace: Pace): Generator<void>
}

/** Nanoseconds of activating and combining the `gates` gates of one sequence. */
const cellCost = (gates: number, hidden: number): number =>
  gates * hidden * (COST.element + COST.transcendental) + COST.allocation

/** A state as a matrix with a row for each sequence. */
const rowsOf = (data: Float64Array, hidden: number): Matrix<Float64Array> => matrix(data, 0, hidden)

function activate(data: Float64Array, at: number, size: number, f: UnaryLoop, clip: number): void {
  if (clip !== Infinity) for (let i = at; i < at + size; i++) data[i] = Math.max(-clip, Math.min(clip, data[i]))
  f(data, data, at, at + size)
}

/** `h = f(gate)`. */
export function rnnCell(
  { batch, hidden }: CellSizes,
  { recurrence, functions: [f], clip }: Gates,
  h: Float64Array
): Cell {
  return {
    h,
    *advance(gates, active, pace) {
      yield* gemm(batch, hidden, hidden, rowsOf(h, hidden), transposed(recurrence), gates, pace)
      const { data, offset } = gates
      for (let b = 0; b < batch; b++) {
        if (active[b] === 0) continue
        if (pace.isDue(cellCost(1, hidden))) yield
        const at = offset + b * hidden
        activate(data, at, hidden, f, clip)
        h.set(data.subarray(at, at + hidden), b * hidden)
      }
    }
  }
}

/**
 * Gates z, r, h: `h = (1 - z) g + z h` with `g = act(gate + (r h) R)`.
 * @param resetBias given for `linear_before_reset`, where `g = act(gate + r (h R + resetBias))`
 */
export function gruCell({ batch, hidden }: CellSizes, gates: Gates, h: Float64Array, resetBias?: Float64Array): Cell {
  const {
    recurrence,
    functions: [f, g],
    clip
  } = gates
  const hiddenWeights = transposed(rowsFrom(recurrence, 2 * hidden))
  const scratch = allocate('float64', [batch, hidden]).data

  /** Adds to the hidden gate what comes from the state; the reset gate has been activated. */
  function* addRecurrence({ data, offset, rowStride }: Matrix<Float64Array>, pace: Pace): Generator<void> {
    const reset = (b: number): number => offset + b * rowStride + hidden
    if (resetBias === undefined) {
      for (let b = 0; b < batch; b++)
        for (let i = 0, at = b * hidden; i < hidden; i++, at++) scratch[at] = data[reset(b) + i] * h[at]
      const gate = { data, offset: offset + 2 * hidden, rowStride, columnStride: 1 }
      yield* gemm(batch, hidden, hidden, rowsOf(scratch, hidden), hiddenWeights, gate, pace)
      return
    }
    for (let b = 0; b < batch; b++) scratch.set(resetBias, b * hidden)
    yield* gemm(batch, hidden, hidden, rowsOf(h, hidden), hiddenWeights, rowsOf(scratch, hidden), pace)
    for (let b = 0; b < batch; b++) {
      for (let i = 0, at = reset(b); i < hidden; i++, at++) data[at + hidden] += data[at] * scratch[b * hidden + i]
    }
  }

  return {
    h,
    *advance(gates, active, pace) {
      const { data, offset, rowStride } = gates
      yield* gemm(batch, 2 * hidden, hidden, rowsOf(h, hidden), transposed(recurrence), gates, pace)
      for (let b = 0; b < batch; b++) activate(data, offset + b * rowStride, 2 * hidden, f, clip)
      yield* addRecurrence(gates, pace)
      for (let b = 0; b < batch; b++) {
        if (active[b] === 0) continue
        if (pace.isDue(cellCost(3, hidden))) yield
        const z = offset + b * rowStride
        const next = z + 2 * hidden
        activate(data, next, hidden, g, clip)
        for (let i = 0, at = b * hidden; i < hidden; i++, at++)
          h[at] = (1 - data[z + i]) * data[next + i] + data[z + i] * h[at]
      }
    }
  }
}

export interface LstmOptions {
  /** Order of the gates: the letters i, o, f, c. */
  readonly order: string
  /** Weights of the cell state for the gates i, o, f, in this order. */
  readonly peepholes?: Float64Array
  /** `f = 1 - i`. */
  readonly couplesForget: boolean
  /** What the recurrence weights are multiplied with at each time step; the hidden state itself where left out. */
  readonly seen?: SeenState | undefined
}

/** Makes of the hidden state what a recurrence sees of it: the state rounded to 8 bits, for one. */
export type SeenState = (h: Float64Array) => Generator<void, Float64Array>

/** `c = f c + i g`, `h = o act(c)`. */
export function lstmCell(
  { batch, hidden }: CellSizes,
  gates: Gates,
  h: Float64Array,
  c: Float64Array,
  options: LstmOptions
): Cell {
  const { recurrence, functions, clip } = gates
  const { order, peepholes, couplesForget, seen } = options
  const [f, g, last] = functions
  const addPeephole = (data: Float64Array, gate: number, cell: number, which: number): void => {
    if (peepholes) for (let i = 0; i < hidden; i++) data[gate + i] += peepholes[which * hidden + i] * c[cell + i]
  }

  function advanceRow(data: Float64Array, at: number, cell: number): void {
    const [input, output, forget, next] = ['i', 'o', 'f', 'c'].map(gate => at + order.indexOf(gate) * hidden)
    addPeephole(data, input, cell, 0)
    addPeephole(data, forget, cell, 2)
    activate(data, input, hidden, f, clip)
    if (couplesForget) for (let i = 0; i < hidden; i++) data[forget + i] = 1 - data[input + i]
    else activate(data, forget, hidden, f, clip)
    activate(data, next, hidden, g, clip)
    for (let i = 0; i < hidden; i++) c[cell + i] = data[forget + i] * c[cell + i] + data[input + i] * data[next + i]
    addPeephole(data, output, cell, 1)
    activate(data, output, hidden, f, clip)
    // The input of the last function is the cell state itself, which is not clipped.
    data.set(c.subarray(cell, cell + hidden), next)
    last(data, data, next, next + hidden)
    for (let i = 0; i < hidden; i++) h[cell + i] = data[output + i] * data[next + i]
  }

  return {
    h,
    c,
    *advance(gates, active, pace) {
      const state = seen ? yield* seen(h) : h
      yield* gemm(batch, 4 * hidden, hidden, rowsOf(state, hidden), transposed(recurrence), gates, pace)
      for (let b = 0; b < batch; b++) {
        if (active[b] === 0) continue
        advanceRow(gates.data, gates.offset + b * gates.rowStride, b * hidden)
        if (pace.isDue(cellCost(5, hidden))) yield
      }
    }
  }
}
