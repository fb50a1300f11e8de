import type { Paced } from '../../kernels/core/pace.ts'
import { cellCounter, emptyWindows, fillEmpty } from '../../kernels/pool/pool.ts'
import type { Kernel, Op, Selection } from '../../op-kit/define.ts'
import { poolAxes } from '../../op-kit/pool-shape.ts'
import { makingOnce, withOutput } from '../../op-kit/with-output.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { ALONE, type WindowAxis } from '../../shapes/window.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { workFor } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, jobSelection, selectorFor, staged, type TensorOperands } from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'
import { byteMaxPool } from './byte-pool.ts'
import { isByte } from './byte-product.ts'
import { conversionTemplate } from './convert.ts'
import { firstOutputOnly } from './first-output.ts'
import { type Pass, passesSelection } from './passes.ts'
import { selectGlobalPool } from './reduce.ts'
import { threeAxes, windowArguments } from './window-arguments.ts'

type PoolParams = Parameters<typeof poolAxes>[2]

/** Elements in windows below which setting a job up costs more than it gains. */
const MIN_TAPS = 1 << 8
/** Bytes of a padded band that stay in the cache. */
const BAND_BYTES = 1 << 17
/** Elements of input and output of a tile, which take some 0.1 ms. */
const TILE = 1 << 16
/** Work of an element of input or output, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

interface MaxPoolParams extends PoolParams {
  readonly axis: number
  readonly columnMajor: boolean
  readonly indexType: DType
}

/** MaxPool over up to three axes of float32, with indices in row-major order, and over one or two of bytes. */
export const selectMaxPool = selectorFor<MaxPoolParams>(call => {
  const { x } = call.operands
  const axes = x && poolAxes(x.dims, call.dims, call.parameters)
  const selection = axes && highestSelection(call, axes, x.type)
  if (!selection) return undefined
  const kernel = axes.some(hasEmpty) ? withEmpty(selection.kernel, axes) : selection.kernel
  // What windows without elements are is written beside the jobs, by loops.
  const looks = selection.looksAt && !axes.some(hasEmpty) ? { looksAt: selection.looksAt } : {}
  const template = highestTemplate(x.dims, axes, call.parameters)
  if (template === undefined) return { kernel: firstOutputOnly(call.op, kernel), ...looks }
  if (!isByte(x.type)) return { kernel: withIndices(call.op, kernel, template), ...looks }
  // float32 holds all bytes, so that the highest of them are found as numbers.
  const widen = [x.dims, call.dims].map(dims =>
    conversionTemplate(x.type as 'int8' | 'uint8', 'float32', product(dims))
  )
  return { kernel: withIndices(call.op, kernel, template, widen), ...looks }
})

function highestSelection(
  call: Candidate<MaxPoolParams>,
  axes: readonly WindowAxis[],
  type: DType
): ReturnType<typeof poolSelection> {
  if (isByte(type)) return byteMaxPool(call, axes)
  const whole = type === 'float32' && axes.every(isWhole) ? selectGlobalPool('max')(call) : undefined
  return whole?.kernel ? { ...whole, kernel: whole.kernel } : poolSelection(call, axes, undefined)
}

/**
 * A kernel that looks for the highest elements, where somebody asks for their indices, once another has found them.
 * @param widen jobs that make float32 of the elements, and of the highest; absent: they are float32
 */
const withIndices =
  (op: Op, kernel: Kernel, template: JobTemplate, widen?: readonly JobTemplate[]): Kernel =>
  (operands, parameters, context) => {
    if (!context.wanted(1)) return kernel(operands, parameters, context)
    return (function* (): Paced {
      const own = makingOnce(context)
      const out = own.rawOutput()
      const rest = kernel(operands, parameters, own)
      if (rest) yield* rest
      const found = [arrayOf((operands as TensorOperands).x!), arrayOf(out)]
      const target = arrayOf(own.rawOutput(1))
      const { allocate, free, run } = workFor(context)
      try {
        const inputs = widen ? found.map(({ length }) => allocate(length)) : found
        let isDone = true
        for (const [i, job] of (widen ?? []).entries()) isDone &&= yield* run(job, [found[i]], inputs[i])
        if (isDone && (yield* run(template, inputs, target))) return
      } finally {
        free()
      }
      const all = op.run(operands, parameters, own)
      if (all) yield* all
    })()
  }

/**
 * The arguments are those of HighestArguments in ../assembly/f32/highest.ts.
 * @returns undefined where indices count otherwise, and where a window has no elements
 */
function highestTemplate(
  dims: readonly number[],
  spatial: readonly WindowAxis[],
  { axis, columnMajor, indexType }: MaxPoolParams
): JobTemplate | undefined {
  const first = normalizeAxis(axis, dims.length)
  if (columnMajor || first > 2 || spatial.length > 3 || spatial.some(hasEmpty)) return undefined
  const axes = threeAxes(spatial)
  const windows = product(axes.map(({ count }) => count))
  const taps = product(axes.map(({ kernel }) => kernel))
  const width = indexType === 'int64' ? 8 : 4
  return {
    kernel: 'highest',
    blocks: product(dims, 0, 2),
    blockBytes: windows * width,
    tile: Math.max(1, Math.floor(TILE / (windows * taps))),
    work: product(dims, 0, 2) * windows * (taps + 4) * ELEMENT_WORK,
    inputs: staged(2),
    args: [...windowArguments(axes), Number(width === 8), product(dims, first, 2)]
  }
}

