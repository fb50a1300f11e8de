import { convPlan } from '../../op-kit/conv-shape.ts'
import type { Pack } from '../../op-kit/define.ts'
import type { FusedParams } from '../../op-kit/fused.ts'
import type { WindowAxis } from '../../shapes/window.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { staged, workOfFlops } from '../selector.ts'
import { threeAxes, windowArguments } from './window-arguments.ts'

/** Parameters that say what the windows read. */
export type ConvParams = Parameters<typeof convPlan>[3]
/** The same, what is applied to the sums, and whether they become outputs: see `lastConvolutions` of the planner. */
export type FusedConvParams = ConvParams & Partial<Pick<FusedParams, 'activation'>> & { readonly isLast?: true }

/** A convolution with three spatial axes; axes that it has not are of size 1. */
export interface ConvShape {
  readonly images: number
  readonly groups: number
  /** Output and input channels of a group. */
  readonly m: number
  readonly channels: number
  readonly axes: readonly [WindowAxis, WindowAxis, WindowAxis]
  readonly positions: number
  readonly taps: number
}

/** Parts of the output channels that threads may share, and output channels from which a part is worth its panels. */
const MAX_PARTS = 8
const PART_CHANNELS = 32

/** Sizes and windows of a convolution; undefined where it has more axes, or no result. */
export function convShapeOf(
  x: readonly number[],
  w: readonly number[],
  out: readonly number[],
  params: ConvParams
): ConvShape | undefined {
  if (x.length > 5 || product(out) === 0) return undefined
  const { batch, groups, windowChannels, elementChannels, axes } = convPlan(x, w, out, params)
  return {
    images: batch,
    groups,
    m: windowChannels,
    channels: elementChannels,
    axes: threeAxes(axes),
    positions: product(axes.map(axis => axis.count)),
    taps: product(axes.map(axis => axis.kernel))
  }
}

/** Whether an axis changes nothing: its one window reads its one element, not what lies around it. */
export const isIdle = ({ size, kernel, count, begin }: WindowAxis): boolean =>
  size === 1 && kernel === 1 && count === 1 && begin === 0

/** What is added to the sums. */
export interface Extras {
  readonly hasBias: boolean
  readonly hasResidual: boolean
  readonly activation: readonly number[]
}

/** An algorithm: its job, and how it wants the weights. */
export interface Way {
  template(shape: ConvShape, extras: Extras): JobTemplate
  readonly pack?: Pack
}

/** How a convolution is divided: positions that are computed together, times parts of the output channels. */
export interface Division {
  /** Groups of positions, over all images and groups of channels. */
  readonly units: number
  /** Rows of tiles, or panels, of each. */
  readonly rows: number
  readonly parts: number
}

/** Parts of the output channels, all but the last of the same whole number of strips. */
export function partsOf(m: number, parts: number): number {
  const strips = Math.ceil(m / 4)
  return Math.ceil(strips / Math.ceil(strips / parts))
}

/** Parts of output channels that threads can share. */
export const wantedParts = (m: number): number => Math.max(1, Math.min(MAX_PARTS, Math.floor(m / PART_CHANNELS)))

/** The arguments are those of ConvArguments in ../assembly/f32/conv.ts. */
export function argumentsOf(
  { groups, m, channels, axes }: ConvShape,
  { hasBias, hasResidual, activation }: Extras
): number[] {
  return [Number(hasBias), Number(hasResidual), channels, m, groups, ...windowArguments(axes), ...activation]
}

export const flopsOf = ({ images, groups, m, channels, positions, taps }: ConvShape): number =>
  2 * images * groups * m * channels * positions * taps

export function dividedTemplate(
  kernel: 'conv' | 'fewOutputs' | 'winograd' | 'winogradLines',
  shape: ConvShape,
  extras: Extras,
  { units, rows, parts }: Division
): JobTemplate {
  return {
    kernel,
    blocks: units * parts,
    blockBytes: 1,
    tile: parts,
    isDivisible: true,
    work: workOfFlops(flopsOf(shape)),
    inputs: staged(4),
    args: [...argumentsOf(shape, extras), rows, parts]
  }
}

/** Groups, output channels of a group, and weights of an output channel. */
export function weightSizes({ dims }: Tensor, { group }: FusedConvParams): { groups: number; m: number; k: number } {
  if (group === 'leading') return { groups: dims[0], m: dims[1], k: product(dims, 2) }
  return { groups: group, m: dims[0] / group, k: product(dims, 1) }
}
