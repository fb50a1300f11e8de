import type { Kernel, Op } from '../../op-kit/define.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { type JobTemplate, runAtOnce } from '../jobs.ts'
import { arrayOf, listOf, type Selector } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { binaryTemplate } from './elementwise.ts'

/** Elements below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7

/**
 * Max, Min, Sum and Mean of two or more tensors of numbers of four or eight bytes: one job after the other, each of
 * which reads an operand and what the job before has left in the result. Each rounds once, as the reference does.
 * @param isMean divides by the number of operands at the end: of float32 in the last job, else in one more
 */
export const selectFolded =
  (name: 'add' | 'maximum' | 'minimum', isMean = false): Selector =>
  ({ op, operands, dims }) => {
    const inputs = listOf(operands)
    const [{ type }] = inputs
    if (inputs.length < 2 || product(dims) < MIN_ELEMENTS || inputs.some(other => other.type !== type)) return undefined
    const isSingle = type === 'float32'
    const last = inputs.length - 1
    const templates = inputs.slice(1).map(({ dims: own }, i) => {
      const left = i === 0 ? inputs[0].dims : dims
      const then = isMean && i + 1 === last ? (['divided', inputs.length] as const) : undefined
      return isSingle ? binaryTemplate(name, left, own, dims, 1, then) : arithmeticTemplate(name, type, left, own, dims)
    })
    const isDivided = isMean && !isSingle
    if (isDivided) templates.push(arithmeticTemplate('divide', type, dims, [], dims))
    if (templates.includes(undefined)) return undefined
    const further = isDivided ? [new Tensor(type, [inputs.length], [])] : []
    return { kernel: foldedKernel(op, templates as JobTemplate[], further, 0) }
  }

/**
 * A kernel of jobs one after the other: each reads what the one before has made, and the next operand.
 * @param further operands after those of the call
 * @param sums numbers of float32 that lie between jobs; 0: what lies there is in the output
 */
export const foldedKernel = (
  op: Op,
  templates: readonly JobTemplate[],
  further: readonly Tensor[],
  sums: number
): Kernel =>
  attemptKernel(op, function* (given, out, { allocate, threads, run }) {
    const y = arrayOf(out())
    const [first, ...rest] = [...listOf(given), ...further].map(arrayOf)
    const between = sums > 0 ? allocate(sums) : y
    let left = first
    for (const [i, template] of templates.entries()) {
      const to = i + 1 === templates.length ? y : between
      const inputs = [left, rest[i]]
      if (!runAtOnce(template, inputs, to, threads) && !(yield* run(template, inputs, to))) return false
      left = to
    }
    return true
  })
