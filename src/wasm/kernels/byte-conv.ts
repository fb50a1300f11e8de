import { asDoubles } from '../../kernels/quantized/integer-product.ts'
import { channelsFirstDims, type ChannelsParams } from '../../op-kit/channels-last.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { namedPack } from '../../op-kit/packs.ts'
import { convert } from '../../tensor/convert.ts'
import { type DType, DTYPES, isFloat } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { DOT_KINDS, dotKind } from '../dots.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  arrayOf,
  type Candidate,
  jobKernel,
  selectorFor,
  staged,
  type TensorOperands,
  workOfFlops
} from '../selector.ts'
import { PANEL, SCRATCH_BYTES, TAP } from '../workspace.ts'
import { packOf, type PackWeights, POINTS, STRIP, zerosOf } from './byte-conv-pack.ts'
import { FLIP, isByte, isSingle, MAX_DEPTH, MIN_MULTIPLICATIONS, RESULTS, spread } from './byte-product.ts'
import { type ConvParams, type ConvShape, convShapeOf, isIdle, partsOf, wantedParts } from './conv-template.ts'
import { windowArguments } from './window-arguments.ts'

/** Most panels of a block, and their bytes, which stay in the second cache. */
const MAX_PANELS = 32
const PANELS_BYTES = 1 << 19
/** Blocks that threads can share where a plane is small. */
const MIN_BLOCKS = 4
/** Bytes of scratch memory before the taps, as in ../assembly/int8/conv.ts. */
const BEFORE = 256

interface Params extends ConvParams, Partial<ChannelsParams> {
  readonly range?: readonly [lowest: number, highest: number] | undefined
}

/** ConvInteger of bytes. */
export const selectConvInteger = selectorFor<Params>(candidate =>
  convSelection(candidate, 'int32', [candidate.operands.wZero])
)

/** QLinearConv of bytes, in either layout. */
export const selectQLinearConv = selectorFor<Params>(candidate => {
  const { xScale, xZero, wScale, wZero, yScale, yZero } = candidate.operands
  if (!yZero || !isByte(yZero.type) || ![xScale, xZero, yScale, yZero].every(isSingle)) return undefined
  return convSelection(candidate, yZero.type, [wScale, wZero])
})

/** ConvIntegerToFloat of bytes. */
export const selectConvIntegerToFloat = selectorFor<Params>(candidate => {
  const { xScale, wScale, wZero, bias } = candidate.operands
  if (xScale?.type !== 'float32' || !isSingle(xScale) || (bias && bias.type !== 'float32')) return undefined
  return convSelection(candidate, 'float32', [wScale, wZero])
})

/** @param lists of which there may be one for each output channel */
function convSelection(
  { op, operands, parameters, dims }: Candidate<Params>,
  type: DType,
  lists: readonly (Tensor | undefined)[]
): Selection | undefined {
  const { x, w, xZero } = operands
  if (!x || !w || !isByte(x.type) || !isByte(w.type) || !isSingle(xZero)) return undefined
  const isLast = parameters.channelsLast === true
  const ordered = isLast ? channelsFirstDims : (all: readonly number[]) => all
  const shape = convShapeOf(ordered(x.dims), w.dims, ordered(dims), parameters)
  const way = shape && wayOf(shape)
  if (!way || lists.some(list => !isSingle(list) && product(list!.dims) !== shape.groups * shape.m)) return undefined
  const rows = isLast ? 0 : tileRows(shape)
  const plain = templateOf(shape, way, type, isLast, operands)
  const winograd = rows > 0 ? templateOf(shape, winogradOf(shape, rows), type, isLast, operands) : plain
  const numbers =
    type === 'int32' ? undefined : (given: TensorOperands) => numbersOf(given, shape, type, parameters.range)
  const kernel = convKernel(op, plain, winograd, shape.groups * shape.m, numbers)
  const looksAt = ['xZero', 'wZero', ...(numbers ? IN_NUMBERS : [])]
  if (way.kernel === 'byteDepthwise') return { kernel, looksAt }
  const hasZeros = operands.wZero !== undefined
  const weights = packOf(shape, rows > 0, hasZeros)
  const names = Object.keys(operands).filter(name => IN_NUMBERS.has(name))
  const pack = numbers ? withNumbers(weights, numbers, names) : weights
  // Sizes follow from the constant weights; where there are none, nothing is packed.
  return { kernel, pack: namedPack([op.name, type, rows > 0, hasZeros, ...names].join(' '), pack), looksAt }
}
/** Operands of which the numbers are made. */
const IN_NUMBERS: ReadonlySet<string> = new Set(['xScale', 'wScale', 'yScale', 'yZero', 'bias'])

