import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, KernelContext, Op } from '../op-kit/define.ts'
import { withOutput } from '../op-kit/with-output.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { jobWatcher } from './job-watcher.ts'
import { type JobTemplate, runJob } from './jobs.ts'
import type { TensorOperands } from './selector.ts'
import { type Temporaries, temporaries } from './temporary.ts'

/** What a kernel works with: temporary arrays and jobs. */
export interface Work extends Temporaries {
  readonly threads: number
  /** {@link runJob} with as many threads as the call may use. */
  run(template: JobTemplate, inputs: readonly NumericArray[], to: NumericArray): Generator<void, boolean>
}

export function workFor({ threads }: Pick<KernelContext, 'threads'>): Work {
  // Not by a spread of the whole, for which V8 takes two microseconds.
  const { allocate, allocateDoubles, allocateIntegers, allocateBetween, free } = temporaries()
  const run: Work['run'] = (template, inputs, to) => runJob(template, inputs, to, threads)
  return { allocate, allocateDoubles, allocateIntegers, allocateBetween, free, threads, run }
}

/**
 * Computes a call by jobs and what lies between them.
 * @param out makes an output, 0 unless another is named, when it is first asked for
 * @returns false where the operator's own kernel has to compute the call: a job was not done, or does not serve it
 */
export type Attempt = (
  given: TensorOperands,
  out: (index?: number) => Tensor,
  work: Work,
  context: KernelContext
) => Paced<boolean>

/** A kernel that attempts a call. Where it gives up, the operator's own kernel begins anew. */
export const attemptKernel = (op: Op, attempt: Attempt): Kernel =>
  function* (operands, parameters, context) {
    const work = workFor(context)
    let first: Tensor | undefined
    let others: Tensor[] | undefined
    const out = (index = 0): Tensor =>
      index === 0 ? (first ??= context.rawOutput()) : ((others ??= [])[index] ??= context.rawOutput(index))
    try {
      if (yield* attempt(operands as TensorOperands, out, work, context)) return
    } finally {
      work.free()
    }
    jobWatcher()?.missed()
    const rest = op.run(operands, parameters, withMade(context, first, others))
    if (rest) yield* rest
  }

/** The context for the kernel that takes over, which makes none of the outputs anew. */
function withMade(context: KernelContext, first: Tensor | undefined, others: readonly Tensor[] = []): KernelContext {
  const made = first ? withOutput(context, first) : context
  return others.reduce((inner, tensor, index) => withOutput(inner, tensor, index), made)
}
