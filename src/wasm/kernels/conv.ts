import { convPlan } from '../../op-kit/conv-shape.ts'
import type { Kernel, Pack } from '../../op-kit/define.ts'
import type { FusedParams } from '../../op-kit/fused.ts'
import type { WindowAxis } from '../../shapes/window.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { inShortCalls, onTheHeap, packStrips } from '../pack.ts'
import { runPacking } from '../run-packing.ts'
import { areFloat32, arrayOf, jobKernel, selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { EDGE, PANEL, SCRATCH_BYTES, TAP, workspaceOf } from '../workspace.ts'
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
const MIN_MULTIPLICATIONS = 1 << 7
/** Positions below which packing weights for one run takes longer than what it saves. */
const MIN_POSITIONS = 32
/** As in ../assembly/f32/conv-panels.ts: panels computed together, and their depth. */
const TOGETHER = 16
const DEPTH = 256
/** As in conv-panels.ts: bytes for what sums begin with, and between panels; Winograd's matrices are as far apart. */
const START = 128
const APART = 64
/** Channels from which Winograd's transforms pay. */
const MIN_WINOGRAD_CHANNELS = 16
/** Tiles that should share the weights of Winograd's algorithm, which otherwise wait for memory. */
const MIN_WINOGRAD_TILES = 24
/**
 * Bytes of transformed weights above which more than {@link FEW_TILES} have to share them: they take four times the
 * memory of the weights. Of darknet53 they took 340 MiB more, and spared a tenth of the time.
 */
const MAX_WINOGRAD_BYTES = 64 << 20
const FEW_TILES = 4
/** Parts of the output channels that threads may share, and output channels from which a part is worth its panels. */
const MAX_PARTS = 8
const PART_CHANNELS = 32
/** Outputs of a tile of Winograd's algorithm along one axis, and its points. */
const LINE_SIDE = 4
const LINE_POINTS = 7
/** What it costs to transform a tile of a channel, in multiplications; of dilated ones, runs are copied one by one. */
const LINE_COST = { dense: 56, dilated: 80 }
/** Panels of tiles that it computes together. */
const LINE_PANELS = 16
/** Dilation above which most of the inputs of some outputs are those of others too. */
const MAX_LINE_DILATION = 16
/**
 * Output channels up to which columns take longer to write than windows to sum, of one input channel and of more: where
 * an element of the input is read by few taps, and by many.
 */
const MAX_OUTPUTS = { few: { one: 8, more: 2 }, many: { one: 16, more: 3 } }
const MANY_TAPS = 16
/** Bytes of the planes of a band, which should stay in the second cache. */
const BAND_BYTES = 1 << 19
/** Multiplications of a convolution plane by plane take as long as so many of a product. */
const DEPTHWISE_COST = 4

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
  if (pack === undefined) return { kernel: run, looksAt: [] }
  if (images * positions < MIN_POSITIONS) return { kernel: run, pack, looksAt: [] }
  const kernel: Kernel = (given, params, context) =>
    context.packed?.w ? run(given, params, context) : runPacking(run, pack, given, params, context)
  return { kernel, pack, looksAt: [] }
})

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
  if (isPadded && fewDivision(shape)) return FEW
  const isByPlane = channels === 1 && (groups > 1 || m <= MAX_OUTPUTS.few.one)
  if (isByPlane && isPadded && paddedPlanes(axes) <= SCRATCH_BYTES) return DEPTHWISE
  if (isPadded && isLine(shape) && lineDivision(shape)) return LINES
  const isThree = axes.slice(1).every(({ kernel, stride, dilation }) => kernel === 3 && stride === 1 && dilation === 1)
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_WINOGRAD_CHANNELS
  if (isThree && isWide && isPadded && winogradDivision(shape)) return WINOGRAD
  return EDGE + START + TOGETHER * (taps * TAP + DEPTH * PANEL * 4 + APART) <= SCRATCH_BYTES ? PANELS : undefined
}

/** Bytes of the planes of a channel with their padding, as depthwise.ts lays them out. */
const paddedPlanes = ([d, h, w]: ConvShape['axes']): number =>
  ((d.count - 1) * d.stride + (d.kernel - 1) * d.dilation + 1) *
  ((h.count - 1) * h.stride + (h.kernel - 1) * h.dilation + 1) *
  ((Math.ceil(w.count / 4) * 4 - 1) * w.stride + (w.kernel - 1) * w.dilation + 8 + w.stride) *
  4

