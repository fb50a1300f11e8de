import { type AxisLayout, axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobSelection, type Selector, selectorFor, staged } from '../selector.ts'
import { aroundAxis } from './axes.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 17
/** Lines of a block where they lie side by side, as in ../assembly/f32/best.ts. */
const TOGETHER = 16
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4
/** Positions that fit into an int32. */
const MAX_SIZE = 0x7fffffff

interface Params {
  readonly axis: number
  readonly last: boolean
}

/** ArgMax and ArgMin of floats and integers of 8 bits and more. */
export const selectBest = (largest: boolean): Selector =>
  selectorFor<Params>(({ op, operands, parameters }) => {
    const { data } = operands
    if (data === undefined || product(data.dims) < MIN_ELEMENTS) return undefined
    const layout = axisLayout(data.dims, normalizeAxis(parameters.axis, data.dims.length))
    const template = layout.size > MAX_SIZE ? undefined : templateOf(data.type, layout, largest, parameters.last)
    return template && jobSelection(op, template, ['data'])
  })

/**
 * Hardmax of float32: the first of the highest elements of a line is 1, all others 0. A line with NaN, which ArgMax
 * takes for the highest, is left to the reference.
 */
export const selectHardmax = selectorFor<{ readonly axis: number; readonly flattens: boolean }>(
  ({ op, operands: { x }, parameters: { axis, flattens } }) => {
    if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
    const layout = aroundAxis(x.dims, axis, flattens)
    const template = layout.size > MAX_SIZE ? undefined : templateOf('float32', layout, true, false)
    return template && { kernel: hardmaxKernel(op, template, layout) }
  }
)

const hardmaxKernel = (op: Op, template: JobTemplate, { outer, size, inner }: AxisLayout): Kernel =>
  attemptKernel(op, function* ({ x }, out, { allocateIntegers, run }) {
    const elements = arrayOf(x!) as Float32Array
    const ones = arrayOf(out()) as Float32Array
    const positions = allocateIntegers(2 * outer * inner)
    if (!(yield* run(template, [elements], positions))) return false
    ones.fill(0)
    for (let line = 0; line < outer * inner; line++) {
      // The low halves of int64.
      const at = (Math.floor(line / inner) * size + positions[2 * line]) * inner + (line % inner)
      if (Number.isNaN(elements[at])) return false
      ones[at] = 1
    }
    return true
  })

/** Of types but float32: the number in ../assembly/wide/best.ts, and whether it is unsigned. */
const WIDE: Readonly<Partial<Record<DType, readonly [type: number, isUnsigned: boolean]>>> = {
  int32: [0, false],
  uint32: [0, true],
  int64: [1, false],
  uint64: [1, true],
  float64: [2, false]
}
const FLOAT64 = 2
/** Of narrow types: the number in ../assembly/wide/narrow-best.ts, bytes, and the highest bit of unsigned integers. */
const NARROW: Readonly<Partial<Record<DType, readonly [type: number, width: number, highest: number]>>> = {
  int8: [0, 1, 0],
  uint8: [0, 1, 0x80],
  int16: [1, 2, 0],
  uint16: [1, 2, 0x8000],
  float16: [2, 2, 0],
  bfloat16: [3, 2, 0]
}
/** Bytes of lines of a block there, where lines lie side by side: those of a cache line. */
const NARROW_BYTES = 64

/** The arguments are those of BestArguments in ../assembly/f32/best.ts or those of ../assembly/wide. */
function templateOf(type: DType, layout: AxisLayout, largest: boolean, last: boolean): JobTemplate | undefined {
  const { outer, size, inner } = layout
  const wide = WIDE[type]
  const narrow = NARROW[type]
  if (type !== 'float32' && !wide && !narrow) return undefined
  const together = Math.min(inner, narrow ? NARROW_BYTES / narrow[1] : TOGETHER)
  return {
    kernel: narrow ? 'narrowBest' : wide ? 'wideBest' : 'best',
    blocks: outer * Math.ceil(inner / together),
    blockBytes: together * 8,
    tile: Math.max(1, Math.floor(TILE / (size * together))),
    work: outer * size * inner * ELEMENT_WORK,
    inputs: staged(1),
    args: narrow
      ? [size, inner, together, narrow[0], narrow[2] ^ (largest ? 0 : -1), Number(last)]
      : wide
        ? [size, inner, together, wide[0], ...flipsOf(wide, largest), Number(last)]
        : [size, inner, largest ? 0 : SIGN, Number(last)]
  }
}

const SIGN = -0x80000000

/** The low and the high half of what is flipped in each element, after which the largest signed one is wanted. */
function flipsOf([type, isUnsigned]: readonly [type: number, isUnsigned: boolean], largest: boolean): number[] {
  if (type === FLOAT64) return [0, largest ? 0 : SIGN]
  const all = largest ? 0 : -1
  const high = isUnsigned ? all ^ SIGN : all
  return type === 0 ? [high, 0] : [all, high]
}
