import { cellsOf } from '../../kernels/pool/pool.ts'
import { quantizationOf } from '../../kernels/quantized/codes.ts'
import type { Kernel, Selection } from '../../op-kit/define.ts'
import { poolAxes, type PoolParams } from '../../op-kit/pool-shape.ts'
import { ALONE, type WindowAxis } from '../../shapes/window.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import {
  arrayOf,
  type Candidate,
  floatBits,
  jobKernel,
  jobSelection,
  selectorFor,
  staged,
  type TensorOperands
} from '../selector.ts'
import { SCRATCH_BYTES } from '../workspace.ts'
import { isByte, isSingle } from './byte-product.ts'
import { windowArguments } from './window-arguments.ts'

/** Elements in windows below which setting a job up costs more than it gains. */
const MIN_TAPS = 1 << 8
/** Most elements of a window, whose sum fits into int16. */
const MAX_TAPS = 128
/** Most elements of a mean over all, whose sum is exact in the definition. */
const MAX_COUNT = 1 << 20
/** Elements of input and output of a tile, which take some 0.1 ms. */
const TILE = 1 << 16
/** Work of an element of input or output, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8
/** Bytes before a padded plane, and columns by which the last vector of a line may be longer. */
const BEFORE = 32
const VECTOR = 16
/** A half less 2^-21 * 512, 2^-24 * 512 for a zero point that is added, and what covers errors of double precision. */
const LIMIT = 0.4995
/** Operands that arguments and factors follow from. */
const QUANTIZATION = ['xScale', 'xZero', 'resultScale', 'resultZero']
/** Quotients of scales above which float32 could overflow. */
const MAX_FACTOR = 2 ** 40

/** The highest of each window of bytes. */
export function byteMaxPool(
  { op, operands: { x }, dims }: Candidate<unknown>,
  spatial: readonly WindowAxis[]
): (Selection & { readonly kernel: Kernel }) | undefined {
  const planes = planesOf(x!, dims, spatial)
  if (planes === undefined) return undefined
  const template: JobTemplate = {
    ...planes.job,
    kernel: 'byteMaxPool',
    inputs: staged(1),
    args: planes.windows
  }
  return jobSelection(op, template, ['x'])
}

interface AverageParams extends PoolParams {
  readonly withPadding: boolean
  readonly channelsLast: boolean
  /** Whether the zero point is added before the mean is rounded. */
  readonly evenCodes: boolean
}

/** QLinearAveragePool over one or two axes. */
export const selectQLinearAveragePool = selectorFor<AverageParams>(({ op, operands, parameters, dims }) => {
  const { x } = operands
  if (!x || !isQuantized(operands) || parameters.channelsLast) return undefined
  const spatial = poolAxes(x.dims, dims, parameters)
  const planes = planesOf(x, dims, spatial)
  if (planes === undefined || product(spatial.map(({ kernel }) => kernel)) > MAX_TAPS) return undefined
  const [h, w] = planes.axes.map(axis => cellsOf(axis, parameters.withPadding))
  if (h.includes(0) || w.includes(0)) return undefined
  // Then all quotients of sums are exact, and whole halves are common: ties to even are those of float32.
  const isHalving = [...h, ...w].every(isPowerOfTwo)
  const isExact = ([scale, yScale]: Float64Array): boolean => isHalving && isPowerOfTwo(scale / yScale)
  const counts = Float32Array.from([...h, ...w, ...new Array<number>(VECTOR).fill(1)])
  return {
    kernel: jobKernel(op, given => {
      const found = quantizationsOf(given)
      if (found === undefined || Math.abs(found.scales[0] / found.scales[1]) > MAX_FACTOR) return undefined
      // The arguments are those of ByteMeanPoolArguments in ../assembly/int8/pool.ts.
      const template: JobTemplate = {
        ...planes.job,
        kernel: 'byteMeanPool',
        inputs: staged(3),
        args: [
          found.zero,
          ...(parameters.evenCodes ? [found.yZero, 0] : [0, found.yZero]),
          floatBits(isExact(found.scales) ? 1 : LIMIT),
          ...planes.windows
        ]
      }
      return { template, inputs: [arrayOf(given.x!), counts, found.scales] }
    }),
    looksAt: QUANTIZATION
  }
})

