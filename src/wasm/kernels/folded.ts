import type { Kernel, Op } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { arrayOf, type Selector } from '../selector.ts'
import { binaryTemplate } from './elementwise.ts'

/** Elements below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 7

/** An elementwise function of all operands in a list, as Max and Sum have it. */
interface Listed {
  readonly inputs: readonly Tensor[]
}

/**
 * Max, Min, Sum and Mean of two or more tensors of float32: one job after the other, each of which reads an operand and
 * what the job before has left in the result. Each rounds once, as the reference does.
 * @param isMean divides by the number of operands at the end
 */
export const selectFolded =
  (name: 'add' | 'maximum' | 'minimum', isMean = false): Selector =>
  ({ op, operands, dims }) => {
    const { inputs } = operands as unknown as Listed
    if (inputs.length < 2 || product(dims) < MIN_ELEMENTS || inputs.some(({ type }) => type !== 'float32'))
      return undefined
    const count = new Tensor('float32', Float32Array.of(inputs.length), [])
    const templates = inputs.slice(1).map(({ dims: own }, i) => {
      return binaryTemplate(name, i === 0 ? inputs[0].dims : dims, own, dims)
    })
    if (isMean) templates.push(binaryTemplate('divide', dims, [], dims))
    if (templates.includes(undefined)) return undefined
    return { kernel: foldedKernel(op, templates as JobTemplate[], isMean ? [count] : []) }
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
