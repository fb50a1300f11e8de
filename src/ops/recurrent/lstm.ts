import { lstmCell, type SeenState } from '../../kernels/recurrent/recurrent-cells.ts'
import { type KernelContext, params, type ShapeContext } from '../../op-kit/define.ts'
import {
  IR_TYPES,
  irCellBind,
  irSequenceBind,
  onnxBind,
  type RecurrentOperands,
  type RecurrentParams
} from '../../op-kit/recurrent-params.ts'
import { type Net, runRecurrent } from '../../op-kit/recurrent-run.ts'
import { recurrentShape, validateLengths } from '../../op-kit/recurrent-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, is } from '../../op-kit/sources.ts'
import type { Fact, TensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { sumOfHalves } from './rnn.ts'

/** Parameters of a long short-term memory. */
export interface LstmParams extends RecurrentParams {
  /** Order of the gates in weights and biases. */
  order: string
  /** Whether the forget gate is 1 minus the input gate. */
  couplesForget: boolean
}

const FUNCTIONS = ['sigmoid', 'tanh', 'tanh']
const GATES = 4
const multiples = ({ biases }: Pick<RecurrentParams, 'biases'>) => ({
  G: GATES,
  N: biases === 'apart' ? 2 * GATES : GATES,
  P: 3
})
/** Where ONNX's parameters come from. */
export const lstmBind = { ...onnxBind(FUNCTIONS), order: is('iofc'), couplesForget: flag('input_forget') }

/** The operands that every layer of long short-term memory begins with. */
export const LSTM_OPERANDS = {
  x: 'tensor',
  w: 'tensor',
  r: 'tensor',
  b: 'optional',
  lengths: 'optional',
  h: 'optional',
  c: 'optional',
  p: 'optional'
} as const

/** Rules of {@link lstm}. */
export const lstmRules = defineRules({
  name: 'LSTM',
  operands: LSTM_OPERANDS,
  params: params<LstmParams>(),
  onnx: [{ since: 1, bind: lstmBind }],
  openvino: [
    {
      type: 'LSTMSequence',
      since: 5,
      in: { x: 0, h: 1, c: 2, lengths: 3, w: 4, r: 5, b: 6 },
      types: IR_TYPES,
      bind: { ...irSequenceBind(FUNCTIONS), order: is('fico'), couplesForget: is(false) }
    },
    {
      type: 'LSTMCell',
      since: 1,
      in: { x: 0, h: 1, c: 2, w: 3, r: 4, b: 5 },
      types: IR_TYPES,
      bind: { ...irCellBind(FUNCTIONS), order: is('fico'), couplesForget: is(false) }
    }
  ],
  shape: lstmShape,
  validate: (operands, p) => validateLengths(operands, p)
})

/**
 * A layer of long short-term memory: ONNX LSTM-1, -7 (without output_sequence), -14 (layout), -22 (bfloat16); OpenVINO
 * LSTMSequence-5, and LSTMCell-1 and -4 for a single time step. `clip` bounds what the gates' functions are given, not
 * the cell state in `h(C)`, as in ONNX Runtime and OpenVINO. The gates of an IR are in the order fico, as specified:
 * OpenVINO writes the attributes `weights_format` (`ifco` unless somebody set it) and `input_forget` of LSTMCell-1 and
 * reads neither.
 */
export const lstm = /* @__PURE__ */ withKernel(lstmRules, {
  run: (operands, p, call) => runLstm(operands, p, call)
})

/** Facts of the results: the hidden states of all time steps, the final hidden state, the final cell state. */
export function lstmShape(operands: RecurrentOperands<TensorFact>, p: LstmParams, call: ShapeContext): Fact[] {
  return recurrentShape(operands, p, multiples(p), 2, call)
}

/**
 * Runs a layer of long short-term memory.
 * @param seen what the recurrence sees of the hidden state
 */
export function runLstm(
  operands: RecurrentOperands<Tensor>,
  { order, couplesForget, ...p }: LstmParams,
  call: KernelContext,
  seen?: SeenState
): Generator<void> {
  const net: Net = {
    gateCount: GATES,
    cellOf: ({ sizes, gates, h, c, peepholes }) =>
      lstmCell(sizes, gates, h, c, { order, couplesForget, seen, ...(peepholes && { peepholes }) }),
    biasOf: biases => (p.biases === 'apart' ? sumOfHalves(biases) : biases)
  }
  return runRecurrent(operands, p, net, call)
}
