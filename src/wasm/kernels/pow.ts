import type { Paced } from '../../kernels/core/pace.ts'
import type { Broadcast } from '../../op-kit/broadcast.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { isInteger } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { runAtOnce } from '../jobs.ts'
import { arrayOf, jobKernel, runHere, selectorFor, type TensorOperands } from '../selector.ts'
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

/** Pow of int32 and int64 by one exponent, which is read in every run: squares and cubes are products. */
export const selectIntegerPow = selectorFor(({ op, operands, dims }) => {
  const { base, exponent } = operands
  if (base === undefined || exponent === undefined || !isInteger(base.type) || !isInteger(exponent.type))
    return undefined
  if (product(exponent.dims) !== 1 || product(dims) !== product(base.dims)) return undefined
  const template = arithmeticTemplate('multiply', base.type, dims, dims, dims)
  if (template === undefined) return undefined
  return {
    *kernel(given, own, context): Paced {
      const out = context.rawOutput()
      const [x, y] = [arrayOf((given as TensorOperands).base!), arrayOf(out)]
      const degree = Number(arrayOf((given as TensorOperands).exponent!)[0])
      let isDone = degree === 2 || degree === 3
      for (let i = 1; i < degree && isDone; i++) {
        const inputs = [i === 1 ? x : y, x]
        isDone =
          runAtOnce(template, inputs, y, context.threads) || (yield* runHere(template, inputs, y, context.threads))
      }
      if (isDone) return
      const rest = op.run(given, own, withOutput(context, out))
      if (rest) yield* rest
    }
  }
})