const hasEmpty = (axis: WindowAxis): boolean => emptyWindows(axis).length > 0

/** A kernel of IR whose windows without elements are what they are there. */
const withEmpty =
  (kernel: Kernel, axes: readonly WindowAxis[]): Kernel =>
  (operands, parameters, context) => {
    if (context.dialect !== 'openvino') return kernel(operands, parameters, context)
    return (function* (): Paced {
      const out = context.rawOutput()
      const rest = kernel(operands, parameters, withOutput(context, out))
      if (rest) yield* rest
      fillEmpty(out, axes)
    })()
  }

/** AveragePool of float32 over up to three axes. */
export const selectAveragePool = selectorFor<AverageParams>(call => {
  const { x } = call.operands
  const axes = x && poolAxes(x.dims, call.dims, call.parameters)
  if (axes?.every(isWhole)) return selectGlobalPool('mean')(call)
  return axes && poolSelection(call, axes, cellCounter(axes, call.parameters))
})

/** Whether the one window of an axis is all of it. */
const isWhole = ({ size, count, kernel, dilation, begin }: WindowAxis): boolean =>
  count === 1 && kernel === size && begin === 0 && (dilation === 1 || size === 1)

interface AverageParams extends PoolParams {
  readonly withPadding: boolean
  readonly emptyIsZero: boolean
}

type CountsOf = ((axis: WindowAxis) => readonly number[]) | undefined

/**
 * @param spatial the windows of each spatial axis
 * @param countsOf the divisors of the windows of an axis; undefined: the highest element is taken
 */
function poolSelection(
  { op, operands, dims }: Candidate<unknown>,
  spatial: readonly WindowAxis[],
  countsOf: CountsOf
): (Selection & { readonly kernel: Kernel }) | undefined {
  const taps = product(dims) * product(spatial.map(({ kernel }) => kernel))
  if (operands.x?.type !== 'float32' || spatial.length > 3 || taps < MIN_TAPS) return undefined
  const [h, w] = spatial.length === 1 ? [ALONE, ...spatial] : spatial.slice(-2)
  const planes = product(dims, 0, 2)
  // The depth first, of planes that are seen as one line, and then each plane of what comes out.
  const passes =
    spatial.length < 3
      ? [passOf([h, w], planes, countsOf)]
      : [
          passOf([spatial[0], isolated(h.size * w.size)], planes, countsOf),
          passOf([h, w], planes * spatial[0].count, countsOf)
        ]
  if (passes.includes(undefined)) return undefined
  const [{ template, tables }, ...others] = passes as Pass[]
  if (others.length > 0) return passesSelection(op, 'x', passes as Pass[])
  return jobSelection(op, template, ['x', ...tables])
}

/** An axis whose elements are not pooled. */
const isolated = (size: number): WindowAxis => ({ ...ALONE, size, count: size })

/** A pool over two axes as a job. */
function passOf(axes: readonly [WindowAxis, WindowAxis], planes: number, countsOf: CountsOf): Pass | undefined {
  const template = poolTemplate(axes, planes, countsOf === undefined)
  const tables = axes.map(axis => Float32Array.from(countsOf?.(axis) ?? []))
  return template && { template, tables, count: planes * axes[0].count * axes[1].count }
}

/**
 * The arguments are those of PoolArguments in ../assembly/f32/pool.ts.
 * @returns undefined where the lines of one window do not fit into scratch memory
 */
function poolTemplate([h, w]: readonly WindowAxis[], planes: number, isMax: boolean): JobTemplate | undefined {
  const windows = Math.ceil(w.count / 4) * 4
  const width = Math.ceil(((windows - 1) * w.stride + (w.kernel - 1) * w.dilation + 9) / 4) * 4
  const lines = Math.floor(BAND_BYTES / (width * 4)) - (h.kernel - 1) * h.dilation - 2
  const band = Math.max(1, Math.min(h.count, Math.floor(lines / h.stride) + 1))
  const height = (band - 1) * h.stride + (h.kernel - 1) * h.dilation + 2
  if (height * width * 4 > SCRATCH_BYTES) return undefined
  const bands = Math.ceil(h.count / band)
  const touched = planes * (h.size * w.size + h.count * w.count)
  return {
    kernel: 'pool',
    blocks: planes * bands,
    blockBytes: band * w.count * 4,
    tile: Math.max(1, Math.floor(TILE / (touched / planes / bands))),
    work: touched * ELEMENT_WORK,
    inputs: staged(3),
    args: [Number(isMax), ...windowArguments([h, w]), band]
  }
}
