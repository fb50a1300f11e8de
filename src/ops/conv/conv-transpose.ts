import { fail } from '../../errors.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { checkBias, checkChannels, spatialRank, weightsOf } from '../../op-kit/conv-shape.ts'
import { params, type ShapeContext, type ShapeParams } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { inputInts, int, ints, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { type TransposedParams, transposedPlan, transposedSize, withInputPads } from '../../op-kit/transposed-shape.ts'
import { commonType, INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { onnxWindows, openvinoWindows, written } from '../../op-kit/window-sources.ts'
import { asDim, type Dim, maxDim, printDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { knownList, lengthOf, unknownDims } from '../../shapes/lists.ts'
import { axisValues, type Sliding, slidings } from '../../shapes/window.ts'

const onnx = {
  ...onnxWindows,
  group: int('group'),
  kernelShape: optional(ints('kernel_shape')),
  outputShape: optional(ints('output_shape')),
  outputPadding: optional(ints('output_padding')),
  pads: is(undefined)
} as const
const openvino = {
  ...openvinoWindows,
  kernelShape: is(undefined),
  outputShape: optionalInput(inputInts(2)),
  outputPadding: written('output_padding'),
  oddFirst: is('upper'),
  pads: is(undefined)
} as const
const types = { x: NUMERIC, w: NUMERIC, outputShape: INDEX_TYPES }

/** Rules of {@link convTranspose}. */
export const convTransposeRules = defineRules({
  name: 'ConvTranspose',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional' },
  params: params<TransposedParams>(),
  onnx: [
    { since: 1, bind: { ...onnx, oddFirst: is('upper') } },
    { since: 11, bind: { ...onnx, oddFirst: is('others') } },
    {
      type: 'ConvTransposeWithDynamicPads',
      domain: 'com.microsoft',
      since: 1,
      in: { x: 0, w: 1, bias: 3 },
      bind: { ...onnx, outputShape: is(undefined), oddFirst: is('others'), pads: optionalInput(inputInts(2)) }
    }
  ],
  openvino: [
    { type: 'ConvolutionBackpropData', since: 1, in: { x: 0, w: 1 }, types, bind: { ...openvino, group: is(1) } },
    {
      type: 'GroupConvolutionBackpropData',
      since: 1,
      in: { x: 0, w: 1 },
      types,
      bind: { ...openvino, group: is('leading') }
    }
  ],

  shape: ({ x, w, bias }, p, call) => [tensorFact(commonType({ x, w, bias }), transposedShape(x, w, bias, p, call))]
})

/**
 * Transposed convolution, the gradient of a convolution: adds each input times the kernel to the output. ONNX
 * ConvTranspose; ConvTransposeWithDynamicPads-1 of com.microsoft, whose pads are an input; OpenVINO
 * ConvolutionBackpropData and GroupConvolutionBackpropData.
 *
 * A given output shape replaces pads, also explicit ones of IR (the CPU plugin keeps those). The pads that it implies
 * are never negative: what is missing is added at the end, as the runtimes do. SAME_* of ONNX gives `input * stride`
 * cells also where the kernel is shorter than the stride (ONNX Runtime gives fewer).
 */
export const convTranspose = /* @__PURE__ */ withKernel(convTransposeRules, {
  run({ x, w, bias }, p, call) {
    const out = call.output()
    return convolve(x, w, bias, out, transposedPlan(x.dims, w.dims, out.dims, p, call), true)
  }
})

function transposedShape(
  x: TensorFact,
  w: TensorFact,
  bias: TensorFact | undefined,
  p: ShapeParams<TransposedParams>,
  call: ShapeContext
): Dim[] | undefined {
  const rank = spatialRank(x, w, p)
  if (rank === undefined) return undefined
  const { windowChannels, elementChannels, kernel } = weightsOf(w, p, rank)
  checkChannels(x, windowChannels)
  checkBias(bias, elementChannels)
  const added = axisValues(p.outputPadding, rank, 'output_padding', 0)
  const pads = p.pads === undefined ? undefined : knownList(p.pads)
  const isKnown = pads !== undefined || p.pads === undefined
  const windows = slidings(rank, withInputPads({ ...p, pads }, rank))
  if (call.dialect === 'onnx') windows.forEach((sliding, i) => checkAdded(added[i], sliding))
  const given = givenDims(p, rank, call)
  const sizes = x.shape?.slice(2) ?? windows.map(() => unknownDim())
  const areOpen = !isKnown && p.autoPad === 'explicit'
  const dims = windows.map((sliding, i) =>
    areOpen ? unknownDim() : demandSize(given?.[i] ?? transposedSize(sizes[i], kernel[i], added[i], sliding, call))
  )
  return [x.shape?.[0] ?? unknownDim(), elementChannels, ...dims]
}

/** ONNX: output_padding reaches a size that the stride skips, so it is less than the stride or the dilation. */
function checkAdded(added: number, { stride, dilation }: Sliding): void {
  const limit = Math.max(stride, dilation)
  if (added >= limit) {
    fail(
      'value-out-of-range',
      `output_padding ${added} is too large; it must be less than the stride or the dilation, ${limit}`
    )
  }
}

function demandSize(dim: Dim): Dim {
  if (maxDim(dim) < 0) fail('shape-mismatch', `the result would have ${printDim(dim)} elements along an axis`)
  return asDim(dim)
}

/** The spatial dims in the output shape. Before version 11 ONNX did not say that batch and channels are left out. */
function givenDims(
  { outputShape }: ShapeParams<TransposedParams>,
  rank: number,
  { dialect, version }: ShapeContext
): readonly Dim[] | undefined {
  if (outputShape === undefined) return undefined
  const length = lengthOf(outputShape)
  const isWhole = dialect === 'onnx' && version < 11 && length === rank + 2
  if (length !== undefined && length !== rank && !isWhole) {
    fail('dims-mismatch', `output_shape has ${length} elements; there are ${rank} spatial axes`)
  }
  return outputShape === 'unknown' ? unknownDims(rank) : outputShape.slice(-rank)
}
