import type { Broadcast } from '../../op-kit/broadcast.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { isInteger, type NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, selectorFor } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { conversionTemplate } from './convert.ts'
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
const SIGNED: readonly string[] = ['int8', 'int16', 'int32', 'int64']

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
  if (!EXPONENT_TYPES.includes(exponent.type)) return undefined
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  const power = binaryTemplate('power', base.dims, isOne ? [] : exponent.dims, dims, POWER)
  if (!isOne && exponent.type !== 'float32') return ofWholeExponents(op, base, exponent, power)
  const kernel = jobKernel(op, given => {
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    if (!isOne) return power && { template: power, inputs: [x, exponents] }
    const degree = Number(exponents[0])
    const fn = FUNCTIONS.get(degree)
    if (fn) return { template: unaryTemplate(product(dims), fn, 2), inputs: [x] }
    // What float32 does not hold is left to the reference.
    const isHeld = exponent.type === 'float32' || Math.fround(degree) === degree
    return power && isHeld ? { template: power, inputs: [x, Float32Array.of(degree)] } : undefined
  })
  return { kernel, looksAt: isOne ? ['exponent'] : [] }
})

/** Pow of float64: of one exponent, which is read in every run, 2 gives squares. */
export const selectWidePow = selectorFor<Params>(({ op, operands: { base, exponent }, parameters, dims }) => {
  if (parameters.broadcast.mode === 'aligned') return undefined
  if (base?.type !== 'float64' || !exponent || !EXPONENT_TYPES.includes(exponent.type)) return undefined
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  const square = isOne ? arithmeticTemplate('square', 'float64', dims, dims, dims) : undefined
  const power = arithmeticTemplate('power', 'float64', base.dims, isOne ? [] : exponent.dims, dims)
  if (power === undefined) return undefined
  if (!isOne && exponent.type !== 'float64') return ofWholeExponents(op, base, exponent, power)
  const kernel = jobKernel(op, given => {
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    if (square && Number(exponents[0]) === 2) return { template: square, inputs: [x, x] }
    return { template: power, inputs: [x, isOne ? Float64Array.of(Number(exponents[0])) : exponents] }
  })
  return { kernel, looksAt: isOne ? ['exponent'] : [] }
})

/** Integers up to which float32 holds all. */
const MAX_WHOLE = 2 ** 24

/** Powers of floats with as many integers as exponents, which become floats first. */
function ofWholeExponents(
  op: Op,
  base: Tensor,
  exponent: Tensor,
  power: JobTemplate | undefined
): Selection | undefined {
  if (power === undefined || (exponent.type !== 'int32' && exponent.type !== 'int64')) return undefined
  const isWide = base.type === 'float64'
  const count = product(exponent.dims)
  const convert = conversionTemplate(exponent.type, isWide ? 'float64' : 'float32', count)
  const kernel = attemptKernel(op, function* (given, out, { allocate, allocateDoubles, run }) {
    const exponents = arrayOf(given.exponent!)
    if (!areUpTo(isWide ? 2 ** 31 : MAX_WHOLE, exponents)) return false
    const numbers = isWide ? allocateDoubles(count) : allocate(count)
    return (
      (yield* run(convert, [exponents], numbers)) &&
      (yield* run(power, [arrayOf(given.base!), numbers], arrayOf(out())))
    )
  })
  return { kernel }
}

/** Whether the magnitudes of integers of 32 or 64 bits are at most `limit`, which is no more than 2^31. */
function areUpTo(limit: number, { buffer, byteOffset, byteLength, length }: NumericArray): boolean {
  const words = new Int32Array(buffer as ArrayBuffer, byteOffset, byteLength / 4)
  const step = words.length / length
  for (let i = 0; i < words.length; i += step) {
    const low = words[i]
    if (low > limit || low < -limit || words[i + step - 1] !== (step === 1 ? low : low >> 31)) return false
  }
  return true
}

/**
 * Pow of integers: squares and cubes by one exponent, which is read in every run, are products; others are computed
 * where both are of one signed type, or where one exponent has another. The reference names a zero with a negative
 * exponent.
 */
export const selectIntegerPow = selectorFor<Params>(({ op, operands, parameters, dims }) => {
  const { base, exponent } = operands
  if (parameters.broadcast.mode === 'aligned' || base === undefined || exponent === undefined) return undefined
  if (!isInteger(base.type) || !isInteger(exponent.type)) return undefined
  const isOne = product(exponent.dims) === 1 && product(dims) === product(base.dims)
  const multiply = isOne ? arithmeticTemplate('multiply', base.type, dims, dims, dims) : undefined
  const isSame = base.type === exponent.type
  const holds = isOne && (base.type === 'int32' || base.type === 'int64') && SIGNED.includes(exponent.type)
  const power =
    isSame || holds ? arithmeticTemplate('power', base.type, base.dims, isOne ? [] : exponent.dims, dims) : undefined
  if (multiply === undefined && power === undefined) return undefined
  const kernel = attemptKernel(op, function* (given, out, { run }) {
    const y = arrayOf(out())
    const [x, exponents] = [arrayOf(given.base!), arrayOf(given.exponent!)]
    const degree = multiply ? Number(exponents[0]) : 0
    if (multiply && (degree === 2 || degree === 3))
      return (yield* run(multiply, [x, x], y)) && (degree === 2 || (yield* run(multiply, [y, x], y)))
    if (power === undefined) return false
    if (isSame) return yield* run(power, [x, exponents], y)
    // Low bits of a power are the same, whichever type holds its exponent.
    if (Math.abs(degree) >= 2 ** 31) return false
    const one = base.type === 'int32' ? Int32Array.of(degree) : BigInt64Array.of(BigInt(degree))
    return yield* run(power, [x, one], y)
  })
  return { kernel, looksAt: isOne ? ['exponent'] : [] }
})