/** What scales sums, as the kernel reads it. */
type Numbers = (given: TensorOperands) => Float64Array

/** Packs also what follows from scales and biases, where all are constants. */
const withNumbers = (pack: PackWeights, numbers: Numbers, names: readonly string[]): PackWeights =>
  function* (given, parameters, context) {
    const packed = yield* pack(given, parameters, context)
    if (!packed || !names.every(name => name in given)) return packed
    const list = numbers(Object.fromEntries(names.map(name => [name, given[name]])))
    const own = context.allocate('float64', [list.length])
    const all = own.data as Float64Array
    all.set(list)
    return { ...packed, numbers: own }
  }

/**
 * @param plain for weights as they are
 * @param usual for packed ones
 * @param numbers what scales sums; none where these are the result
 */
function convKernel(
  op: Op,
  plain: JobTemplate,
  usual: JobTemplate,
  channels: number,
  numbers: Numbers | undefined
): Selection['kernel'] {
  return jobKernel(op, (operands, packed) => {
    const { x, w, xZero, wZero } = operands
    const hasDots = packed?.w.type === 'int8'
    const template = packed && !hasDots ? usual : plain
    const args = template.args
      .with(ARGUMENT_OF_ZERO, xZero ? Number(xZero.data[0]) : 0)
      .with(ARGUMENT_OF_PACKED, hasDots ? 1 + DOT_KINDS[dotKind()] : Number(packed !== undefined))
    const [first, zeros] = [arrayOf(x!), packed ? NO_ZEROS : zerosOf(wZero, channels)]
    const scaling = packed?.numbers ? arrayOf(packed.numbers) : (numbers?.(operands) ?? zeros)
    return { template: { ...template, args }, inputs: [first, arrayOf(packed?.w ?? w!), zeros, scaling] }
  })
}
/** In place of what the kernel does not read. */
const NO_ZEROS = new Int32Array(1)

/**
 * Scales, codes (floats have none) and biases, and what follows from them, as ../assembly/int8/requantize.ts describes
 * them.
 */
function numbersOf(
  { xScale, wScale, yScale, yZero, bias }: TensorOperands,
  { groups, m, channels: inputs, taps }: ConvShape,
  type: DType,
  range: Params['range']
): Float64Array {
  const channels = groups * m
  const lowest = type === 'int8' ? -128 : 0
  const [low, high] = range ?? [lowest, lowest + 255]
  const [xStep = 1, yStep = 1, zero = 0] = [xScale, yScale, yZero].map(tensor => tensor && asDoubles(tensor).data[0])
  const numbers = new Float64Array(SINGLE_NUMBERS + 4 * channels)
  const singles = new Float32Array(numbers.buffer)
  numbers.set([xStep, yStep, zero, low, high])
  singles.set([low - zero, high - zero], 10)
  // What turns a code of the result into one of int8.
  const flip = lowest + FLIP
  const words = new Int32Array(numbers.buffer)
  words[12] = MAGIC_BITS - zero
  words[14] = MAGIC_BITS - zero + flip
  new Int8Array(numbers.buffer).set([low - flip, high - flip, flip], 60)
  const scales = numbers.subarray(SINGLE_NUMBERS, SINGLE_NUMBERS + channels)
  const biases = numbers.subarray(SINGLE_NUMBERS + channels, SINGLE_NUMBERS + 2 * channels)
  spread(asDoubles(wScale!).data, scales)
  if (bias) biases.set(convert(bias, 'float64').data)
  const isScaled = bias !== undefined && isFloat(bias.type)
  const reach = Math.max(Math.abs(low - zero), Math.abs(high - zero)) + 1
  const largest = LARGEST_PRODUCT * inputs * taps
  singles[13] = finishChannels(singles, { xStep, yStep, scales, biases, isScaled, reach, largest })
  return numbers
}

