import type { AxisLayout } from '../../kernels/core/axis-layout.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { jobSelection, type Selector, selectorFor, staged } from '../selector.ts'
import { aroundAxis } from './axes.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 5
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 16
/** Elements of a tile, which take about 0.1 ms. */
const TILE = 1 << 16
/** Columns of a block where the axis is not the last, as in ../assembly/f32/softmax.ts. */
const COLUMNS = 16

/** Kernels by type, and bytes of an element. */
const KERNELS = { float32: ['softmax', 4], float64: ['wideSoftmax', 8] } as const
/** Work of an element of float64, in that of float32. */
const WIDE_WORK = 4

/** Softmax and LogSoftmax of float32 and float64. */
export const selectSoftmax = (isLog: boolean): Selector =>
  selectorFor<{ readonly axis: number; readonly flattens: boolean }>(({ op, operands, parameters }) => {
    const { x } = operands
    if ((x?.type !== 'float32' && x?.type !== 'float64') || product(x.dims) < MIN_ELEMENTS) return undefined
    const template = softmaxTemplate(aroundAxis(x.dims, parameters.axis, parameters.flattens), isLog, x.type)
    return jobSelection(op, template, ['x'])
  })

/** The arguments are those of SoftmaxArguments in ../assembly/f32/softmax.ts. */
export function softmaxTemplate(
  { outer, size, inner }: AxisLayout,
  isLog: boolean,
  type: keyof typeof KERNELS = 'float32'
): JobTemplate {
  const [kernel, width] = KERNELS[type]
  const perBlock = size * Math.min(inner, COLUMNS)
  return {
    kernel,
    blocks: outer * Math.ceil(inner / COLUMNS),
    blockBytes: perBlock * width,
    tile: Math.max(1, Math.floor(TILE / perBlock)),
    work: outer * size * inner * ELEMENT_WORK * (type === 'float64' ? WIDE_WORK : 1),
    inputs: staged(1),
    args: [size, inner, Number(isLog)]
  }
}

/** The logarithms of the sums of exponentials along an axis, of float64: one number for each line. */
export const logSumExpTemplate = (layout: AxisLayout): JobTemplate => {
  const template = softmaxTemplate(layout, true, 'float64')
  const { size, inner } = layout
  return { ...template, blockBytes: Math.min(inner, COLUMNS) * 8, args: [size, inner, 2] }
}
