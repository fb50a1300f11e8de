import type { Kernel, Op } from '../../op-kit/define.ts'

/** A kernel that computes output 0 alone; where another output is wanted, too, the operator's own kernel runs. */
export const firstOutputOnly =
  (op: Op, kernel: Kernel): Kernel =>
  (operands, parameters, context) => {
    for (let i = 1; i < context.outputCount; i++) {
      if (context.wanted(i)) return op.run(operands, parameters, context)
    }
    return kernel(operands, parameters, context)
  }
