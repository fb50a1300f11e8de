import { product } from '../../tensor/tensor.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { type UnaryCall, unaryTemplate } from './elementwise.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7
/** Exponents whose powers are other functions, within the rounding of float32. */
const FUNCTIONS: ReadonlyMap<number, UnaryCall> = new Map([
  [2, ['square']],
  [3, ['cube']],
  [0.5, ['root']],
  [-1, ['reciprocal']]
])
/** Types of exponents whose elements are numbers as they are. */
const EXPONENT_TYPES: readonly string[] = ['float32', 'float64', 'int32', 'int64']

/** Pow of float32 with one exponent, which is read in every run. */
export const selectPow = selectorFor(({ op, operands, dims }) => {
  const { base, exponent } = operands
  if (base?.type !== 'float32' || exponent === undefined || !EXPONENT_TYPES.includes(exponent.type)) return undefined
  const count = product(base.dims)
  if (product(exponent.dims) !== 1 || product(dims) !== count || count < MIN_ELEMENTS) return undefined
  const kernel = jobKernel(op, given => {
    const fn = FUNCTIONS.get(Number(given.exponent!.data[0]))
    return fn && { template: unaryTemplate(count, fn, 2), inputs: [arrayOf(given.base!)] }
  })
  return { kernel }
})