/** What the numbers of a channel follow from. */
interface Scaling {
  readonly xStep: number
  readonly yStep: number
  readonly scales: Float64Array
  readonly biases: Float64Array
  /** Whether biases are floats, and not codes of the scale of the sums. */
  readonly isScaled: boolean
  /** The largest code less the zero point, and the largest sum. */
  readonly reach: number
  readonly largest: number
}

/**
 * Writes the factor, what is added, and the limit of each channel. A function of its own, so that engines optimize the
 * loop and no more.
 * @returns the least limit
 */
function finishChannels(
  singles: Float32Array,
  { xStep, yStep, scales, biases, isScaled, reach, largest }: Scaling
): number {
  const { length } = scales
  let leastLimit = 0.5
  for (let i = 0, at = 2 * (SINGLE_NUMBERS + 2 * length); i < length; i++, at += 4) {
    const factor = (xStep * scales[i]) / yStep
    const added = isScaled ? biases[i] / yStep : biases[i] * factor
    const limit = 0.5 - 2 ** -21 * (reach + Math.abs(added))
    singles[at] = factor
    singles[at + 1] = added
    singles[at + 2] = limit
    // False also where one is no number.
    const isSmall = largest * Math.abs(factor) + Math.abs(added) < SMALL_QUOTIENT
    leastLimit = isSmall ? Math.min(leastLimit, limit) : 0
  }
  return leastLimit
}
/** Numbers before those of the channels, in double precision. */
const SINGLE_NUMBERS = 8
/** The largest product of two differences of bytes, and quotients that are small enough to be rounded unclamped. */
const LARGEST_PRODUCT = 255 * 255
const SMALL_QUOTIENT = 2 ** 21
/** The bits of 1.5 * 2^23 as float32. */
const MAGIC_BITS = 0x4b400000

/** The kernel; undefined where there is none for the sizes, or where setting it up costs more than it gains. */
function wayOf({ images, groups, m, channels, positions, taps, axes }: ConvShape): Way | undefined {
  const k = channels * taps
  if (k > MAX_DEPTH || images * groups * m * k * positions < MIN_MULTIPLICATIONS) return undefined
  const [depth, h, w] = axes
  if (channels === 1 && groups > 1 && isIdle(depth) && BEFORE + 6 * (taps + 1) + planeBytes(h, w) <= SCRATCH_BYTES)
    return { kernel: 'byteDepthwise', panels: 1, perPlane: 1, parts: 1 }
  const allPanels = Math.ceil(positions / PANEL)
  const bytes = 2 * PANEL * (k + 1)
  const left = Math.min(PANELS_BYTES, SCRATCH_BYTES - BEFORE - taps * TAP - bytes)
  const parts = partsOf(m, wantedParts(m))
  // Few planes are cut into blocks that threads can share.
  const shared = Math.ceil(allPanels / Math.ceil(MIN_BLOCKS / (images * groups * parts)))
  const most = Math.min(MAX_PANELS, Math.max(1, Math.floor(left / bytes)), Math.max(4, shared))
  const perPlane = Math.ceil(allPanels / most)
  return left < 0 ? undefined : { kernel: 'byteConv', panels: Math.ceil(allPanels / perPlane), perPlane, parts }
}

/**
 * Rows of tiles that Winograd's algorithm computes together, so that its matrices fit into scratch memory and threads
 * can share a plane; 0 where the convolution is not one of 3 x 3 weights and stride 1, or four times a sum may not fit
 * into int32.
 */
