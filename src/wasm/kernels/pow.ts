import type { Kernel } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { arrayOf, selectorFor, type TensorOperands } from '../selector.ts'
import { type UnaryCall, unaryTemplate } from './elementwise.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 11
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
  const kernel: Kernel = function* (given, parameters, context) {
    const tensors = given as TensorOperands
    const fn = FUNCTIONS.get(Number(tensors.exponent!.data[0]))
    if (fn === undefined) {
      const rest = op.run(given, parameters, context)
      if (rest) yield* rest
      return
    }
    const out = context.rawOutput()
    const inputs = [arrayOf(tensors.base!)]
    if ((yield* runJob(unaryTemplate(count, fn, 2), inputs, arrayOf(out), context.threads)) === 'done') return
    const rest = op.run(given, parameters, withOutput(context, out))
    if (rest) yield* rest
  }
  return { kernel }
})
