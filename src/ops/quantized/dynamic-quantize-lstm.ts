import { dequantized } from '../../kernels/quantized/codes.ts'
import { quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import { dequantizedWeights } from '../../kernels/quantized/gate-weights.ts'
import { params } from '../../op-kit/define.ts'
import { checkForms, checkRank } from '../../op-kit/ranks.ts'
import { checkLengths, validateLengths } from '../../op-kit/recurrent-shape.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toIndices } from '../../tensor/elements.ts'
import { allocate, product, Tensor } from '../../tensor/tensor.ts'
import { LSTM_OPERANDS, lstmBind, type LstmParams, lstmShape, runLstm } from '../recurrent/lstm.ts'

/** Rules of {@link dynamicQuantizeLstm}. */
export const dynamicQuantizeLstmRules = defineRules({
  name: 'DynamicQuantizeLSTM',
  operands: {
    ...LSTM_OPERANDS,
    wScale: 'tensor',
    wZero: 'tensor',
    rScale: 'tensor',
    rZero: 'tensor'
  },
  params: params<LstmParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: lstmBind }],

  shape({ w, r, wScale, wZero, rScale, rZero, ...rest }, p, call) {
    checkPart('W_scale', wScale, w)
    checkPart('W_zero_point', wZero, w)
    checkPart('R_scale', rScale, r)
    checkPart('R_zero_point', rZero, r)
    return lstmShape({ ...rest, w: gatesFirst('W', w), r: gatesFirst('R', r) }, p, call)
  },

  validate: (operands, p) => validateLengths(operands, p)
})

/**
 * A layer of long short-term memory with 8-bit weights, `[directions, input, gates]` and `[directions, hidden, gates]`,
 * which have a scale and a zero point for each direction or for each output of each gate: DynamicQuantizeLSTM-1 of
 * com.microsoft. What is multiplied with them is quantized to uint8 over its range: the input as a whole, up to the
 * longest sequence, and at each time step the hidden state of all sequences, those that have ended included. (ONNX
 * Runtime counts these as zeros where Y is asked for, or time runs backwards, and each of its threads rounds over the
 * sequences that it has: there, results for several sequences depend on what is asked for and on the threads.)
 */
export const dynamicQuantizeLstm = /* @__PURE__ */ withKernel(dynamicQuantizeLstmRules, {
  *run({ x, w, r, wScale, wZero, rScale, rZero, ...rest }, p, call) {
    const [steps] = x.dims
    const lengths = rest.lengths ? toIndices(rest.lengths) : [steps]
    checkLengths(lengths, steps)
    const longest = Array.from(lengths).reduce((a, b) => Math.max(a, b), 0)
    const weights = {
      w: yield* dequantizedWeights(w, wScale, wZero, 'float64'),
      r: yield* dequantizedWeights(r, rScale, rZero, 'float64')
    }
    yield* runLstm({ ...rest, x: yield* roundedSteps(x, longest), ...weights }, p, call, roundedTo8Bits)
  }
})

/** The fact of weights with the gates before what they are multiplied with, as other recurrent operators have them. */
function gatesFirst(name: string, weights: TensorFact): TensorFact {
  checkRank(name, weights, 3)
  const { shape } = weights
  return tensorFact('float32', shape && [shape[0], shape[2], shape[1]])
}

/** Checks a scale or a zero point of weights: one for each direction, or for each of its gates' outputs. */
function checkPart(name: string, part: TensorFact, { shape }: TensorFact): void {
  if (shape?.length === 3) checkForms(name, part, [shape[0]], [shape[0], shape[2]])
}

/** Numbers rounded to 8 bits over their range. */
function* roundedTo8Bits(numbers: Float32Array | Float64Array): Generator<void, Float64Array> {
  const dims = [numbers.length]
  const codes = allocate('uint8', dims)
  const tensor =
    numbers instanceof Float32Array ? new Tensor('float32', numbers, dims) : new Tensor('float64', numbers, dims)
  const quantization = yield* quantizeByRange(tensor, codes)
  return (yield* dequantized(codes, quantization)).data
}

/** The first `count` time steps rounded to 8 bits together; zeros for the others. */
function* roundedSteps(x: Tensor, count: number): Generator<void, Tensor> {
  const out = allocate('float64', x.dims)
  const part = (x.data as Float32Array).subarray(0, count * product(x.dims, 1))
  out.data.set(yield* roundedTo8Bits(part))
  return out
}
