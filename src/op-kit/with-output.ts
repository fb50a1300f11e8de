import type { DType } from '../tensor/dtype.ts'
import { areSameDims, type Tensor, zero } from '../tensor/tensor.ts'
import type { KernelContext } from './define.ts'

/** The context of a call for a kernel that writes an output into a tensor that has been made already. */
export function withOutput(context: KernelContext, out: Tensor, at = 0): KernelContext {
  return withOutputs(
    context,
    (index = 0, dims, type) => {
      if (index !== at) return context.output(index, dims, type)
      zero(out)
      return out
    },
    (index = 0, dims, type) => (index === at ? out : context.rawOutput(index, dims, type))
  )
}

/**
 * The context of a call for kernels of which the next takes over where one gives up: each output is made once, so that
 * no array that nobody reads is counted until the run ends.
 */
export function makingOnce(context: KernelContext): KernelContext {
  const made: (Tensor | undefined)[] = []
  const known = (index: number, dims?: readonly number[], type?: DType): Tensor | undefined => {
    const tensor = made[index]
    if (tensor === undefined || (type ?? tensor.type) !== tensor.type) return undefined
    return dims === undefined || areSameDims(dims, tensor.dims) ? tensor : undefined
  }
  return withOutputs(
    context,
    (index = 0, dims, type) => {
      const tensor = known(index, dims, type)
      if (tensor) zero(tensor)
      return tensor ?? (made[index] = context.output(index, dims, type))
    },
    (index = 0, dims, type) => known(index, dims, type) ?? (made[index] = context.rawOutput(index, dims, type))
  )
}

function withOutputs(
  context: KernelContext,
  output: KernelContext['output'],
  rawOutput: KernelContext['rawOutput']
): KernelContext {
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
    output,
    rawOutput
  }
}
