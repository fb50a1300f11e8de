import type { Broadcast } from '../../op-kit/broadcast.ts'
import { toNumbers } from '../../tensor/elements.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { LINE, linesTemplate } from './code-jobs.ts'

interface Params {
  readonly levels: number
  readonly broadcast: Broadcast
}

const LIMITS = ['inputLow', 'inputHigh', 'outputLow', 'outputHigh']

/** FakeQuantize of float32 whose limits are those of all numbers, or lie along one axis before the last. */
export const selectFakeQuantize = selectorFor<Params>(({ op, operands, parameters: { levels, broadcast } }) => {
  const { x } = operands
  const limits = LIMITS.map(name => operands[name]!)
  const count = x?.type === 'float32' ? product(x.dims) : 0
  if (x === undefined || count === 0 || levels > 2 ** 20) return undefined
  if (broadcast.mode !== 'numpy' && !limits.every(({ dims }) => product(dims) === 1)) return undefined
  const axis = axisOf(x.dims, limits)
  if (axis === undefined) return undefined
  const [inner, channels] = axis < 0 ? [count, 1] : [product(x.dims, axis + 1), x.dims[axis]]
  if (inner === 1 && channels > 1) return undefined
  const template = linesTemplate('levels', count, LINE, 2, [LINE, count, inner, channels, levels])
  return {
    kernel: jobKernel(op, operands => {
      const lists = LIMITS.map(name => toNumbers(operands[name]!))
      const rows = Array.from({ length: channels }, (_, channel) =>
        rowOf(levels, ...lists.map(list => list[list.length === 1 ? 0 : channel]))
      )
      return { template, inputs: [arrayOf(operands.x!), Float64Array.from(rows.flat())] }
    }),
    looksAt: LIMITS
  }
})

/** What ../assembly/int8/levels.ts wants to know of a channel, by its limits in the order of {@link LIMITS}. */
function rowOf(levels: number, ...[low, high, outLow, outHigh]: readonly number[]): readonly number[] {
  const span = high - low
  const perLevel = (outHigh - outLow) / (levels - 1)
  return [low, span, (levels - 1) / span, perLevel, outLow, outHigh, Math.min(low, high), Math.max(low, high)]
}

/** The axis of `dims` along which limits lie; -1: there is one for all; undefined: they lie along several. */
function axisOf(dims: readonly number[], limits: readonly Tensor[]): number | undefined {
  const axes = new Set<number>()
  for (const limit of limits) {
    // Limits may have more axes than the data: ones of size 1.
    const before = dims.length - limit.dims.length
    limit.dims.forEach((dim, i) => dim !== 1 && axes.add(i + before))
  }
  if (axes.size > 1) return undefined
  const [axis = -1] = axes
  return axis
}
