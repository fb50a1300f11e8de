import type { ConvPlan } from '../../kernels/conv/conv-plan.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import type { WeightParams } from '../../op-kit/conv-shape.ts'
import { convPlan } from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, is } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { openvinoWindows } from '../../op-kit/window-sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { WindowParams } from '../../shapes/window.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { convolvedShape } from './conv.ts'

interface Params extends WindowParams, WeightParams {
  mode: 'xnor-popcount'
  padValue: number
}

/** Rules of {@link binaryConvolution}. */
export const binaryConvolutionRules = defineRules({
  name: 'BinaryConvolution',
  operands: { x: 'tensor', w: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      types: { x: NUMERIC, w: ['uint1'] },
      bind: {
        ...openvinoWindows,
        group: is(1),
        kernelShape: is(undefined),
        mode: choice('mode', { 'xnor-popcount': 'xnor-popcount' }),
        padValue: float('pad_value')
      }
    }
  ],

  shape({ x, w }, p) {
    checkRank('the data', x, 4)
    return [tensorFact(x.type, convolvedShape(x, w, undefined, p))]
  }
})

/**
 * Convolution of bits, where 0 (and numbers below) stands for -1: the sum of products is twice the number of equal bits
 * minus the number of all bits. Padding is a number from -1 to 1, not a bit. OpenVINO BinaryConvolution-1; weights are
 * u1 in the bit order of all u1 tensors (its CPU plugin reads them in the opposite order).
 */
export const binaryConvolution = /* @__PURE__ */ withKernel(binaryConvolutionRules, {
  *run({ x, w }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const plan = convPlan(x.dims, w.dims, out.dims, p)
    const weights = signs(w)
    const sums = allocate('float32', out.dims)
    yield* convolve(signs(x), weights, undefined, sums, plan)
    if (p.padValue !== 0 && plan.axes.some(({ begin, end }) => begin + end > 0))
      yield* addPadding(sums, weights, p.padValue, plan)
    yield* convertPaced(sums, out)
  }
})

function signs(bits: Tensor): Tensor<'float32'> {
  const result = allocate('float32', bits.dims)
  const numbers = toDoubles(bits)
  for (let i = 0; i < numbers.length; i++) result.data[i] = numbers[i] > 0 ? 1 : -1
  return result
}

/**
 * Adds the weights that lie over padding, times the value of the padding. They are all weights minus those over
 * elements, and a convolution of ones sums the latter.
 */
function* addPadding(
  sums: Tensor<'float32'>,
  weights: Tensor<'float32'>,
  value: number,
  plan: ConvPlan
): Generator<void> {
  const [, channels, ...counts] = sums.dims
  const inside = allocate('float32', [1, channels, ...counts])
  const ones = allocate('float32', [1, plan.elementChannels, ...plan.axes.map(axis => axis.size)])
  ones.data.fill(1)
  yield* convolve(ones, weights, undefined, inside, { ...plan, batch: 1 })
  const plane = inside.data.length / channels
  const each = weights.data.length / channels
  for (let c = 0; c < channels; c++) {
    const all = weights.data.subarray(c * each, (c + 1) * each).reduce((a, b) => a + b, 0)
    for (let i = c * plane; i < (c + 1) * plane; i++) inside.data[i] = value * (all - inside.data[i])
  }
  for (let i = 0; i < sums.data.length; i++) sums.data[i] += inside.data[i % inside.data.length]
}
