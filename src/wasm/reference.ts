import type { KernelContext, Op, Parameters, ValueOperands } from '../op-kit/define.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { bytesOf, type NumericArray } from './staging.ts'

/** Runs an operator's own kernel into an output that has been made already. */
export const runReference = (
  op: Op,
  operands: ValueOperands,
  parameters: Parameters,
  context: KernelContext,
  out: Tensor
): ReturnType<Op['run']> => op.run(operands, parameters, withOutput(context, out))

/** The context of the same call for another kernel. */
function withOutput(context: KernelContext, out: Tensor): KernelContext {
  return {
    dialect: context.dialect,
    version: context.version,
    outputCount: context.outputCount,
    state: context.state,
    threads: context.threads,
    packed: undefined,
    wanted: index => context.wanted(index),
    random: seed => context.random(seed),
    give: (index, value) => context.give(index, value),
    output: () => {
      bytesOf(out.data as NumericArray).fill(0)
      return out
    },
    rawOutput: () => out
  }
}
