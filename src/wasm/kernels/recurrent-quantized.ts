import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { dequantized } from '../../kernels/quantized/codes.ts'
import { quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import { dequantizedWeights } from '../../kernels/quantized/gate-weights.ts'
import type { Pack } from '../../op-kit/define.ts'
import type { RecurrentParams } from '../../op-kit/recurrent-params.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { selectorFor, type TensorOperands } from '../selector.ts'
import { isByte } from './byte-product.ts'
import { PACKS } from './recurrent-pack.ts'
import { readLengths } from './recurrent-rows.ts'
import { layerOf, lstmOrder, runLayer } from './recurrent.ts'

/**
 * DynamicQuantizeLSTM of float32, where a sequence has all steps: an LSTM with the numbers that its weights stand for,
 * of rounded inputs, which rounds the state before each step.
 */
export const selectDynamicQuantizeLstm = selectorFor<
  RecurrentParams & { readonly order: string; readonly couplesForget: boolean }
>(call => {
  const { op, operands, parameters } = call
  const { x, w, r, b, h, c, p, lengths: _lengths, ...scales } = operands
  const { wScale, rScale } = scales
  if (!w || !r) return undefined
  if (!isByte(w.type) || !isByte(r.type)) return undefined
  if (![x, b, h, c, p, wScale, rScale].every(tensor => tensor === undefined || tensor.type === 'float32'))
    return undefined
  const layer = layerOf(call, {
    kind: 'lstm',
    hidden: r.dims[1],
    order: lstmOrder(parameters.order),
    couplesForget: parameters.couplesForget,
    roundsState: true
  })
  if (layer === undefined) return undefined
  const kernel = attemptKernel(op, function* (tensors, _out, work, context) {
    // What is rounded, over its range, ends with the longest sequence.
    const lengths = readLengths(tensors.lengths, layer.steps)
    if (lengths !== 'full' && !lengths?.includes(layer.steps)) return false
    const weights = context.packed?.w && context.packed.r ? {} : yield* widened(tensors)
    return yield* runLayer(layer, { ...tensors, x: yield* rounded(tensors.x!), ...weights }, work, context)
  })
  return { kernel, pack: packCodes }
})

/** Packs what the codes of weights stand for, where all of them are constant, as the kernel of LSTM wants it. */
const packCodes: Pack = function* (given, parameters, context) {
  if (!CONSTANTS.every(name => name in given)) return undefined
  const weights = yield* widened(given)
  const packed = PACKS.lstm({ ...weights, ...(given.b && { b: given.b }) }, parameters, context)
  return packed && Symbol.iterator in packed ? yield* packed : packed
}
const CONSTANTS = ['w', 'wScale', 'wZero', 'r', 'rScale', 'rZero']

function* widened({ w, wScale, wZero, r, rScale, rZero }: TensorOperands): Generator<void, { w: Tensor; r: Tensor }> {
  return {
    w: yield* dequantizedWeights(w!, wScale!, wZero!, 'float32'),
    r: yield* dequantizedWeights(r!, rScale!, rZero!, 'float32')
  }
}

/** Numbers rounded to 8 bits over their range. */
function* rounded(x: Tensor): Generator<void, Tensor> {
  const codes = allocate('uint8', x.dims)
  const quantization = yield* quantizeByRange(x, codes)
  return yield* convertedPaced(yield* dequantized(codes, quantization), 'float32')
}
