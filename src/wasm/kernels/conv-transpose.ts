import type { ConvPlan } from '../../kernels/conv/conv-plan.ts'
import type { KernelContext, Pack, RunParams } from '../../op-kit/define.ts'
import { type TransposedParams, transposedPlan } from '../../op-kit/transposed-shape.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { packStrips } from '../pack.ts'
import { packingKernel } from '../run-packing.ts'
import { areFloat32, arrayOf, jobKernel, selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { EDGE, SCRATCH_BYTES } from '../workspace.ts'
import { threeAxes, windowArguments } from './window-arguments.ts'

type Params = RunParams<TransposedParams>

/** Multiplications below which setting a job up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 10
/** Rows of a block, an output channel and a tap each, so that a panel of the input serves many. */
const BLOCK_ROWS = 64

/** ConvTranspose of float32 over one to three spatial axes. */
export const selectConvTranspose = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { x, w, bias } = operands
  if (x === undefined || w === undefined || !areFloat32(operands) || dims.length > 5) return undefined
  const sizes = sizesOf(w.dims, parameters)
  const { m, k, taps } = sizes
  if (product(dims) === 0 || product(x.dims) * m * taps < MIN_MULTIPLICATIONS) return undefined
  // Vectors of products reach into a row after the last.
  if (EDGE + 32 * (k + channelsOfBlock(sizes) * taps + 1) > SCRATCH_BYTES) return undefined
  const planFor = planner(x.dims, w.dims, dims, parameters)
  const hasBias = bias !== undefined
  let template: JobTemplate | undefined
  const run = jobKernel(op, ({ x: data, bias: added }, packed, _, context) => {
    if (packed?.w === undefined) return undefined
    // Pads depend on the dialect, which is the same in all runs.
    template ??= templateOf(sizes, planFor(context), hasBias)
    const first = arrayOf(data!)
    return { template, inputs: [first, arrayOf(packed.w), added ? arrayOf(added) : first] }
  })
  return { kernel: packingKernel(run, pack), pack }
})

type Dims = readonly number[]

const planner =
  (x: Dims, w: Dims, out: Dims, params: Params) =>
  (context: KernelContext): ConvPlan =>
    transposedPlan(x, w, out, params, context)

/** Weights of a group: [k][m][taps], k input and m output channels. */
interface Sizes {
  readonly groups: number
  readonly k: number
  readonly m: number
  readonly taps: number
}

function sizesOf(w: Dims, { group }: Pick<Params, 'group'>): Sizes {
  if (group === 'leading') return { groups: w[0], k: w[1], m: w[2], taps: product(w, 3) }
  return { groups: group, k: w[0] / group, m: w[1], taps: product(w, 2) }
}

/** Output channels of a block; their rows are a multiple of four, so that blocks begin with a strip of weights. */
function channelsOfBlock({ m, taps }: Sizes): number {
  const unit = taps % 4 === 0 ? 1 : taps % 2 === 0 ? 2 : 4
  return Math.min(m, Math.max(1, Math.floor(BLOCK_ROWS / taps / unit)) * unit)
}

/** The arguments are those of ConvTransposeArguments in ../assembly/f32/conv-transpose.ts. */
function templateOf(sizes: Sizes, { batch, axes }: ConvPlan, hasBias: boolean): JobTemplate {
  const { groups, k, m, taps } = sizes
  const perBlock = channelsOfBlock(sizes)
  const blocks = batch * groups * Math.ceil(m / perBlock)
  const flops = 2 * batch * groups * m * taps * k * product(axes.map(({ count }) => count))
  return {
    kernel: 'convTranspose',
    blocks,
    blockBytes: 1,
    tile: tileOfFlops(flops / blocks, blocks),
    work: workOfFlops(flops),
    inputs: staged(3),
    // There is a window for each element of the input.
    args: [
      ...[Number(hasBias), k, m, groups, perBlock],
      ...windowArguments(threeAxes(axes.map(axis => ({ ...axis, size: axis.count, count: axis.size }))))
    ]
  }
}

const pack: Pack = function* ({ w }, params, context) {
  if (w === undefined || w.type !== 'float32') return undefined
  const { groups, k, m, taps } = sizesOf(w.dims, params as Params)
  const rows = m * taps
  const packed = yield* packStrips(w, { groups, rows, k, rowStep: 4, kStep: rows * 4 }, context)
  return packed && { w: packed }
}
