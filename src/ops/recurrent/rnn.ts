import { rnnCell } from '../../kernels/recurrent/recurrent-cells.ts'
import { params } from '../../op-kit/define.ts'
import { IR_TYPES, irCellBind, irSequenceBind, onnxBind, type RecurrentParams } from '../../op-kit/recurrent-params.ts'
import { runRecurrent } from '../../op-kit/recurrent-run.ts'
import { recurrentShape, validateLengths } from '../../op-kit/recurrent-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'

const FUNCTIONS = ['tanh']
const multiples = ({ biases }: Pick<RecurrentParams, 'biases'>) => ({ G: 1, N: biases === 'apart' ? 2 : 1, P: 0 })

/** Rules of {@link rnn}. */
export const rnnRules = defineRules({
  name: 'RNN',
  operands: { x: 'tensor', w: 'tensor', r: 'tensor', b: 'optional', lengths: 'optional', h: 'optional' },
  params: params<RecurrentParams>(),
  onnx: [{ since: 1, bind: onnxBind(FUNCTIONS) }],
  openvino: [
    {
      type: 'RNNSequence',
      since: 5,
      in: { x: 0, h: 1, lengths: 2, w: 3, r: 4, b: 5 },
      types: IR_TYPES,
      bind: irSequenceBind(FUNCTIONS)
    },
    { type: 'RNNCell', since: 1, in: { x: 0, h: 1, w: 2, r: 3, b: 4 }, types: IR_TYPES, bind: irCellBind(FUNCTIONS) }
  ],
  shape: (operands, p, call) => recurrentShape(operands, p, multiples(p), 1, call),
  validate: (operands, p) => validateLengths(operands, p)
})

/**
 * A layer of a simple recurrence, `h = f(x Wᵀ + h Rᵀ + biases)`: ONNX RNN-1, -7 (without output_sequence), -14
 * (layout), -22 (bfloat16); OpenVINO RNNSequence-5, and RNNCell-1 for a single time step.
 */
export const rnn = /* @__PURE__ */ withKernel(rnnRules, {
  run: (operands, p, call) =>
    runRecurrent(
      operands,
      p,
      {
        gateCount: 1,
        cellOf: ({ sizes, gates, h }) => rnnCell(sizes, gates, h),
        biasOf: biases => (p.biases === 'apart' ? sumOfHalves(biases) : biases)
      },
      call
    )
})

/** Sums of the biases of the input (first half) and of the recurrence (second half). */
export function sumOfHalves(biases: Float64Array): Float64Array {
  const half = biases.length / 2
  return biases.slice(0, half).map((value, i) => value + biases[half + i])
}