/** How a convolution is divided: positions that are computed together, times parts of the output channels. */
interface Division {
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

/**
 * Rows of Winograd's tiles in a group, and parts of its output channels; undefined where one row is too much, or where
 * the memory of transformed weights is not worth what they gain.
 */
function winogradDivision({ axes: [d, h, w], channels, m, images }: ConvShape): Division | undefined {
  const strips = Math.ceil(m / 4)
  const across = Math.ceil(w.count / 4)
  const height = Math.ceil(h.count / 4) * d.count
  const depth = channels * d.kernel
  if (images * height * across <= FEW_TILES && 36 * 4 * depth * m > MAX_WINOGRAD_BYTES) return undefined
  const rowsWith = (parts: number): number => winogradRows(across, height, depth, Math.ceil(strips / parts))
  let parts = wantedParts(m)
  let most = rowsWith(parts)
  // Smaller parts leave room for more tiles.
  for (let more = parts * 2; more * 4 <= strips && most * across < MIN_WINOGRAD_TILES; more *= 2) {
    const rows = rowsWith(more)
    if (rows > most) [parts, most] = [more, rows]
  }
  if (most === 0) return undefined
  // Of many channels with windows of several planes the transformed weights would take too much memory.
  if (d.kernel > 1 && most * across < Math.min(height * across, MIN_WINOGRAD_TILES)) return undefined
  // A single block would be computed by one thread.
  const isHalved = images * parts === 1 && Math.floor(height / 2) * across >= MIN_WINOGRAD_TILES
  const rows = Math.ceil(height / Math.max(Math.ceil(height / most), isHalved ? 2 : 1))
  return { units: images * Math.ceil(height / rows), rows, parts: partsOf(m, parts) }
}

/** Bands of a convolution to few channels; undefined where it has others, or where no band fits. */
function fewDivision({ axes, groups, m, channels, taps, images }: ConvShape): Division | undefined {
  const [d, h, w] = axes
  // What an element of the input is read for makes up for its copy.
  const reads = taps / (h.stride * w.stride)
  const most = MAX_OUTPUTS[reads < MANY_TAPS ? 'few' : 'many'][channels === 1 ? 'one' : 'more']
  const isFew = groups === 1 && m <= (channels === 1 ? most : Math.min(reads, most))
  if (!isFew || taps === 1 || d.size > 1 || d.count > 1 || d.kernel > 1) return undefined
  const isLine = h.count === 1
  const [total, least] = isLine ? [w.count, 16] : [h.count, 4]
  const bytesOf = (rows: number): number => {
    const [lines, columns] = isLine ? [1, rows] : [rows, w.count]
    return channels * paddedPlanes([d, { ...h, count: lines }, { ...w, count: columns }]) + lines * columns * 4 + 256
  }
  let rows = Math.min(total, least)
  if (bytesOf(rows) > SCRATCH_BYTES) return undefined
  while (rows < total && bytesOf(2 * rows) <= BAND_BYTES) rows *= 2
  const bands = Math.ceil(total / rows)
  return { units: images * bands, rows: Math.ceil(total / bands / least) * least, parts: 1 }
}

/** Rows of tiles whose matrices fit into scratch memory; see Group in ../assembly/f32/winograd-group.ts. */
function winogradRows(across: number, height: number, depth: number, strips: number): number {
  const lines = (16 * across + 16) * 6
  const perTile = 36 * 4 * (depth + 4 * strips) + 16
  const bytes = (rows: number): number =>
    64 + 2 * 36 * APART + lines * (rows + 1) + Math.ceil((across * rows) / 4) * 4 * perTile
  let rows = 0
  while (rows < height && bytes(rows + 1) <= SCRATCH_BYTES) rows++
  return rows
}

/** Whether Winograd's algorithm along one axis serves a convolution, and saves more than its transforms cost. */
function isLine({
  groups,
  channels,
  m,
  taps,
  positions,
  axes: [d, h, { kernel, stride, dilation }]
}: ConvShape): boolean {
  const isAlone = d.size === 1 && h.size === 1 && h.count === 1 && taps === kernel
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_WINOGRAD_CHANNELS
  if (!isAlone || !isWide || stride !== 1 || dilation > MAX_LINE_DILATION) return false
  const tiles = Math.ceil(positions / (LINE_SIDE * dilation)) * dilation
  const products = Math.ceil(tiles / PANEL) * LINE_POINTS * Math.ceil(kernel / LINE_SIDE)
  const saved = (Math.ceil(positions / PANEL) * kernel - products) * PANEL * channels * m
  return saved > tiles * (channels + m) * (dilation === 1 ? LINE_COST.dense : LINE_COST.dilated)
}

/** Blocks of outputs along one axis that fit into scratch memory; see Span in ../assembly/f32/line-winograd.ts. */
function lineDivision({ axes: [, , w], channels, m, images }: ConvShape): Division | undefined {
  const parts = partsOf(m, wantedParts(m))
  const strips = Math.ceil(Math.ceil(m / 4) / parts)
  const groups = Math.ceil(w.kernel / LINE_SIDE)
  const perPanel = LINE_POINTS * (32 * (groups * channels + 4 * strips) + 64)
  const perLine = (panels: number): number => 4 * (panels * PANEL + (groups + 2) * w.dilation + 4)
  const bytes = (panels: number): number => panels * perPanel + (8 + LINE_POINTS) * perLine(panels) + 512
  let panels = LINE_PANELS
  while (panels > 0 && bytes(panels) > SCRATCH_BYTES) panels--
  const most = Math.floor((panels * PANEL) / w.dilation)
  if (most === 0) return undefined
  const blocks = Math.ceil(w.count / (LINE_SIDE * w.dilation))
  const units = Math.ceil(blocks / most)
  return { units: images * units, rows: Math.ceil(blocks / units), parts }
}

/** Panels of positions that are computed together, and parts of the output channels. */
function panelDivision({ images, groups, positions, m }: ConvShape): Division {
  const panels = Math.ceil(positions / PANEL)
  const units = Math.ceil(panels / TOGETHER)
  const all = images * groups * units
  const wanted = wantedParts(m)
  // Of an odd number of blocks two threads share few badly.
  const parts = partsOf(m, wanted > 1 && (all * wanted) % 2 === 1 ? wanted - 1 : wanted)
  return { units: all, rows: Math.ceil(panels / units), parts }
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

const flopsOf = ({ images, groups, m, channels, positions, taps }: ConvShape): number =>
  2 * images * groups * m * channels * positions * taps

function dividedTemplate(
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
    outputStaging: 'whole',
    args: [...argumentsOf(shape, extras), rows, parts]
  }
}

/** im2col into panels, a few at a time, and a matrix product. */
const PANELS: Way = {
  template: (shape, extras) => dividedTemplate('conv', shape, extras, panelDivision(shape)),
  pack({ w }, params, { allocate }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { groups, m, k } = weightSizes(w, params as unknown as Params)
    const strips = Math.ceil(m / 4)
    const packed = allocate('float32', [groups, strips, k, 4])
    const isDone = onTheHeap(w, packed, (compute, from, to) => {
      const rows = { rowStep: k * 4, kStep: 4, rows: m, k }
      for (let g = 0; g < groups; g++) packStrips(compute, from + g * m * k * 4, rows, to + g * strips * k * 16)
    })
    return isDone ? { w: packed } : undefined
  }
}

/** Winograd's F(4x4, 3x3). */
const WINOGRAD: Way = {
  template: (shape, extras) => dividedTemplate('winograd', shape, extras, winogradDivision(shape)!),
  pack({ w }, params, { allocate }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const scratch = workspaceOf()?.scratch
    if (scratch === undefined) return undefined
    const { m, k } = weightSizes(w, params as unknown as Params)
    const strips = Math.ceil(m / 4)
    const packed = allocate('float32', [36, strips, k / 9, 4])
    const isDone = onTheHeap(w, packed, (compute, source, target) =>
      inShortCalls(strips, 4 * k, (from, end) => compute.winogradWeights(source, m, k / 9, target, from, end, scratch))
    )
    return isDone ? { w: packed } : undefined
  }
}

/** Winograd's F(4, 4) along one axis. */
const LINES: Way = {
  template: (shape, extras) => dividedTemplate('winogradLines', shape, extras, lineDivision(shape)!),
  pack({ w }, params, { allocate }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { m, k } = weightSizes(w, params as unknown as Params)
    const taps = w.dims[w.dims.length - 1]
    const packed = allocate('float32', [LINE_POINTS, Math.ceil(m / 4), Math.ceil(taps / LINE_SIDE), k / taps, 4])
    const isDone = onTheHeap(w, packed, (compute, from, to) => compute.lineWeights(from, m, k / taps, taps, to))
    return isDone ? { w: packed } : undefined
  }
}

/** Window by window over all input channels; weights as they are. */
const FEW: Way = {
  template: (shape, extras) => dividedTemplate('fewOutputs', shape, extras, fewDivision(shape)!)
}

/** Channel by channel; weights as they are. */
const DEPTHWISE: Way = {
  template(shape, extras) {
    const blocks = shape.images * shape.groups
    const flops = flopsOf(shape) * DEPTHWISE_COST
    return {
      kernel: 'depthwise',
      blocks,
      blockBytes: 1,
      tile: tileOfFlops(flops / blocks, TOGETHER),
      work: workOfFlops(flops),
      inputs: staged(4),
      outputStaging: 'whole',
      args: argumentsOf(shape, extras)
    }
  }
}

/** Groups, output channels of a group, and weights of an output channel. */
function weightSizes({ dims }: Tensor, { group }: Params): { groups: number; m: number; k: number } {
  if (group === 'leading') return { groups: dims[0], m: dims[1], k: product(dims, 2) }
  return { groups: group, m: dims[0] / group, k: product(dims, 1) }
}
