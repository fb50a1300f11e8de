import { product } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, type Selector, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 14
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 32

/** Numbers of the functions in ../assembly/f32/sine.ts. */
const KINDS = { sine: 0, cosine: 1, tangent: 2 } as const

/** Sin, Cos and Tan of float32. The kernel stops at magnitudes of which float32 holds no angle. */
export const selectSine =
  (name: keyof typeof KINDS): Selector =>
  ({ op, operands: { x } }) => {
    if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
    // The arguments are those of SineArguments in ../assembly/f32/sine.ts.
    const template = {
      kernel: 'sine',
      blocks: product(x.dims),
      blockBytes: 4,
      tile: TILE,
      work: product(x.dims) * ELEMENT_WORK,
      inputs: staged(1),
      outputStaging: 'whole',
      args: [KINDS[name]]
    } as const
    return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(given.x!)] })) }
  }
