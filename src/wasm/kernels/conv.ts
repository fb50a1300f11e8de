import { packStrips } from '../pack.ts'
import { packingKernel } from '../run-packing.ts'
import { areFloat32, arrayOf, jobKernel, selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { EDGE, PANEL, SCRATCH_BYTES, TAP } from '../workspace.ts'
import {
  argumentsOf,
  type ConvShape,
  convShapeOf,
  dividedTemplate,
  type Division,
  flopsOf,
  type FusedConvParams,
  isIdle,
  partsOf,
  wantedParts,
  type Way,
  weightSizes
} from './conv-template.ts'
import { lineWinograd, planeWinograd } from './conv-winograd.ts'
import { activationArguments } from './elementwise.ts'

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 7
/** Positions below which packing weights for one run takes longer than what it saves. */
const MIN_POSITIONS = 32
/** As in ../assembly/f32/conv-panels.ts: panels computed together, and their depth. */
const TOGETHER = 16
const DEPTH = 256
/** As in conv-panels.ts: bytes between panels. */
const APART = 64
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
export const selectConv = selectorFor<FusedConvParams>(({ op, operands, parameters, dims }) => {
  const { x, w } = operands
  const { activation } = parameters
  if (x === undefined || w === undefined || activation === 'other' || !areFloat32(operands)) return undefined
  const shape = convShapeOf(x.dims, w.dims, dims, parameters)
  if (shape === undefined) return undefined
  const { images, groups, m, channels, positions, taps } = shape
  if (images * groups * m * channels * positions * taps < MIN_MULTIPLICATIONS) return undefined
  const way = wayOf(shape, parameters.isLast === true)
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
  return { kernel: packingKernel(run, pack), pack, looksAt: [] }
})

/** The fastest algorithm; undefined where none fits into a thread's scratch memory. */
function wayOf(shape: ConvShape, isLast: boolean): Way | undefined {
  const { groups, channels, m, taps, axes } = shape
  const isPadded = axes.every(({ begin }) => begin >= 0)
  if (isPadded && fewDivision(shape)) return FEW
  const isByPlane = channels === 1 && (groups > 1 || m <= MAX_OUTPUTS.few.one)
  if (isByPlane && isPadded && paddedPlanes(axes) <= SCRATCH_BYTES) return DEPTHWISE
  const winograd = isPadded ? (lineWinograd(shape, isLast) ?? planeWinograd(shape, isLast)) : undefined
  if (winograd !== undefined) return winograd
  return EDGE + TOGETHER * (taps * TAP + DEPTH * PANEL * 4 + APART) <= SCRATCH_BYTES ? PANELS : undefined
}

/** Bytes of the planes of a channel with their padding, as depthwise.ts lays them out. */
const paddedPlanes = ([d, h, w]: ConvShape['axes']): number =>
  ((d.count - 1) * d.stride + (d.kernel - 1) * d.dilation + 1) *
  ((h.count - 1) * h.stride + (h.kernel - 1) * h.dilation + 1) *
  ((Math.ceil(w.count / 4) * 4 - 1) * w.stride + (w.kernel - 1) * w.dilation + 8 + w.stride) *
  4

/** Bands of a convolution to few channels; undefined where it has others, or where no band fits. */
function fewDivision({ axes, groups, m, channels, taps, images }: ConvShape): Division | undefined {
  const [d, h, w] = axes
  // What an element of the input is read for makes up for its copy.
  const reads = taps / (h.stride * w.stride)
  const most = MAX_OUTPUTS[reads < MANY_TAPS ? 'few' : 'many'][channels === 1 ? 'one' : 'more']
  const isFew = groups === 1 && m <= (channels === 1 ? most : Math.min(reads, most))
  if (!isFew || taps === 1 || !isIdle(d)) return undefined
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

/** im2col into panels, a few at a time, and a matrix product. */
const PANELS: Way = {
  template: (shape, extras) => dividedTemplate('conv', shape, extras, panelDivision(shape)),
  *pack({ w }, params, context) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { groups, m, k } = weightSizes(w, params as unknown as FusedConvParams)
    const packed = yield* packStrips(w, { groups, rows: m, k, rowStep: k * 4, kStep: 4 }, context)
    return packed && { w: packed }
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
      args: argumentsOf(shape, extras)
    }
  }
}
