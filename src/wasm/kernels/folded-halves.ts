import { isHalf } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { floatBits, listOf, type Selector, staged } from '../selector.ts'
import { broadcastTemplate } from './broadcast-loops.ts'
import { foldedKernel } from './folded.ts'

/** Elements below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Elements of a tile. */
const TILE = 1 << 15
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 10
/** Numbers of the functions in ../assembly/f16/fold.ts. */
const KINDS = { add: 0, maximum: 1, minimum: 2 } as const

/**
 * Max, Min, Sum and Mean of two or more tensors of float16 or bfloat16: one job after the other. Sums of some operands
 * are float32, and are rounded once in the end.
 * @param isExact only what is the same as in double precision: float32 holds the sum of two floats of 16 bits, as far
 *   as the nearest one of 16 bits depends on it
 * @param isMean divides by the number of operands in the last job
 */
export const selectFoldedHalves =
  (name: keyof typeof KINDS, isExact: boolean, isMean = false): Selector =>
  ({ op, operands, dims }) => {
    const inputs = listOf(operands)
    const [{ type }] = inputs
    if (!isHalf(type) || inputs.length < 2 || product(dims) < MIN_ELEMENTS) return undefined
    if (inputs.some(other => other.type !== type)) return undefined
    // Sums of two bfloat16 may be infinite as float32.
    if (isExact && name === 'add' && (inputs.length > 2 || (isMean && type === 'bfloat16'))) return undefined
    const isBrain = type === 'bfloat16'
    const last = inputs.length - 1
    const templates = inputs.slice(1).map((right, i) => {
      const isLast = i + 1 === last
      const divisor = isMean && isLast ? inputs.length : 1
      // The highest of floats of 16 bits is one, too.
      const wide = { left: name === 'add' && i > 0, result: name === 'add' && !isLast }
      return foldTemplate(KINDS[name], isBrain, wide, divisor, [i === 0 ? inputs[0].dims : dims, right.dims], dims)
    })
    if (templates.includes(undefined)) return undefined
    const sums = name === 'add' && last > 1 ? product(dims) : 0
    return { kernel: foldedKernel(op, templates as JobTemplate[], [], sums) }
  }

/** The arguments are those of HalfFoldArguments in ../assembly/f16/fold.ts. */
function foldTemplate(
  kind: number,
  isBrain: boolean,
  wide: { readonly left: boolean; readonly result: boolean },
  divisor: number,
  [left, right]: readonly (readonly number[])[],
  dims: readonly number[]
): JobTemplate | undefined {
  const strided = [
    { dims: left, width: wide.left ? 4 : 2 },
    { dims: right, width: 2 }
  ]
  const cost = { width: wide.result ? 4 : 2, tile: TILE, work: ELEMENT_WORK }
  const flags = [isBrain, wide.left, wide.result].map(Number)
  const template = broadcastTemplate('foldHalves', strided, dims, cost, [kind, ...flags, floatBits(divisor)])
  return template && { ...template, inputs: staged(2), outputStaging: 'whole' }
}
