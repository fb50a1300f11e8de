import type { Kernel, Op } from '../op-kit/define.ts'
import { withOutput } from '../op-kit/with-output.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { isOnHeap } from './heap.ts'
import { type JobTemplate, runJob, servesOutside } from './jobs.ts'
import { arrayOf, type Selector, type TensorOperands } from './selector.ts'
import { isStaged } from './staging.ts'

/**
 * A selector of jobs that may be impossible where operands lie.
 * @param names operands whose arrays are the inputs of the jobs, in their order
 * @param jobsOf the jobs that can compute a call with operands of these types and dims, best first; none where the
 *   reference kernel is faster
 */
export const byJobs =
  (names: readonly string[], jobsOf: (operands: never, parameters: never) => readonly JobTemplate[]): Selector =>
  ({ op, operands, parameters }) => {
    const jobs = jobsOf(operands as never, parameters as never)
    if (jobs.length === 0) return undefined
    const serving = jobs.filter(job => servesInputs(job, arraysOf(names, operands)))
    const kernel = serving.length > 0 ? gatherKernel(op, names, serving) : undefined
    const isByParts = ['parts', 'shared'].includes(serving.at(0)?.outputStaging ?? 'whole')
    const decisive = names.filter((_, i) => jobs.some(job => job.inputs[i].staging === 'never'))
    if (decisive.length === 0) return { kernel, isByParts }
    const lieOnHeap = decisive.map(name => isOnHeap(arrayOf(operands[name]!)))
    return {
      kernel,
      isByParts,
      holds: others => decisive.every((name, i) => isOnHeap(arrayOf(others[name] as Tensor)) === lieOnHeap[i])
    }
  }

/** Whether each input lies on the heap or may be staged. */
const servesInputs = ({ inputs }: JobTemplate, arrays: readonly NumericArray[]): boolean =>
  inputs.every((use, i) => use.staging !== 'never' || !isStaged(use, arrays[i]))

/**
 * A kernel that runs the first of `jobs` whose output may lie where it does: that is known only once it is made. The
 * reference kernel takes over where no job may run, where the heap is full, and where an element is at fault, which
 * the reference names in its error.
 */
function gatherKernel(op: Op, names: readonly string[], jobs: readonly JobTemplate[]): Kernel {
  return function* (operands, parameters, context) {
    const out = context.rawOutput()
    const outArray = arrayOf(out)
    const { threads } = context
    const template = isOnHeap(outArray) ? jobs[0] : jobs.find(job => servesOutside(job, outArray.byteLength, threads))
    if (template !== undefined) {
      const arrays = arraysOf(names, operands as TensorOperands)
      if (yield* runJob(template, arrays, outArray, threads)) return
    }
    const rest = op.run(operands, parameters, withOutput(context, out))
    if (rest) yield* rest
  }
}

const arraysOf = (names: readonly string[], operands: TensorOperands): NumericArray[] =>
  names.map(name => arrayOf(operands[name]!))
