import { product } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, type Selector, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 14
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 64
/** Numbers of the functions in ../assembly/f32/transcendental.ts. */
const KINDS = { asin: 0, acos: 1, atan: 2, sinh: 3, cosh: 4, asinh: 5, acosh: 6, atanh: 7 } as const

/** Inverse trigonometric functions, hyperbolic ones and their inverses of float32. */
export const selectTranscendental =
  (name: keyof typeof KINDS): Selector =>
  ({ op, operands: { x } }) => {
    if (x?.type !== 'float32' || product(x.dims) < MIN_ELEMENTS) return undefined
    // The arguments are those of TranscendentalArguments in ../assembly/f32/transcendental.ts.
    const template = {
      kernel: 'transcendental',
      blocks: product(x.dims),
      blockBytes: 4,
      tile: TILE,
      work: product(x.dims) * ELEMENT_WORK,
      inputs: staged(1),
      outputStaging: 'whole',
      args: [KINDS[name]]
    } as const
    return { kernel: jobKernel(op, given => ({ template, inputs: [arrayOf(given.x!)] })), looksAt: [] }
  }
