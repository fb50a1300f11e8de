import type { RecurrentParams } from '../../op-kit/recurrent-params.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { arrayOf } from '../selector.ts'
import type { RecurrentKind } from './recurrent-pack.ts'

/** A recurrent layer with its sizes. */
export interface Layer {
  readonly kind: RecurrentKind
  readonly gates: number
  readonly directions: readonly boolean[]
  readonly steps: number
  readonly batch: number
  readonly inputs: number
  readonly hidden: number
  /** Places of the gates input, output, forget and cell of an LSTM in a row of gates. */
  readonly order: readonly number[]
  readonly linearBeforeReset: boolean
  /** Functions of each direction, as arguments of the kernel. */
  readonly functions: readonly number[]
  /** LSTM: whether the forget gate is 1 minus the input gate. */
  readonly couplesForget: boolean
  /** LSTM: states are rounded to 8 bits before weights multiply them. */
  readonly roundsState: boolean
  readonly params: RecurrentParams
}

/** Elements from one step, sequence and direction to the next. */
export type Strides = Readonly<Record<'S' | 'B' | 'D', number>>

/** Strides of a tensor whose axes are in the order of `letters`. */
export function stridesOf({ steps, batch, directions, hidden }: Layer, letters: string): Strides {
  const sizes: Readonly<Record<string, number>> = { S: steps, B: batch, D: directions.length, H: hidden }
  const strides = { S: 0, B: 0, D: 0, H: 0 }
  let stride = 1
  for (const letter of [...letters].reverse()) {
    strides[letter as keyof typeof strides] = stride
    stride *= sizes[letter]
  }
  return strides
}

/** Copies an initial state, zeros where there is none, to [directions][batch][hidden]. */
export function readState(layer: Layer, tensor: Tensor | undefined, state: Float32Array): void {
  if (tensor === undefined) {
    state.fill(0)
    return
  }
  const { hidden, batch, directions, params } = layer
  const data = tensor.data as Float32Array
  const strides = stridesOf(layer, params.layout.state)
  for (let d = 0; d < directions.length; d++)
    for (let b = 0; b < batch; b++) {
      const at = d * strides.D + b * strides.B
      state.set(data.subarray(at, at + hidden), (d * batch + b) * hidden)
    }
}

/** The gates lie in the order of the input's rows. */
export function gateStrides(layer: Layer): Strides {
  const { directions, gates, hidden, params, steps, batch } = layer
  const row = directions.length * gates * hidden
  const isStepsFirst = params.layout.x.startsWith('S')
  return { S: isStepsFirst ? batch * row : row, B: isStepsFirst ? row : steps * row, D: gates * hidden }
}

export function copyRows(
  { steps, batch, directions, hidden }: Layer,
  from: Float32Array,
  a: Strides,
  to: Float32Array,
  b: Strides
): void {
  for (let s = 0; s < steps; s++)
    for (let d = 0; d < directions.length; d++)
      for (let n = 0; n < batch; n++) {
        const at = s * a.S + d * a.D + n * a.B
        to.set(from.subarray(at, at + hidden), s * b.S + d * b.D + n * b.B)
      }
}

/**
 * Numbers of steps of the sequences.
 * @returns 'full' where each sequence has all steps, undefined where one has a number that is out of range
 */
export function readLengths(lengths: Tensor | undefined, steps: number): readonly number[] | 'full' | undefined {
  if (lengths === undefined) return 'full'
  const values = Array.from<number | bigint, number>(arrayOf(lengths), Number)
  if (!values.every(length => length >= 0 && length <= steps)) return undefined
  return values.every(length => length === steps) ? 'full' : values
}

/** Final states of sequences without steps are zeros, whatever their initial states. */
export function clearEmpty({ batch, directions, hidden }: Layer, lengths: Int32Array, state: Float32Array): void {
  for (let d = 0; d < directions.length; d++)
    for (let b = 0; b < batch; b++)
      if (lengths[b] === 0) state.fill(0, (d * batch + b) * hidden, (d * batch + b + 1) * hidden)
}
