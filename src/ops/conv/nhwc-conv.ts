import { convolve } from '../../kernels/conv/conv.ts'
import {
  channelsFirst,
  channelsFirstDims,
  channelsFirstFact,
  channelsLastDims,
  toChannelsLast
} from '../../op-kit/channels-last.ts'
import { convPlan, type WeightParams } from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { WindowParams } from '../../shapes/window.ts'
import { allocate } from '../../tensor/tensor.ts'
import { convBind, convolvedShape } from './conv.ts'

/** Rules of {@link nhwcConv}. */
export const nhwcConvRules = defineRules({
  name: 'NhwcConv',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional' },
  params: params<WindowParams & WeightParams>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: convBind }],

  shape({ x, w, bias }, p) {
    const shape = convolvedShape(channelsFirstFact(x), channelsFirstFact(w), bias, p)
    return [tensorFact(commonType({ x, w, bias }), shape && channelsLastDims(shape))]
  }
})

/**
 * Conv of data whose channels come last, `[batch, …spatial, channels]`, by weights that have theirs last, too:
 * `[windows, …kernel, channels / group]`. com.microsoft NhwcConv-1.
 *
 * Its text is that of Conv and says nothing of layouts. ONNX Runtime, which has it for GPUs only, reads the weights so,
 * and its scripts that optimize models write them so.
 */
export const nhwcConv = /* @__PURE__ */ withKernel(nhwcConvRules, {
  *run({ x, w, bias }, p, call) {
    const out = call.rawOutput()
    const [planes, weights] = [yield* channelsFirst(x), yield* channelsFirst(w)]
    const work = allocate(out.type, channelsFirstDims(out.dims))
    yield* convolve(planes, weights, bias, work, convPlan(planes.dims, weights.dims, work.dims, p))
    yield* toChannelsLast(work, out)
  }
})
