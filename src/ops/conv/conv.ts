import { convolve } from '../../kernels/conv/conv.ts'
import {
  checkBias,
  checkChannels,
  convPlan,
  spatialRank,
  type WeightParams,
  weightsOf
} from '../../op-kit/conv-shape.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { int, ints, is, optional } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { onnxWindows, openvinoWindows } from '../../op-kit/window-sources.ts'
import { type Dim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { slidings, windowCount, type WindowParams } from '../../shapes/window.ts'

interface Params extends WindowParams, WeightParams {}

/** Where the parameters of a Conv, also a fused one, come from. */
export const convBind = { ...onnxWindows, group: int('group'), kernelShape: optional(ints('kernel_shape')) }
const openvino = { ...openvinoWindows, kernelShape: is(undefined) }
const types = { x: NUMERIC, w: NUMERIC }

/** Rules of {@link conv}. */
export const convRules = defineRules({
  name: 'Conv',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: convBind }],
  openvino: [
    { type: 'Convolution', since: 1, in: { x: 0, w: 1 }, types, bind: { ...openvino, group: is(1) } },
    { type: 'GroupConvolution', since: 1, in: { x: 0, w: 1 }, types, bind: { ...openvino, group: is('leading') } }
  ],

  shape: ({ x, w, bias }, p) => [tensorFact(commonType({ x, w, bias }), convolvedShape(x, w, bias, p))]
})

/**
 * Convolution: sums of products of a kernel with the elements below it at every position. ONNX Conv; OpenVINO
 * Convolution and GroupConvolution.
 */
export const conv = /* @__PURE__ */ withKernel(convRules, {
  run({ x, w, bias }, p, call) {
    const out = call.output()
    return convolve(x, w, bias, out, convPlan(x.dims, w.dims, out.dims, p))
  }
})

/**
 * Shape of a convolution; undefined when its rank is unknown.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch` where data, weights and bias do not fit together,
 *   `shape-mismatch` where no window fits, `value-out-of-range` for attributes
 */
export function convolvedShape(
  x: TensorFact,
  w: TensorFact,
  bias: TensorFact | undefined,
  p: Params
): Dim[] | undefined {
  const rank = spatialRank(x, w, p)
  if (rank === undefined) return undefined
  const { windowChannels, elementChannels, kernel } = weightsOf(w, p, rank)
  checkChannels(x, elementChannels)
  checkBias(bias, windowChannels)
  const counts = slidings(rank, p).map((sliding, i) =>
    windowCount(x.shape?.[i + 2] ?? unknownDim(), kernel[i], sliding)
  )
  return [x.shape?.[0] ?? unknownDim(), windowChannels, ...counts]
}
