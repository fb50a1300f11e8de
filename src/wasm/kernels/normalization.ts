import type { GroupedChannels } from '../../kernels/normalization/groups.ts'
import type { Selection } from '../../op-kit/define.ts'
import { normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { areSameDims, product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  areFloat32,
  areOf,
  arrayOf,
  type Candidate,
  floatBits,
  jobKernel,
  selectorFor,
  staged,
  type TensorOperands
} from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'
import { aroundAxes } from './axes.ts'
import { firstOutputOnly } from './first-output.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 5
/** Elements of a channel below which the reference, which computes the factors once, is as fast. */
const MIN_CHANNEL = 2
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8
/** Elements of a tile, which take about 0.1 ms. */
const TILE = 1 << 16
/** What rows are divided by: numbers in ../assembly/f32/rows.ts. */
const DIVISOR = { deviation: 0, deviationOutside: 1, none: 2 } as const

interface AxisParams {
  readonly axis: number
  readonly epsilon: number
}

/** LayerNormalization of float32 and float64 whose scale and bias have an element for each element of a row. */
export const selectLayerNorm = selectorFor<AxisParams>(call => scaledSelection(call, 'layerNorm'))

/** RMSNormalization and SimplifiedLayerNormalization of float32 and float64. */
export const selectRmsNorm = selectorFor<AxisParams>(call => scaledSelection(call, 'rmsNorm'))

function scaledSelection(call: Candidate<AxisParams>, kernel: 'layerNorm' | 'rmsNorm'): Selection | undefined {
  const rows = scaledRows(call)
  if (rows === undefined) return undefined
  const { op, operands, parameters } = call
  const { epsilon } = parameters
  const centers = kernel === 'layerNorm'
  const hasBias = centers && operands.bias !== undefined
  const template =
    operands.x!.type === 'float64'
      ? wideRowsTemplate(rows, hasBias, centers, epsilon)
      : rowsTemplate(kernel, rows, { hasScale: true, hasBias, epsilon })
  const run = jobKernel(op, given => ({ template, inputs: rowInputs(given).slice(0, template.inputs.length) }))
  return { kernel: firstOutputOnly(op, run), looksAt: [] }
}

export interface MvnParams {
  readonly axes: readonly number[]
  readonly axesFrom: number | undefined
  readonly centers: boolean
  readonly scales: boolean
  readonly epsilon: number
  readonly epsilonInside: boolean
}

/** The axes over which mean and variance are computed. */
export const mvnAxes = ({ axes, axesFrom }: MvnParams, rank: number): readonly number[] =>
  axesFrom === undefined ? normalizeAxes(axes, rank) : Array.from({ length: rank - axesFrom }, (_, i) => axesFrom + i)

/** MeanVarianceNormalization and MVN of float32 over the last axes. */
export const selectMvn = selectorFor<MvnParams>(({ op, operands, parameters }) => {
  const { x } = operands
  if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
  const { centers, scales, epsilon, epsilonInside } = parameters
  const layout = aroundAxes(x.dims, mvnAxes(parameters, x.dims.length))
  if (layout === undefined || layout.inner !== 1) return undefined
  const divisor = !scales ? 'none' : epsilonInside ? 'deviation' : 'deviationOutside'
  if (!centers && divisor !== 'deviation') return undefined
  const rows = { count: layout.outer, size: layout.size }
  const template = rowsTemplate(centers ? 'layerNorm' : 'rmsNorm', rows, {
    hasScale: false,
    hasBias: false,
    epsilon,
    divisor
  })
  return { kernel: jobKernel(op, given => ({ template, inputs: rowInputs(given) })), looksAt: [] }
})

interface Rows {
  readonly count: number
  readonly size: number
}

/** The rows that end with the last axis; undefined where scale or bias are no row. */
function scaledRows({ operands, parameters, dims }: Candidate<AxisParams>): Rows | undefined {
  const { x, scale, bias } = operands
  if (x === undefined || scale === undefined || product(x.dims) < MIN_ELEMENTS) return undefined
  if (!areFloat32(operands) && !areOf('float64', operands)) return undefined
  const first = normalizeAxis(parameters.axis, x.dims.length)
  const rowDims = withoutLeadingOnes(x.dims.slice(first))
  const isRow = (tensor: Tensor): boolean => areSameDims(withoutLeadingOnes(tensor.dims), rowDims)
  if (!isRow(scale) || (bias && !isRow(bias)) || !areSameDims(x.dims, dims)) return undefined
  return { count: product(x.dims, 0, first), size: product(x.dims, first) }
}

function withoutLeadingOnes(dims: readonly number[]): readonly number[] {
  const first = dims.findIndex(dim => dim !== 1)
  return first < 0 ? [] : dims.slice(first)
}

interface RowsOptions {
  readonly hasScale: boolean
  readonly hasBias: boolean
  readonly epsilon: number
  readonly divisor?: keyof typeof DIVISOR
}

/** The arguments are those of RowsArguments in ../assembly/f32/rows.ts. */
export const rowsTemplate = (
  kernel: 'layerNorm' | 'rmsNorm',
  { count, size }: Rows,
  { hasScale, hasBias, epsilon, divisor = 'deviation' }: RowsOptions
): JobTemplate => ({
  kernel,
  blocks: count,
  blockBytes: size * 4,
  tile: Math.max(1, Math.floor(TILE / size)),
  work: count * size * ELEMENT_WORK,
  inputs: staged(4),
  args: [0, size, Number(hasScale), Number(hasBias), 0, floatBits(epsilon), DIVISOR[divisor]]
})

/** The arguments are those of WideRowsArguments in ../assembly/wide/rows.ts. */
const wideRowsTemplate = ({ count, size }: Rows, hasBias: boolean, centers: boolean, epsilon: number): JobTemplate => ({
  kernel: 'wideRows',
  blocks: count,
  blockBytes: size * 8,
  tile: Math.max(1, Math.floor(TILE / size)),
  work: count * size * ELEMENT_WORK * 2,
  inputs: staged(3),
  args: [size, Number(hasBias), Number(centers), ...new Int32Array(Float64Array.of(epsilon).buffer)]
})

/** Data, scale, bias and what is added first; the kernel does not read those that are left out. */
function rowInputs({ x, scale, bias }: TensorOperands): NumericArray[] {
  const data = arrayOf(x!)
  return [data, scale ? arrayOf(scale) : data, bias ? arrayOf(bias) : data, data]
}

interface GroupParams {
  readonly epsilon: number
  readonly groups: number | undefined
  readonly per: 'group' | 'channel'
}

/** GroupNormalization and InstanceNormalization of float32. */
export const selectGroupNorm = selectorFor<GroupParams>(call => {
  const { x } = call.operands
  if (x === undefined) return undefined
  const [batch, channels] = x.dims
  const groups = call.parameters.groups ?? channels
  const plane = product(x.dims, 2)
  const inGroup = channels / groups
  // One scale for a group is one for a channel that has all elements of the group.
  const [perGroup, inner] = call.parameters.per === 'group' ? [1, inGroup * plane] : [inGroup, plane]
  return channelSelection(call, 'groupNorm', { blocks: batch * groups, inner, channels: perGroup, groups })
})

interface BatchParams {
  readonly epsilon: number
  readonly trains: boolean
  readonly perElement: boolean
}

/** BatchNormalization of float32 by given statistics. */
export const selectBatchNorm = selectorFor<BatchParams>(call => {
  const { x } = call.operands
  const { trains, perElement } = call.parameters
  if (x === undefined || x.dims.length < 2 || trains || perElement) return undefined
  const [batch, channels] = x.dims
  const inner = product(x.dims, 2)
  if (inner === 1 && 4 * channels <= SCRATCH_BYTES)
    return channelSelection(call, 'channelRows', { blocks: batch, inner, channels, groups: 1 })
  return channelSelection(call, 'channelNorm', { blocks: batch * channels, inner, channels, groups: 1 })
})

interface Channels {
  /** Groups of all instances; where statistics are given channels of all instances, or instances of rows. */
  readonly blocks: number
  readonly inner: number
  /** Channels of a group. */
  readonly channels: number
  readonly groups: number
}

/** Group or batch normalization where the elements of a channel lie side by side, or each channel has one. */
function channelSelection(
  { op, operands, parameters }: Candidate<{ readonly epsilon: number }>,
  kernel: 'groupNorm' | 'channelNorm' | 'channelRows',
  channels: Channels
): Selection | undefined {
  const count = product(operands.x!.dims)
  if (!areFloat32(operands) || count < MIN_ELEMENTS) return undefined
  if (kernel !== 'channelRows' && channels.inner < MIN_CHANNEL) return undefined
  const template = channelsTemplate(kernel, count, channels, parameters.epsilon)
  return {
    kernel: jobKernel(op, ({ x, scale, bias, mean, variance }) => {
      const data = arrayOf(x!)
      return {
        template,
        inputs: [
          data,
          arrayOf(scale!),
          arrayOf(bias!),
          mean ? arrayOf(mean) : data,
          variance ? arrayOf(variance) : data
        ]
      }
    }),
    looksAt: []
  }
}

/** The arguments are those of GroupsArguments in ../assembly/f32/rows.ts. */
function channelsTemplate(
  kernel: 'groupNorm' | 'channelNorm' | 'channelRows',
  count: number,
  { blocks, inner, channels, groups }: Channels,
  epsilon: number
): JobTemplate {
  const perBlock = count / blocks
  return {
    kernel,
    blocks,
    blockBytes: perBlock * 4,
    tile: Math.max(1, Math.floor(TILE / perBlock)),
    work: count * ELEMENT_WORK,
    inputs: staged(5),
    args: [inner, channels, groups, floatBits(epsilon)]
  }
}

/** Group normalization of data whose channels are dim 1; the inputs are data, scale, bias, and the data twice more. */
export const groupsTemplate = ({ batch, channels, groups, size }: GroupedChannels, epsilon: number): JobTemplate =>
  channelsTemplate(
    'groupNorm',
    batch * channels * size,
    { blocks: batch * groups, inner: size, channels: channels / groups, groups },
    epsilon
  )

/** Channels of a block where they come last: a cache line. */
const LINE = 16
/** Most channels of a block: scratch memory has room for 28 bytes each. */
const MAX_WIDTH = 1 << 15

/**
 * Group normalization of data whose channels come last; the inputs are data, scale and bias. The arguments are those of
 * ChannelGroupsArguments in ../assembly/f32/channel-groups.ts.
 * @param activates whether SiLU follows
 * @returns undefined where a group has too many channels
 */
export function channelGroupsTemplate(
  { batch, channels, groups, size }: GroupedChannels,
  epsilon: number,
  activates: boolean
): JobTemplate | undefined {
  const inGroup = channels / groups
  // A block has whole groups, whole vectors where groups allow it, and at least a cache line of each position.
  const aligned = inGroup % 4 === 0 ? 1 : inGroup % 2 === 0 ? 2 : 4
  const width = inGroup * Math.min(groups, aligned * Math.ceil(LINE / (aligned * inGroup)))
  if (width > MAX_WIDTH) return undefined
  return {
    kernel: 'channelGroups',
    blocks: batch * Math.ceil(channels / width),
    blockBytes: size * width * 4,
    tile: Math.max(1, Math.floor(TILE / (size * width))),
    work: batch * channels * size * ELEMENT_WORK * (activates ? 4 : 1),
    inputs: staged(3),
    args: [size, channels, inGroup, width, floatBits(epsilon), Number(activates)]
  }
}
