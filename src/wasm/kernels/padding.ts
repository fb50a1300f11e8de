import type { Placement } from '../../kernels/image/resample.ts'
import type { Parameters, Selection } from '../../op-kit/define.ts'
import { convert } from '../../tensor/convert.ts'
import { product, stridesOf, Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, jobKernel, type Selector, selectorFor, staged, widthOf } from '../selector.ts'
import { MIN_TAKEN, resamplingOf, takenSelection } from './resample.ts'
import { isElementWidth } from './strided.ts'
import { MAX_LINE_BYTES, MAX_STAGED_LINE_BYTES } from './transpose.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17
/** Loops that fit into the arguments of a job. */
const MAX_LOOPS = 12

/** An axis of a padded tensor: of elements, those from `first` on are data, `count` of them. */
interface Padded {
  readonly size: number
  readonly first: number
  readonly count: number
  /** Elements from one to the next in the data. */
  readonly step: number
}

/** Pad of any type but strings: by elements of the data, or by one element. */
export const selectPad: Selector = selectorFor<Parameters>(call => {
  const { data } = call.operands
  if (data === undefined || data.type === 'string') return undefined
  const how = resamplingOf(call, MIN_TAKEN)
  return how?.kind === 'inside' ? paddingSelection(call, data, how) : takenSelection(call, data, how)
})

/** Pads by one element, but for long lines that the reference copies as fast. */
function paddingSelection(call: Candidate, data: Tensor, how: Placement): Selection | undefined {
  if (product(call.dims) < MIN_ELEMENTS) return undefined
  const width = widthOf(data)
  if (!isElementWidth(width)) return undefined
  const template = paddingTemplate(data.dims, call.dims, how, width)
  if (template === undefined || template.blockBytes > MAX_LINE_BYTES) return undefined
  const value = convert(new Tensor('float32', [how.value], []), data.type)
  const kernel = jobKernel(call.op, given => {
    const x = arrayOf(given.data!)
    const isServed = isOnHeap(x) || template.blockBytes <= MAX_STAGED_LINE_BYTES
    return isServed ? { template, inputs: [x, arrayOf(given.fill ?? value)] } : undefined
  })
  return { kernel, looksAt: [] }
}

/** The arguments are those of PaddingArguments in ../assembly/wide/padding.ts. */
function paddingTemplate(
  from: readonly number[],
  to: readonly number[],
  { begin }: Placement,
  width: number
): JobTemplate | undefined {
  const axes = joined(from, to, begin)
  const line = axes.pop()
  if (line === undefined || axes.length > MAX_LOOPS) return undefined
  const cropped = stridesOf(from).reduce((sum, step, i) => sum + Math.max(0, -begin[i]) * step, 0)
  const unit = line.step * width
  const [before, body] = [line.first * unit, line.count * unit]
  const lineBytes = line.size * unit
  const blocks = axes.reduce((count, { size }) => count * size, 1)
  return {
    kernel: 'padding',
    blocks,
    blockBytes: lineBytes,
    tile: Math.ceil(TILE_BYTES / lineBytes),
    work: blocks * lineBytes,
    inputs: staged(2),
    args: [
      width,
      cropped * width,
      before,
      body,
      lineBytes - before - body,
      axes.length,
      ...axes.reverse().flatMap(({ size, first, count, step }) => [size, first, count, step * width])
    ]
  }
}

/** The axes from the outermost to the last one that is padded; what comes behind it is its step. */
function joined(from: readonly number[], to: readonly number[], begin: readonly number[]): Padded[] {
  const steps = stridesOf(from)
  const axes: Padded[] = []
  to.forEach((size, i) => {
    const first = Math.max(0, begin[i])
    const count = Math.max(0, Math.min(size, begin[i] + from[i]) - first)
    const last = axes.at(-1)
    const isWhole = count === size && size === from[i]
    // An axis without padding goes on with the one before it.
    if (isWhole && last)
      axes[axes.length - 1] = {
        size: last.size * size,
        first: last.first * size,
        count: last.count * size,
        step: steps[i]
      }
    else axes.push({ size, first, count, step: steps[i] })
  })
  return axes
}
