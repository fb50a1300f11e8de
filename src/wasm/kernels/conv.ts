import type { Paced } from '../../kernels/core/pace.ts'
import { convPlan } from '../../op-kit/conv-shape.ts'
import type { Parameters as CallParameters, Kernel, KernelContext, Pack, ValueOperands } from '../../op-kit/define.ts'
import type { FusedParams } from '../../op-kit/fused.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import type { WindowAxis } from '../../shapes/window.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { onTheHeap } from '../pack.ts'
import { areFloat32, arrayOf, jobKernel, selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { EDGE, PANEL, SCRATCH_BYTES, TAP } from '../workspace.ts'
import { activationArguments } from './elementwise.ts'

/** Parameters that say what the windows read. */
export type ConvParams = Parameters<typeof convPlan>[3]
type Params = ConvParams & Partial<Pick<FusedParams, 'activation'>>

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

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 10
/** Positions below which packing weights for one run takes longer than what it saves. */
const MIN_POSITIONS = 32
/** As in ../assembly/f32/matrix.ts: panels computed together, and their depth. */
const TOGETHER = 16
const DEPTH = 256
/** Channels from which Winograd's transforms pay. */
const MIN_WINOGRAD_CHANNELS = 16

/** Conv of float32 over one to three spatial axes. */
export const selectConv = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { x, w } = operands
  const { activation } = parameters
  if (x === undefined || w === undefined || activation === 'other' || !areFloat32(operands)) return undefined
  const shape = convShapeOf(x.dims, w.dims, dims, parameters)
  if (shape === undefined) return undefined
  const { images, groups, m, channels, positions, taps } = shape
  if (images * groups * m * channels * positions * taps < MIN_MULTIPLICATIONS) return undefined
  const way = wayOf(shape)
  if (way === undefined) return undefined
  const extras = {
    hasBias: operands.bias !== undefined,
    hasResidual: operands.residual !== undefined,
    activation: activationArguments(activation)
  }
  const template = way.template(shape, extras)
  const run = jobKernel(op, ({ x: data, w: weights, bias, residual }, packed) => {
    const first = arrayOf(data!)
    const second = packed?.w ?? (way.pack ? undefined : weights)
    const added = [bias, residual].map(tensor => (tensor ? arrayOf(tensor) : first))
    return second && { template, inputs: [first, arrayOf(second), ...added] }
  })
  const { pack } = way
  if (pack === undefined) return { kernel: run }
  if (images * positions < MIN_POSITIONS) return { kernel: run, pack }
  const kernel: Kernel = (given, params, context) =>
    context.packed?.w ? run(given, params, context) : runPacking(run, pack, given, params, context)
  return { kernel, pack }
})

/** Packs weights that are no constant, or for which the session has no memory, for this run alone. */
function* runPacking(
  run: Kernel,
  pack: Pack,
  operands: ValueOperands,
  params: CallParameters,
  context: KernelContext
): Paced {
  const { allocate, free } = temporaries()
  try {
    const made = pack({ w: operands.w as Tensor }, params, {
      allocate: (_type, dims) => new Tensor('float32', allocate(product(dims)), dims)
    })
    const packed = made && Symbol.iterator in made ? yield* made : made
    const rest = run(operands, params, { ...withOutput(context, context.rawOutput()), packed })
    if (rest) yield* rest
  } finally {
    free()
  }
}

/** Sizes and windows of a convolution; undefined where it has more axes, or no result. */
export function convShapeOf(
  x: readonly number[],
  w: readonly number[],
  out: readonly number[],
  params: ConvParams
): ConvShape | undefined {
  if (x.length > 5 || product(out) === 0) return undefined
  const { batch, groups, windowChannels, elementChannels, axes } = convPlan(x, w, out, params)
  const [d = ALONE, h = ALONE, width = ALONE] = [...new Array<WindowAxis>(3 - axes.length).fill(ALONE), ...axes]
  return {
    images: batch,
    groups,
    m: windowChannels,
    channels: elementChannels,
    axes: [d, h, width],
    positions: product(axes.map(axis => axis.count)),
    taps: product(axes.map(axis => axis.kernel))
  }
}

/** An axis of size 1. */
const ALONE: WindowAxis = { size: 1, count: 1, kernel: 1, stride: 1, dilation: 1, begin: 0, end: 0 }

/** What is added to the sums. */
interface Extras {
  readonly hasBias: boolean
  readonly hasResidual: boolean
  readonly activation: readonly number[]
}

/** An algorithm: its job, and how it wants the weights. */
interface Way {
  template(shape: ConvShape, extras: Extras): JobTemplate
  readonly pack?: Pack
}

