import { type Tensor, zero } from '../tensor/tensor.ts'
import type { KernelContext } from './define.ts'

/** The context of a call for a kernel that writes output 0 into a tensor that has been made already. */
export function withOutput(context: KernelContext, out: Tensor): KernelContext {
  return {
    dialect: context.dialect,
    version: context.version,
    outputCount: context.outputCount,
    state: context.state,
    threads: context.threads,
    packed: undefined,
    wanted: index => context.wanted(index),
    random: seed => context.random(seed),
    extend: (index, from, axis, rows, isApart) => context.extend?.(index, from, axis, rows, isApart),
    give: (index, value) => context.give(index, value),
    output: (index = 0, dims, type) => {
      if (index !== 0) return context.output(index, dims, type)
      zero(out)
      return out
    },
    rawOutput: (index = 0, dims, type) => (index === 0 ? out : context.rawOutput(index, dims, type))
  }
}
