import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import { floatBits, jobSelection, selectorFor, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Neighbours from which on the reference, which sums them in constant time, is as fast. */
const MAX_SIZE = 64
/** Work of an element beside that of its neighbours, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 32
/** Bytes of a tile. */
const TILE_BYTES = 1 << 16

interface Params {
  readonly axes: readonly number[]
  readonly alpha: number
  readonly beta: number
  readonly bias: number
  readonly size: number
  readonly region: number
}

/** LRN of float32 along one axis, with the powers 1/2 and 3/4. */
export const selectResponse = selectorFor<Params>(({ op, operands: { x }, parameters }) => {
  const { axes, alpha, beta, bias, size, region } = parameters
  if (x?.type !== 'float32' || axes.length !== 1 || (beta !== 0.75 && beta !== 0.5) || region > MAX_SIZE)
    return undefined
  const elements = product(x.dims)
  if (elements < MIN_ELEMENTS) return undefined
  const { outer, size: count, inner } = axisLayout(x.dims, normalizeAxis(axes[0], x.dims.length))
  const before = Math.floor((region - 1) / 2)
  // The arguments are those of ResponseArguments in ../assembly/f32/response.ts.
  const template = {
    kernel: 'response',
    blocks: outer * count,
    blockBytes: inner * 4,
    tile: Math.max(1, Math.floor(TILE_BYTES / (inner * 4))),
    work: elements * (ELEMENT_WORK + 2 * region),
    inputs: staged(1),
    args: [count, inner, before, region - 1 - before, floatBits(alpha / size), floatBits(bias), Number(beta === 0.5)]
  } as const
  return jobSelection(op, template, ['x'])
})
