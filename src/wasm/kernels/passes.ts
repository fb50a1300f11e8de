import type { Paced } from '../../kernels/core/pace.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { type JobTemplate, runAtOnce, runJob } from '../jobs.ts'
import { arrayOf, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'

/** A job whose first input is the result of the one before it. */
export interface Pass {
  readonly template: JobTemplate
  /** Inputs after the first. */
  readonly tables: readonly NumericArray[]
  /** Float32 numbers of its result. */
  readonly count: number
}

/**
 * A kernel that computes output 0 by jobs one after the other. Where the heap is full the operator's own computes it.
 * @param name the operand that the first job reads
 */
export const passesKernel = (op: Op, name: string, passes: readonly Pass[]): Kernel =>
  function* (operands, parameters, context): Paced {
    const out = context.rawOutput()
    const { allocate, free } = temporaries()
    try {
      let from = arrayOf((operands as TensorOperands)[name]!)
      for (const [i, { template, tables, count }] of passes.entries()) {
        const to = i === passes.length - 1 ? arrayOf(out) : allocate(count)
        const inputs = [from, ...tables]
        const isDone =
          runAtOnce(template, inputs, to, context.threads) ||
          (yield* runJob(template, inputs, to, context.threads)) === 'done'
        if (!isDone) break
        from = to
      }
      if (from === arrayOf(out)) return
    } finally {
      free()
    }
    const rest = op.run(operands, parameters, withOutput(context, out))
    if (rest) yield* rest
  }
