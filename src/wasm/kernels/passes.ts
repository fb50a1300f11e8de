import type { Kernel, Op, Selection } from '../../op-kit/define.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import { type JobTemplate, runAtOnce } from '../jobs.ts'
import { arrayOf } from '../selector.ts'

/** A job whose first input is the result of the one before it. */
export interface Pass {
  readonly template: JobTemplate
  /** Inputs after the first. */
  readonly tables: readonly NumericArray[]
  /** Float32 numbers of its result. */
  readonly count: number
}

/** Jobs of which each reads what the one before has made; false where one is not done. */
export function* inTurn(
  passes: readonly Pass[],
  x: NumericArray,
  out: NumericArray,
  { allocateBetween, threads, run }: Work
): Generator<void, boolean> {
  let from = x
  for (const [i, { template, tables, count }] of passes.entries()) {
    const to = i === passes.length - 1 ? out : allocateBetween(count)
    const inputs = [from, ...tables]
    if (!runAtOnce(template, inputs, to, threads) && !(yield* run(template, inputs, to))) return false
    from = to
  }
  return true
}

/**
 * Selects a kernel that computes output 0 by jobs one after the other, which types and dims decide.
 * @param name the operand that the first job reads
 */
export const passesSelection = (
  op: Op,
  name: string,
  passes: readonly Pass[]
): Selection & { readonly kernel: Kernel } => ({
  kernel: attemptKernel(op, (given, out, work) => inTurn(passes, arrayOf(given[name]!), arrayOf(out()), work)),
  looksAt: []
})