const isPowerOfTwo = (x: number): boolean => Number.isInteger(Math.log2(x)) && 2 ** Math.log2(x) === x

/** The arguments are those of PlaneWindows in ../assembly/int8/pool.ts. */
function planesOf(
  x: Tensor,
  dims: readonly number[],
  spatial: readonly WindowAxis[]
):
  | {
      readonly axes: readonly WindowAxis[]
      readonly windows: readonly number[]
      readonly job: Pick<JobTemplate, 'blocks' | 'blockBytes' | 'tile' | 'work'>
    }
  | undefined {
  if (spatial.length > 2 || product(dims) * product(spatial.map(({ kernel }) => kernel)) < MIN_TAPS) return undefined
  const axes = spatial.length === 2 ? spatial : [ALONE, ...spatial]
  const [h, w] = axes
  const lines = (h.count - 1) * h.stride + (h.kernel - 1) * h.dilation + 1
  const line = (w.count + Math.floor(((w.kernel - 1) * w.dilation) / w.stride) + 32) * w.stride
  if (h.begin < 0 || w.begin < 0 || BEFORE + lines * line > SCRATCH_BYTES) return undefined
  const planes = product(dims, 0, 2)
  const touched = h.size * w.size + h.count * w.count
  return {
    axes,
    windows: [Number(x.type === 'int8'), ...windowArguments(axes)],
    job: {
      blocks: planes,
      blockBytes: h.count * w.count,
      tile: Math.max(1, Math.floor(TILE / touched)),
      work: planes * touched * ELEMENT_WORK
    }
  }
}

/** QLinearGlobalAveragePool, in either layout. */
export const selectQLinearGlobalPool = selectorFor<{ readonly channelsLast: boolean }>(
  ({ op, operands, parameters: { channelsLast } }) => {
    const { x } = operands
    if (!x || !isQuantized(operands)) return undefined
    const [inner, outer] = channelsLast ? [x.dims.at(-1)!, x.dims[0]] : [1, product(x.dims, 0, 2)]
    const elements = product(x.dims)
    const count = elements / inner / outer
    if (elements < MIN_TAPS || !(count <= MAX_COUNT)) return undefined
    return {
      kernel: jobKernel(op, given => {
        const found = quantizationsOf(given)
        // The arguments are those of ByteMeanArguments in ../assembly/int8/mean.ts.
        const template = found && {
          kernel: 'byteMean' as const,
          blocks: outer,
          blockBytes: inner,
          tile: Math.max(1, Math.floor(TILE / (count * inner))),
          work: elements * ELEMENT_WORK,
          inputs: staged(2),
          args: [Number(x.type === 'int8'), found.zero, found.yZero, count, inner]
        }
        return template && { template, inputs: [arrayOf(given.x!), found.scales] }
      }),
      looksAt: QUANTIZATION
    }
  }
)

/** Whether the codes of operand and result are bytes of one type, with one quantization for all. */
export function isQuantized({ x, xScale, xZero, resultScale, resultZero }: TensorOperands): boolean {
  return (
    isByte(x?.type) &&
    [xZero, resultZero].every(zero => zero === undefined || zero.type === x!.type) &&
    [xScale, resultScale].every(scale => scale?.type === 'float32') &&
    [xScale, xZero, resultScale, resultZero].every(isSingle)
  )
}

/** Zero points, and both scales; undefined where one is no number to divide by. */
function quantizationsOf({ xScale, xZero, resultScale, resultZero }: TensorOperands) {
  const [from, to] = [quantizationOf(xScale!, xZero), quantizationOf(resultScale!, resultZero)]
  const areUsual = [from, to].every(({ scale }) => Number.isFinite(scale) && scale !== 0)
  return areUsual ? { zero: from.zero, yZero: to.zero, scales: Float64Array.of(from.scale, to.scale) } : undefined
}
