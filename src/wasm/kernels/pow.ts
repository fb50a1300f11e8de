import type { Broadcast } from '../../op-kit/broadcast.ts'
import { isInteger } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { binaryTemplate, type UnaryCall, unaryTemplate } from './elementwise.ts'

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

interface Params {
  readonly broadcast: Broadcast
}

/** Cost of a power, in that of a sum. */
const POWER = 16

/** Pow of float32: of one exponent, which is read in every run, some are other functions. */
export const selectPow = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { base, exponent } = operands
  if (parameters.broadcast.mode === 'aligned') return undefined
  if (base?.type !== 'float32' || exponent === undefined || product(dims) < MIN_ELEMENTS) return undefined
  const isPower = exponent.type === 'float32'
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  if (!isPower && !(isOne && EXPONENT_TYPES.includes(exponent.type))) return undefined
  const power = isPower ? binaryTemplate('power', base.dims, exponent.dims, dims, POWER) : undefined
  const kernel = jobKernel(op, given => {
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    const fn = isOne ? FUNCTIONS.get(Number(exponents[0])) : undefined
    if (fn) return { template: unaryTemplate(product(dims), fn, 2), inputs: [x] }
    return power && { template: power, inputs: [x, exponents] }
  })
  return { kernel }
})

/** Pow of float64: of one exponent, which is read in every run, 2 gives squares. */
export const selectWidePow = selectorFor<Params>(({ op, operands: { base, exponent }, parameters, dims }) => {
  if (parameters.broadcast.mode === 'aligned') return undefined
  if (base?.type !== 'float64' || !exponent || !EXPONENT_TYPES.includes(exponent.type)) return undefined
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  if (!isOne && exponent.type !== 'float64') return undefined
  const square = isOne ? arithmeticTemplate('square', 'float64', dims, dims, dims) : undefined
  const power = arithmeticTemplate('power', 'float64', base.dims, isOne ? [] : exponent.dims, dims)
  if (power === undefined) return undefined
  const kernel = jobKernel(op, given => {
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    if (square && Number(exponents[0]) === 2) return { template: square, inputs: [x, x] }
    return { template: power, inputs: [x, isOne ? Float64Array.of(Number(exponents[0])) : exponents] }
  })
  return { kernel, looksAt: isOne ? ['exponent'] : [] }
})

/**
 * Pow of integers: squares and cubes by one exponent, which is read in every run, are products; others are computed
 * where both are of one signed type. The reference names a zero with a negative exponent.
 */
export const selectIntegerPow = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { base, exponent } = operands
  if (parameters.broadcast.mode === 'aligned' || base === undefined || exponent === undefined) return undefined
  if (!isInteger(base.type) || !isInteger(exponent.type)) return undefined
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  const multiply = isOne ? arithmeticTemplate('multiply', base.type, dims, dims, dims) : undefined
  const isSame = base.type === exponent.type
  const power = isSame ? arithmeticTemplate('power', base.type, base.dims, exponent.dims, dims) : undefined
  if (multiply === undefined && power === undefined) return undefined
  const kernel = attemptKernel(op, function* (given, out, { run }) {
    const y = arrayOf(out())
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    const degree = multiply ? Number(exponents[0]) : 0
    if (multiply && (degree === 2 || degree === 3))
      return (yield* run(multiply, [x, x], y)) && (degree === 2 || (yield* run(multiply, [y, x], y)))
    return power !== undefined && (yield* run(power, [x, exponents], y))
  })
  return { kernel }
})
