import type { ConvPlan } from '../../kernels/conv/conv-plan.ts'
import type { DeformBorder } from '../../kernels/conv/deform.ts'
import { convPlan, type WeightParams } from '../../op-kit/conv-shape.ts'
import { planeSizes, type WindowParams } from '../../shapes/window.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  areFloat32,
  arrayOf,
  type Selector,
  selectorFor,
  staged,
  type TensorOperands,
  tileOfFlops
} from '../selector.ts'
import { productTemplate } from './matrix.ts'

/** Multiplications below which setting jobs up costs more than it gains. */
const MIN_MULTIPLICATIONS = 1 << 8
/** Elements of the columns of some rows of windows, which lie in memory at a time. */
const MAX_COLUMNS = 1 << 21
/** Work of reading an element in all channels, in multiplications. */
const READ_FLOPS = 16

interface Params extends WindowParams, WeightParams {
  readonly offsetGroups: number
  readonly border: DeformBorder
}

/** Some rows of windows, and the jobs that compute them. */
interface Part {
  readonly first: number
  readonly count: number
  readonly columns: JobTemplate
  readonly product: JobTemplate
}

/** Deformable convolution of float32 over two axes: what the taps read, row by row of windows, times the weights. */
export const selectDeformConv: Selector = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { x, w, bias, mask } = operands
  if (x === undefined || w === undefined || x.dims.length !== 4 || !areFloat32(operands)) return undefined
  const plan = convPlan(x.dims, w.dims, dims, parameters)
  const { groups, windowChannels, elementChannels, axes, batch } = plan
  const { elements, windows, taps } = planeSizes(axes)
  const height = elementChannels * taps
  const perRow = groups * height * axes[1].count
  if (batch * windows * perRow * windowChannels < MIN_MULTIPLICATIONS || perRow > MAX_COLUMNS || elements === 0)
    return undefined
  const parts = partsOf(plan, parameters, Math.floor(MAX_COLUMNS / perRow), mask !== undefined, bias !== undefined)
  const offsets = parameters.offsetGroups * taps * windows
  const kernel = attemptKernel(op, function* (given, out, { allocate, run }) {
    const arrays = arraysOf(given, arrayOf(out()))
    const columns = allocate(perRow * parts[0].count)
    const sums = parts.length > 1 ? allocate(windowChannels * parts[0].count * axes[1].count) : undefined
    for (let n = 0; n < batch; n++) {
      const data = [
        arrays.x.subarray(n * groups * elementChannels * elements, (n + 1) * groups * elementChannels * elements),
        arrays.offsets.subarray(2 * n * offsets, 2 * (n + 1) * offsets),
        arrays.mask.subarray(n * offsets, (n + 1) * offsets)
      ]
      for (const part of parts) {
        if (!(yield* run(part.columns, data, columns))) return false
        for (let g = 0; g < groups; g++)
          if (!(yield* multiply(plan, part, n * groups + g, arrays, columns, sums, run))) return false
      }
    }
    return true
  })
  return { kernel }
})

interface Arrays {
  readonly x: Float32Array
  readonly w: Float32Array
  readonly offsets: Float32Array
  readonly mask: Float32Array
  readonly bias: Float32Array | undefined
  readonly out: Float32Array
}

function arraysOf({ x, w, offsets, mask, bias }: TensorOperands, out: NumericArray): Arrays {
  const [data, weights, moves] = [x!, w!, offsets!].map(tensor => arrayOf(tensor) as Float32Array)
  return {
    x: data,
    w: weights,
    offsets: moves,
    mask: mask ? (arrayOf(mask) as Float32Array) : moves,
    bias: bias && (arrayOf(bias) as Float32Array),
    out: out as Float32Array
  }
}

/** The windows of a part in one group of one batch. @param sums where they pass through, unless they are all windows */
function* multiply(
  { groups, windowChannels, elementChannels, axes }: ConvPlan,
  { first, count, product: template }: Part,
  plane: number,
  { w, bias, out }: Arrays,
  columns: Float32Array,
  sums: Float32Array | undefined,
  run: Work['run']
): Generator<void, boolean> {
  const { windows, taps } = planeSizes(axes)
  const [height, across] = [elementChannels * taps, axes[1].count]
  const [group, size] = [plane % groups, count * across]
  const weights = w.subarray(group * windowChannels * height, (group + 1) * windowChannels * height)
  const right = columns.subarray(group * height * size, (group + 1) * height * size)
  const added = bias?.subarray(group * windowChannels, (group + 1) * windowChannels) ?? weights
  const to = out.subarray(plane * windowChannels * windows, (plane + 1) * windowChannels * windows)
  const target = sums?.subarray(0, windowChannels * size) ?? to
  if (!(yield* run(template, [weights, right, added, weights], target))) return false
  for (let c = 0; c < windowChannels && sums; c++)
    to.set(target.subarray(c * size, (c + 1) * size), c * windows + first * across)
  return true
}

/** @param most rows of windows of a part */
function partsOf(
  { groups, windowChannels, elementChannels, axes }: ConvPlan,
  { offsetGroups, border }: Params,
  most: number,
  hasMask: boolean,
  hasBias: boolean
): Part[] {
  const [rows, columns] = axes
  const { taps } = planeSizes(axes)
  const channels = (groups * elementChannels) / offsetGroups
  const k = elementChannels * taps
  const extras = { activation: undefined, bias: hasBias ? ({ operand: 'bias', kind: 'row' } as const) : undefined }
  const parts: Part[] = []
  for (let first = 0; first < rows.count; first += most) {
    const count = Math.min(most, rows.count - first)
    const n = count * columns.count
    const steps = { aRow: 4 * k, aElement: 4, bRow: 4 * n, bColumn: 4, batches: 1, loops: [] }
    // The arguments are those of DeformArguments in ../assembly/f32/deform.ts.
    const template: JobTemplate = {
      kernel: 'deform',
      blocks: offsetGroups * taps * count,
      blockBytes: columns.count * 4,
      tile: tileOfFlops(channels * columns.count * READ_FLOPS, offsetGroups * taps * count),
      work: groups * k * n * READ_FLOPS,
      inputs: staged(3),
      args: [
        ...[Number(hasMask), Number(border === 'shift'), channels, rows.size, columns.size, taps, columns.kernel],
        ...[rows.count, columns.count, first, count, rows.stride, columns.stride],
        ...[rows.dilation, columns.dilation, rows.begin, columns.begin]
      ]
    }
    const multiplied = productTemplate({ m: windowChannels, n, k, ...steps }, extras, false)
    parts.push({ first, count, columns: template, product: multiplied })
  }
  return parts
}
