import { gruCell } from '../../kernels/recurrent/recurrent-cells.ts'
import { params } from '../../op-kit/define.ts'
import { IR_TYPES, irCellBind, irSequenceBind, onnxBind, type RecurrentParams } from '../../op-kit/recurrent-params.ts'
import { runRecurrent } from '../../op-kit/recurrent-run.ts'
import { recurrentShape, validateLengths } from '../../op-kit/recurrent-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, is } from '../../op-kit/sources.ts'
import { sumOfHalves } from './rnn.ts'

interface Params extends RecurrentParams {
  /** Whether the reset gate is multiplied with the recurrence's product instead of with the state. */
  linearBeforeReset: boolean
}

const FUNCTIONS = ['sigmoid', 'tanh']
const GATES = 3

/** With linear_before_reset, IR has the biases of the input and of the recurrence of the hidden gate as two. */
const multiples = ({ biases, linearBeforeReset }: Pick<Params, 'biases' | 'linearBeforeReset'>) => ({
  G: GATES,
  N: biases === 'apart' ? 2 * GATES : linearBeforeReset ? GATES + 1 : GATES,
  P: 0
})

const linearBeforeReset = flag('linear_before_reset')

/** Rules of {@link gru}. */
export const gruRules = defineRules({
  name: 'GRU',
  operands: { x: 'tensor', w: 'tensor', r: 'tensor', b: 'optional', lengths: 'optional', h: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...onnxBind(FUNCTIONS), linearBeforeReset: is(false) } },
    { since: 3, bind: { ...onnxBind(FUNCTIONS), linearBeforeReset } }
  ],
  openvino: [
    {
      type: 'GRUSequence',
      since: 5,
      in: { x: 0, h: 1, lengths: 2, w: 3, r: 4, b: 5 },
      types: IR_TYPES,
      bind: { ...irSequenceBind(FUNCTIONS), linearBeforeReset }
    },
    {
      type: 'GRUCell',
      since: 3,
      in: { x: 0, h: 1, w: 2, r: 3, b: 4 },
      types: IR_TYPES,
      bind: { ...irCellBind(FUNCTIONS), linearBeforeReset }
    }
  ],
  shape: (operands, p, call) => recurrentShape(operands, p, multiples(p), 1, call),
  validate: (operands, p) => validateLengths(operands, p)
})

/**
 * A layer of gated recurrent units: ONNX GRU-1, -3 (linear_before_reset), -7 (without output_sequence), -14 (layout),
 * -22 (bfloat16); OpenVINO GRUSequence-5, and GRUCell-3 for a single time step.
 */
export const gru = /* @__PURE__ */ withKernel(gruRules, {
  run: (operands, p, call) =>
    runRecurrent(
      operands,
      p,
      {
        gateCount: GATES,
        cellOf: ({ sizes, gates, h, biases }) =>
          gruCell(sizes, gates, h, p.linearBeforeReset ? resetBias(sizes.hidden, biases) : undefined),
        biasOf: biases => gateBias(biases, p)
      },
      call
    )
})

/** The bias of the hidden gate's recurrence, which is the last of all. */
const resetBias = (hidden: number, biases: Float64Array | undefined): Float64Array =>
  biases?.slice(-hidden) ?? new Float64Array(hidden)

/** The biases that are added to the gates before the recurrence; see `resetBias` for the one that is not. */
function gateBias(biases: Float64Array, p: Pick<Params, 'biases' | 'linearBeforeReset'>): Float64Array {
  if (!p.linearBeforeReset) return p.biases === 'apart' ? sumOfHalves(biases) : biases
  const hidden = biases.length / multiples(p).N
  if (p.biases === 'summed') return biases.slice(0, GATES * hidden)
  const sums = sumOfHalves(biases)
  sums.set(biases.subarray(2 * hidden, GATES * hidden), 2 * hidden)
  return sums
}