/** The fastest algorithm; undefined where none fits into a thread's scratch memory. */
function wayOf(shape: ConvShape): Way | undefined {
  const { groups, channels, m, taps, axes } = shape
  const isPadded = axes.every(({ begin }) => begin >= 0)
  if (channels === 1 && groups > 1 && isPadded && axes[0].size === 1 && paddedPlane(axes) <= SCRATCH_BYTES)
    return DEPTHWISE
  const isThree = axes[1].kernel === 3 && axes[2].kernel === 3 && taps === 9
  const isDense = axes.every(({ stride, dilation }) => stride === 1 && dilation === 1)
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_WINOGRAD_CHANNELS && axes[0].size === 1
  if (isThree && isDense && isWide && isPadded && tileRows(shape) > 0) return WINOGRAD
  return EDGE + TOGETHER * (taps * TAP + DEPTH * PANEL * 4) <= SCRATCH_BYTES ? PANELS : undefined
}

/** Bytes of an input plane with its padding, as depthwise.ts lays it out. */
const paddedPlane = ([, h, w]: ConvShape['axes']): number =>
  ((h.count - 1) * h.stride + (h.kernel - 1) * h.dilation + 1) *
  ((Math.ceil(w.count / 4) * 4 - 1) * w.stride + (w.kernel - 1) * w.dilation + 9) *
  4

/** Rows of tiles that Winograd's algorithm computes together, so that its matrices fit into scratch memory. */
function tileRows({ axes: [, h, w], channels, m }: ConvShape): number {
  const across = Math.ceil(w.count / 16) * 4
  const lines = (across * 4 + 8) * 12 * 4
  const perTile = 36 * 4 * (channels + Math.ceil(m / 4) * 4)
  const tiles = Math.floor((SCRATCH_BYTES - lines) / perTile / PANEL) * PANEL
  return Math.min(Math.floor(tiles / across) || Number(tiles >= across), Math.ceil(h.count / 4))
}

/** The arguments are those of ConvArguments in ../assembly/f32/conv.ts. */
function argumentsOf({ groups, m, channels, axes }: ConvShape, { hasBias, hasResidual, activation }: Extras): number[] {
  return [
    Number(hasBias),
    Number(hasResidual),
    channels,
    m,
    groups,
    ...(['size', 'kernel', 'stride', 'dilation', 'begin', 'count'] as const).flatMap(name =>
      axes.map(axis => axis[name])
    ),
    ...activation
  ]
}

function template(
  kernel: JobTemplate['kernel'],
  shape: ConvShape,
  extras: Extras,
  blocks: number,
  tile: number | undefined
): JobTemplate {
  const { images, groups, m, channels, positions, taps } = shape
  const flops = 2 * images * groups * m * channels * positions * taps
  return {
    kernel,
    blocks,
    blockBytes: 1,
    tile: tile ?? tileOfFlops(flops / blocks, TOGETHER),
    work: workOfFlops(flops),
    inputs: staged(4),
    outputStaging: 'whole',
    args: argumentsOf(shape, extras)
  }
}

/** im2col into panels, a few at a time, and a matrix product. */
const PANELS: Way = {
  template: (shape, extras) =>
    template('conv', shape, extras, shape.images * shape.groups * Math.ceil(shape.positions / PANEL), TOGETHER),
  pack({ w }, params, { allocate }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { groups, m, k } = weightSizes(w, params as unknown as Params)
    const strips = Math.ceil(m / 4)
    const packed = allocate('float32', [groups, strips, k, 4])
    const isDone = onTheHeap(w, packed, (compute, from, to) => {
      for (let g = 0; g < groups; g++)
        compute.packStrips(from + g * m * k * 4, k * 4, 4, m, k, to + g * strips * k * 16)
    })
    return isDone ? { w: packed } : undefined
  }
}

/** Winograd's F(4x4, 3x3). */
const WINOGRAD: Way = {
  template: (shape, extras) =>
    template('winograd', shape, extras, shape.images * Math.ceil(shape.axes[1].count / 4), tileRows(shape)),
  pack({ w }, params, { allocate }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { m, k } = weightSizes(w, params as unknown as Params)
    const packed = allocate('float32', [36, Math.ceil(m / 4), k / 9, 4])
    const isDone = onTheHeap(w, packed, (compute, from, to) => compute.winogradWeights(from, m, k / 9, to))
    return isDone ? { w: packed } : undefined
  }
}

/** Plane by plane; weights as they are. */
const DEPTHWISE: Way = {
  template: (shape, extras) => template('depthwise', shape, extras, shape.images * shape.groups, undefined)
}

/** Groups, output channels of a group, and weights of an output channel. */
function weightSizes({ dims }: Tensor, { group }: Params): { groups: number; m: number; k: number } {
  if (group === 'leading') return { groups: dims[0], m: dims[1], k: product(dims, 2) }
  return { groups: group, m: dims[0] / group, k: product(dims, 1) }
}
