import type { Kernel, Op } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { arrayOf, type Selector } from '../selector.ts'
import { arithmeticTemplate } from './arithmetic.ts'
import { binaryTemplate } from './elementwise.ts'

/** Elements below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7

/** An elementwise function of all operands in a list, as Max and Sum have it. */
interface Listed {
  readonly inputs: readonly Tensor[]
}

/**
 * Max, Min, Sum and Mean of two or more tensors of numbers of four or eight bytes: one job after the other, each of
 * which reads an operand and what the job before has left in the result. Each rounds once, as the reference does.
 * @param isMean divides by the number of operands at the end: of float32 in the last job, else in one more
 */
export const selectFolded =
  (name: 'add' | 'maximum' | 'minimum', isMean = false): Selector =>
  ({ op, operands, dims }) => {
    const { inputs } = operands as unknown as Listed
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
    return { kernel: foldedKernel(op, templates as JobTemplate[], further) }
  }

/** @param further operands after those of the call */
const foldedKernel = (op: Op, templates: readonly JobTemplate[], further: readonly Tensor[]): Kernel =>
  function* (operands, parameters, context) {
    const out = context.rawOutput()
    const [first, ...rest] = [...(operands as unknown as Listed).inputs, ...further]
    let left = first
    for (const [i, template] of templates.entries()) {
      if ((yield* runJob(template, [left, rest[i]].map(arrayOf), arrayOf(out), context.threads)) !== 'done') {
        const reference = op.run(operands, parameters, withOutput(context, out))
        if (reference) yield* reference
        return
      }
      left = out
    }
  }
