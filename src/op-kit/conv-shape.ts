import { fail } from '../errors.ts'
import type { ConvPlan } from '../kernels/conv/conv-plan.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, mulDims, printDim, printShape, unknownDim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { axisValues, windowAxes, type WindowAxis, type WindowParams } from '../shapes/window.ts'
import { checkRank } from './ranks.ts'

/**
 * How weights are laid out: `[groups * windows, elements, …kernel]`, or with the groups as a dim of their own in front.
 */
export interface WeightParams {
  readonly group: number | 'leading'
  /** The kernel's shape as the node's attribute gives it. */
  readonly kernelShape: readonly number[] | undefined
}

/**
 * Sizes that weights give to a convolution or its transpose. Windows are the output of a convolution and the input of
 * its transpose; elements are the other side.
 */
export interface Weights {
  readonly groups: Dim
  /** Channels of all groups together. */
  readonly windowChannels: Dim
  readonly elementChannels: Dim
  readonly kernel: readonly Dim[]
}

/**
 * Number of spatial axes of data and weights, at least 1; undefined when nothing tells it.
 * @throws NodewiseError `rank-mismatch`
 */
export function spatialRank(x: TensorFact, w: TensorFact, { group, kernelShape }: WeightParams): number | undefined {
  const leading = group === 'leading' ? 3 : 2
  const ofData = x.shape && x.shape.length - 2
  const ofWeights = w.shape && w.shape.length - leading
  if (ofData !== undefined && ofData < 1)
    fail('rank-mismatch', `data of shape ${printShape(x.shape)} have no spatial axis`)
  if (ofWeights !== undefined && ofWeights < 1)
    fail('rank-mismatch', `weights of shape ${printShape(w.shape)} have no spatial axis`)
  if (ofData !== undefined && ofWeights !== undefined && ofData !== ofWeights) {
    const data = printShape(x.shape)
    fail(
      'rank-mismatch',
      `weights of shape ${printShape(w.shape)} do not go with data of shape ${data}; expected rank ${ofData + leading}`
    )
  }
  return ofData ?? ofWeights ?? (kernelShape?.length || undefined)
}

/**
 * Reads the weights of a convolution over `rank` axes.
 * @throws NodewiseError `value-out-of-range` for groups below 1, `dims-mismatch` when they do not divide the channels
 *   or when the kernel differs from `kernel_shape`
 */
export function weightsOf({ shape }: TensorFact, { group, kernelShape }: WeightParams, rank: number): Weights {
  if (group !== 'leading' && group < 1) fail('value-out-of-range', `group is ${group}; expected at least 1`)
  const said = kernelShape && kernelShape.length > 0 ? axisValues(kernelShape, rank, 'kernel_shape', 1) : undefined
  const kernel = shape ? shape.slice(-rank) : (said ?? Array.from({ length: rank }, () => unknownDim(1)))
  if (said) checkKernel(kernel, said)
  if (shape === undefined) {
    return {
      groups: group === 'leading' ? unknownDim() : group,
      windowChannels: unknownDim(),
      elementChannels: unknownDim(),
      kernel
    }
  }
  if (group === 'leading') {
    const [groups, windows, elements] = shape
    return { groups, windowChannels: mulDims(groups, windows), elementChannels: mulDims(groups, elements), kernel }
  }
  if (typeof shape[0] === 'number' && shape[0] % group !== 0) {
    fail('dims-mismatch', `the weights have ${shape[0]} channels at dim 0, which ${group} groups do not divide`)
  }
  return { groups: group, windowChannels: shape[0], elementChannels: mulDims(shape[1], group), kernel }
}

function checkKernel(kernel: readonly Dim[], said: readonly number[]): void {
  if (kernel.some((dim, i) => !mayMatch(dim, said[i]))) {
    fail('dims-mismatch', `the weights have a kernel of ${printShape(kernel)}, kernel_shape says ${printShape(said)}`)
  }
}

/**
 * Checks that data have the channels that the weights are for.
 * @throws NodewiseError `dims-mismatch`
 */
export function checkChannels({ shape }: TensorFact, channels: Dim): void {
  if (shape && meetDims(shape[1], channels) === undefined) {
    fail('dims-mismatch', `the data have ${printDim(shape[1])} channels, the weights are for ${printDim(channels)}`)
  }
}

/**
 * Checks that a bias has one element for each channel of the result.
 * @param counted what there are `channels` of, in messages
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkBias(bias: TensorFact | undefined, channels: Dim, counted = 'channels'): void {
  checkRank('the bias', bias, 1)
  if (bias?.shape === undefined) return
  if (!mayMatch(bias.shape[0], channels)) {
    fail(
      'dims-mismatch',
      `the bias has ${printDim(bias.shape[0])} elements; there are ${printDim(channels)} ${counted}`
    )
  }
}

/** The plan of a convolution; all sizes are known. */
export function planOf(
  batch: number,
  { groups, windowChannels, elementChannels }: Weights,
  axes: readonly WindowAxis[]
): ConvPlan {
  const share = (channels: Dim): number => (groups === 0 ? 0 : (floorDivDims(channels, groups) as number))
  return {
    batch,
    groups: groups as number,
    windowChannels: share(windowChannels),
    elementChannels: share(elementChannels),
    axes
  }
}

/** The plan of a convolution whose shapes fit. */
export function convPlan(
  x: readonly number[],
  w: readonly number[],
  out: readonly number[],
  p: WeightParams & WindowParams
): ConvPlan {
  const weights = weightsOf(tensorFact(undefined, w), p, out.length - 2)
  return planOf(x[0], weights, windowAxes(x.slice(2), weights.kernel as readonly number[], out.slice(2), p))
}
