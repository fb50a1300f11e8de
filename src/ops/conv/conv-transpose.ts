import { fail } from '../../errors.ts'
import { convolve } from '../../kernels/conv/conv.ts'
import { checkBias, checkChannels, planOf, spatialRank, type WeightParams, weightsOf } from '../../op-kit/conv-shape.ts'
import {
  type DataDependent,
  defineOp,
  params,
  type RunParams,
  type ShapeContext,
  type ShapeParams
} from '../../op-kit/define.ts'
import { inputInts, int, ints, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { commonType, INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { onnxWindows, openvinoWindows, written } from '../../op-kit/window-sources.ts'
import { addDims, asDim, type Dim, maxDim, mulDims, printDim, subDims, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { lengthOf, unknownDims } from '../../shapes/lists.ts'
import {
  axisValues,
  extentOf,
  type Sliding,
  slidings,
  type WindowAxis,
  type WindowParams
} from '../../shapes/window.ts'

interface Params extends WindowParams, WeightParams {
  /** Spatial dims of the output, where they are given. */
  outputShape: DataDependent<readonly number[] | undefined>
  /** Elements added at the end of each axis. */
  outputPadding: readonly number[] | undefined
  /**
   * When a given output shape implies an odd total of padding, the odd cell goes to the beginning: for SAME_UPPER
   * alone, or for all other modes.
   */
  oddFirst: 'upper' | 'others'
}

const onnx = {
  ...onnxWindows,
  group: int('group'),
  kernelShape: optional(ints('kernel_shape')),
  outputShape: optional(ints('output_shape')),
  outputPadding: optional(ints('output_padding'))
} as const
const openvino = {
  ...openvinoWindows,
  kernelShape: is(undefined),
  outputShape: optionalInput(inputInts(2)),
  outputPadding: written('output_padding'),
  oddFirst: is('upper')
} as const
const types = { x: NUMERIC, w: NUMERIC, outputShape: INDEX_TYPES }

/**
 * Transposed convolution, the gradient of a convolution: adds each input times the kernel to the output. ONNX
 * ConvTranspose; OpenVINO ConvolutionBackpropData and GroupConvolutionBackpropData.
 *
 * A given output shape replaces pads, also explicit ones of IR (the CPU plugin keeps those). The pads that it implies
 * are never negative: what is missing is added at the end, as the runtimes do. SAME_* of ONNX gives `input * stride`
 * cells also where the kernel is shorter than the stride (ONNX Runtime gives fewer).
 */
export const convTranspose = defineOp({
  name: 'ConvTranspose',
  operands: { x: 'tensor', w: 'tensor', bias: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...onnx, oddFirst: is('upper') } },
    { since: 11, bind: { ...onnx, oddFirst: is('others') } }
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

  shape: ({ x, w, bias }, p, call) => [tensorFact(commonType({ x, w, bias }), transposedShape(x, w, bias, p, call))],

  run({ x, w, bias }, p, call) {
    const out = call.output()
    const rank = x.dims.length - 2
    const weights = weightsOf(tensorFact(w.type, w.dims), p, rank)
    const added = axisValues(p.outputPadding, rank, 'output_padding', 0)
    const axes = slidings(rank, p).map((sliding, i) => {
      const { stride, dilation } = sliding
      const axis = {
        size: out.dims[i + 2],
        count: x.dims[i + 2],
        kernel: weights.kernel[i] as number,
        stride,
        dilation
      }
      return paddedAxis(axis, added[i], sliding, p, call)
    })
    return convolve(x, w, bias, out, planOf(x.dims[0], weights, axes), true)
  }
})

function transposedShape(
  x: TensorFact,
  w: TensorFact,
  bias: TensorFact | undefined,
  p: ShapeParams<Params>,
  call: ShapeContext
): Dim[] | undefined {
  const rank = spatialRank(x, w, p)
  if (rank === undefined) return undefined
  const { windowChannels, elementChannels, kernel } = weightsOf(w, p, rank)
  checkChannels(x, windowChannels)
  checkBias(bias, elementChannels)
  const added = axisValues(p.outputPadding, rank, 'output_padding', 0)
  const windows = slidings(rank, p)
  if (call.dialect === 'onnx') windows.forEach((sliding, i) => checkAdded(added[i], sliding))
  const given = givenDims(p, rank, call)
  const sizes = x.shape?.slice(2) ?? windows.map(() => unknownDim())
  const dims = windows.map((sliding, i) =>
    demandSize(given?.[i] ?? transposedSize(sizes[i], kernel[i], added[i], sliding, call))
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
  { outputShape }: ShapeParams<Params>,
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

/** Whether pads are computed from the size of the output. */
const isSame = ({ autoPad }: WindowParams | Sliding): boolean => autoPad === 'same_upper' || autoPad === 'same_lower'

/** Size of the output before pads are removed. */
const reach = (size: Dim, kernel: Dim, added: number, { stride, dilation }: Sliding): Dim =>
  addDims(addDims(mulDims(subDims(size, 1), stride), extentOf(kernel, dilation)), added)

function transposedSize(size: Dim, kernel: Dim, added: number, sliding: Sliding, { dialect }: ShapeContext): Dim {
  if (dialect === 'onnx' && isSame(sliding)) return mulDims(size, sliding.stride)
  return subDims(reach(size, kernel, added, sliding), sliding.begin + sliding.end)
}

/** The axis with the pads of the node, or those that the size of the output implies. */
function paddedAxis(
  axis: Omit<WindowAxis, 'begin' | 'end'>,
  added: number,
  sliding: Sliding,
  p: RunParams<Params>,
  { dialect }: ShapeContext
): WindowAxis {
  const isGiven = p.outputShape !== undefined
  if (!isGiven && !(dialect === 'onnx' && isSame(sliding))) return { ...axis, begin: sliding.begin, end: sliding.end }
  const total = Math.max(0, (reach(axis.count, axis.kernel, added, sliding) as number) - axis.size)
  const oddFirst = isGiven ? (p.autoPad === 'same_upper') === (p.oddFirst === 'upper') : p.autoPad === 'same_lower'
  const begin = Math.floor((total + (oddFirst ? 1 : 0)) / 2)
  return { ...axis, begin, end: total - begin }
}
