import type { AxisLayout } from '../../kernels/core/axis-layout.ts'
import type { Selection } from '../../op-kit/define.ts'
import { normalizeAxes } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Candidate, floatBits, jobKernel, type Selector, selectorFor, staged } from '../selector.ts'
import { aroundAxes } from './axes.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 4
/** Elements of a tile, which take some 0.05 ms. */
const TILE = 1 << 17
/** Blocks that threads should find at least, where columns can be cut. */
const MIN_BLOCKS = 32
/** Columns of a cache line. */
const LINE = 16
/** Numbers of the reductions in ../assembly/f32/reduce.ts. */
const KINDS = { sum: 0, mean: 0, max: 1, min: 2, sumSquare: 3, l2: 3, l1: 4 } as const
type Kind = keyof typeof KINDS

interface Params {
  readonly axes: readonly number[]
  readonly noneIsAll: boolean
}

/** A reduction of float32 over axes that lie side by side. */
export const selectReduce = (kind: Kind): Selector =>
  selectorFor<Params>(call => {
    const { data } = call.operands
    if (data === undefined) return undefined
    const { axes, noneIsAll } = call.parameters
    const rank = data.dims.length
    return reduceSelection(call, 'data', kind, axes.length === 0 && noneIsAll ? axesFrom(0, rank) : axes)
  })

/** GlobalAveragePool and GlobalMaxPool of float32. */
export const selectGlobalPool =
  (kind: 'mean' | 'max'): Selector =>
  call => {
    const { x } = call.operands
    return x && reduceSelection(call, 'x', kind, axesFrom(2, x.dims.length))
  }

const axesFrom = (first: number, rank: number): number[] => Array.from({ length: rank - first }, (_, i) => first + i)

/** @param name operand that is reduced */
function reduceSelection(
  { op, operands }: Candidate<unknown>,
  name: string,
  kind: Kind,
  axes: readonly number[]
): Selection | undefined {
  const data = operands[name]
  if (data?.type !== 'float32' || product(data.dims) < MIN_ELEMENTS) return undefined
  const layout = aroundAxes(data.dims, normalizeAxes(axes, data.dims.length))
  if (layout === undefined || layout.size === 1) return undefined
  const template = reduceTemplate(layout, kind)
  return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(given[name]!)] })) }
}

/** The arguments are those of ReduceArguments in ../assembly/f32/reduce.ts. */
function reduceTemplate({ outer, size, inner }: AxisLayout, kind: Kind): JobTemplate {
  const panel = Math.min(inner, Math.ceil(inner / Math.ceil(MIN_BLOCKS / outer) / LINE) * LINE)
  return {
    kernel: 'reduce',
    blocks: outer * Math.ceil(inner / panel),
    blockBytes: panel * 4,
    tile: Math.max(1, Math.floor(TILE / (size * panel))),
    work: outer * size * inner * ELEMENT_WORK,
    inputs: staged(1),
    outputStaging: 'whole',
    args: [size, inner, panel, KINDS[kind], floatBits(kind === 'mean' ? size : 1), Number(kind === 'l2')]
  }
}
