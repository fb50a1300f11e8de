import type { ConvPlan } from '../../kernels/conv/conv-plan.ts'
import type { Kernel, KernelContext, Pack, RunParams } from '../../op-kit/define.ts'
import { type TransposedParams, transposedPlan } from '../../op-kit/transposed-shape.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { ALONE } from '../../shapes/window.ts'
import { product } from '../../tensor/tensor.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { packStrips } from '../pack.ts'
import { runPacking } from '../run-packing.ts'
import { areFloat32, arrayOf, selectorFor, staged, type TensorOperands, tileOfFlops, workOfFlops } from '../selector.ts'
import { EDGE, SCRATCH_BYTES } from '../workspace.ts'

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
  const run: Kernel = function* (given, _, context) {
    const tensors = given as TensorOperands
    const out = context.rawOutput()
    const { packed } = context
    // Pads depend on the dialect, which is the same in all runs.
    template ??= templateOf(sizes, planFor(context), hasBias)
    if (packed?.w) {
      const first = arrayOf(tensors.x!)
      const inputs = [first, arrayOf(packed.w), tensors.bias ? arrayOf(tensors.bias) : first]
      if (yield* runJob(template, inputs, arrayOf(out), context.threads)) return
    }
    const rest = op.run(given, parameters, withOutput(context, out))
    if (rest) yield* rest
  }
  const kernel: Kernel = (given, params, context) =>
    context.packed?.w ? run(given, params, context) : runPacking(run, pack, given, params, context)
  return { kernel, pack }
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
  const [d, h, w] = [ALONE, ALONE, ...axes].slice(-3)
  const blocks = batch * groups * Math.ceil(m / perBlock)
  const flops = 2 * batch * groups * m * taps * k * d.count * h.count * w.count
  return {
    kernel: 'convTranspose',
    blocks,
    blockBytes: 1,
    tile: tileOfFlops(flops / blocks, blocks),
    work: workOfFlops(flops),
    inputs: staged(3),
    outputStaging: 'whole',
    args: [
      Number(hasBias),
      k,
      m,
      groups,
      perBlock,
      ...(['count', 'kernel', 'stride', 'dilation', 'begin', 'size'] as const).flatMap(name => [
        d[name],
        h[name],
        w[name]
      ])
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
