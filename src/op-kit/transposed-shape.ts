import { fail } from '../errors.ts'
import type { ConvPlan } from '../kernels/conv/conv-plan.ts'
import { addDims, type Dim, mulDims, subDims } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { axisValues, extentOf, type Sliding, slidings, type WindowAxis, type WindowParams } from '../shapes/window.ts'
import { planOf, type WeightParams, weightsOf } from './conv-shape.ts'
import type { DataDependent, RunParams, ShapeContext } from './define.ts'

export interface TransposedParams extends WindowParams, WeightParams {
  /** Spatial dims of the output, where they are given. */
  outputShape: DataDependent<readonly number[] | undefined>
  /** Elements added at the end of each axis. */
  outputPadding: readonly number[] | undefined
  /**
   * When a given output shape implies an odd total of padding, the odd cell goes to the beginning: for SAME_UPPER
   * alone, or for all other modes.
   */
  oddFirst: 'upper' | 'others'
  /** Pads from an input, those of the beginnings first: they replace `begin` and `end`. */
  pads: DataDependent<readonly number[] | undefined>
}

/** The parameters with the pads that an input gives, where it does. @throws NodewiseError `dims-mismatch` */
export function withInputPads<P extends WindowParams & { readonly pads: readonly number[] | undefined }>(
  p: P,
  rank: number
): P {
  const { pads } = p
  if (pads === undefined) return p
  if (pads.length !== 2 * rank)
    fail('dims-mismatch', `the pads have ${pads.length} elements; two for each of ${rank} spatial axes are expected`)
  return { ...p, begin: pads.slice(0, rank), end: pads.slice(rank) }
}

/** Whether pads are computed from the size of the output. */
const isSame = ({ autoPad }: WindowParams | Sliding): boolean => autoPad === 'same_upper' || autoPad === 'same_lower'

/** Size of the output before pads are removed. */
const reach = (size: Dim, kernel: Dim, added: number, { stride, dilation }: Sliding): Dim =>
  addDims(addDims(mulDims(subDims(size, 1), stride), extentOf(kernel, dilation)), added)

/** Size of the output of a transposed convolution along an axis. */
export function transposedSize(
  size: Dim,
  kernel: Dim,
  added: number,
  sliding: Sliding,
  { dialect }: Pick<ShapeContext, 'dialect'>
): Dim {
  if (dialect === 'onnx' && isSame(sliding)) return mulDims(size, sliding.stride)
  return subDims(reach(size, kernel, added, sliding), sliding.begin + sliding.end)
}

/** The plan of a transposed convolution whose shapes fit: windows are its input, elements its output. */
export function transposedPlan(
  x: readonly number[],
  w: readonly number[],
  out: readonly number[],
  given: RunParams<TransposedParams>,
  call: Pick<ShapeContext, 'dialect'>
): ConvPlan {
  const rank = x.length - 2
  const p = withInputPads(given, rank)
  const weights = weightsOf(tensorFact(undefined, w), p, rank)
  const added = axisValues(p.outputPadding, rank, 'output_padding', 0)
  const axes = slidings(rank, p).map((sliding, i) => {
    const { stride, dilation } = sliding
    const axis = { size: out[i + 2], count: x[i + 2], kernel: weights.kernel[i] as number, stride, dilation }
    return paddedAxis(axis, added[i], sliding, p, call)
  })
  return planOf(x[0], weights, axes)
}

/** The axis with the pads of the node, or those that the size of the output implies. */
function paddedAxis(
  axis: Omit<WindowAxis, 'begin' | 'end'>,
  added: number,
  sliding: Sliding,
  p: RunParams<TransposedParams>,
  { dialect }: Pick<ShapeContext, 'dialect'>
): WindowAxis {
  const isGiven = p.outputShape !== undefined
  if (!isGiven && !(dialect === 'onnx' && isSame(sliding))) return { ...axis, begin: sliding.begin, end: sliding.end }
  const total = Math.max(0, (reach(axis.count, axis.kernel, added, sliding) as number) - axis.size)
  const oddFirst = isGiven ? (p.autoPad === 'same_upper') === (p.oddFirst === 'upper') : p.autoPad === 'same_lower'
  const begin = Math.floor((total + (oddFirst ? 1 : 0)) / 2)
  return { ...axis, begin, end: total - begin }
}