function tileRows({ images, groups, m, channels, taps, axes }: ConvShape): number {
  const [depth, h, w] = axes
  const isThree = h.kernel === 3 && w.kernel === 3 && taps === 9
  const isDense = axes.every(({ stride, dilation, begin }) => stride === 1 && dilation === 1 && begin >= 0)
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_WINOGRAD_CHANNELS && isIdle(depth)
  if (!isThree || !isDense || !isWide || channels > MAX_WINOGRAD_CHANNELS) return 0
  const across = Math.ceil(w.count / 8) * 4
  const inputBytes = POINTS * 4 * Math.ceil(channels / 2)
  const tileBytes = inputBytes + POINTS * 16 * Math.min(WINOGRAD_STRIPS, Math.ceil(m / STRIP))
  const left = SCRATCH_BYTES - BEFORE - 8 * (8 * across + 16) - PANEL * tileBytes
  const most = Math.floor(left / tileBytes / across)
  const rows = Math.ceil(h.count / 2)
  const parts = partsOf(m, wantedParts(m))
  const shared = Math.max(Math.ceil((4 * PANEL) / across), Math.ceil((rows * images * parts) / MIN_BLOCKS))
  const near = Math.max(1, Math.floor(Math.min(8 * PANEL, PANELS_BYTES / inputBytes) / across))
  return Math.min(most, near, rows, shared)
}
/** Strips whose products Winograd's algorithm holds; see ../assembly/int8/winograd.ts. */
const WINOGRAD_STRIPS = 16
/** Channels from which its transforms pay, and up to which 4 * 9 * 255 * 255 times their number fits into int32. */
const MIN_WINOGRAD_CHANNELS = 16
const MAX_WINOGRAD_CHANNELS = 917

function winogradOf({ axes, m }: ConvShape, most: number): Way {
  const rows = Math.ceil(axes[1].count / 2)
  const perPlane = Math.ceil(rows / most)
  return { kernel: 'byteWinograd', panels: Math.ceil(rows / perPlane), perPlane, parts: partsOf(m, wantedParts(m)) }
}

/** Bytes of a plane with its padding, as ../assembly/int8/depthwise.ts lays it out. */
function planeBytes(h: ConvShape['axes'][number], w: ConvShape['axes'][number]): number {
  const [lines, width] = [h, w].map(axis => (axis.count - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1)
  return lines * (Math.ceil(width / w.stride) + 8) * w.stride * 2
}

/** A kernel, the panels (or rows of tiles) of a block, such blocks of a plane, and the parts of its output channels. */
interface Way {
  readonly kernel: 'byteConv' | 'byteDepthwise' | 'byteWinograd'
  readonly panels: number
  readonly perPlane: number
  readonly parts: number
}

/** The arguments are those of ByteConvArguments in ../assembly/int8/conv.ts. */
function templateOf(
  { images, groups, m, channels, positions, taps, axes }: ConvShape,
  { kernel, panels, perPlane, parts }: Way,
  type: DType,
  isLast: boolean,
  { x, w, bias }: TensorOperands
): JobTemplate {
  const blocks = images * groups * perPlane * parts
  const work = workOfFlops(images * groups * m * channels * positions * taps)
  const elements = product(axes.map(axis => axis.size))
  const bytes = DTYPES[type].bits / 8
  /** Steps from image to image, from channel to channel and from position to position. */
  const steps = (all: number, plane: number, unit: number): number[] =>
    [all * plane, ...(isLast ? [1, all] : [plane, 1])].map(step => step * unit)
  return {
    kernel,
    blocks,
    blockBytes: 1,
    tile: kernel === 'byteDepthwise' ? Math.max(1, Math.min(8, Math.floor(blocks / MIN_BLOCKS))) : parts,
    isDivisible: kernel !== 'byteDepthwise',
    work: Math.max(work, groups * m * channels * taps),
    inputs: staged(4),
    args: [
      RESULTS.indexOf(type),
      Number(x!.type === 'int8'),
      Number(w!.type === 'int8'),
      0,
      bias === undefined ? 0 : isFloat(bias.type) ? 2 : 1,
      channels,
      m,
      groups,
      0,
      panels,
      parts,
      ...steps(groups * channels, elements, 1),
      ...steps(groups * m, positions, bytes),
      ...windowArguments(axes)
    ]
  }
}
/** Where among the arguments is what is known once the call runs: the zero point of X, and whether W is packed. */
const ARGUMENT_OF_ZERO = 3
const ARGUMENT_OF_PACKED = 8
