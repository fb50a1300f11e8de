import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, KernelContext, Pack, Parameters, ValueOperands } from '../op-kit/define.ts'
import { withOutput } from '../op-kit/with-output.ts'
import { product, Tensor } from '../tensor/tensor.ts'
import { temporaries } from './temporary.ts'

/** A kernel of packed weights, which packs those that are no constant, or have no room in the session, in each run. */
export const packingKernel =
  (run: Kernel, pack: Pack): Kernel =>
  (operands, params, context) =>
    context.packed?.w ? run(operands, params, context) : runPacking(run, pack, operands, params, context)

/** Packs weights for this run of a kernel alone. */
function* runPacking(
  run: Kernel,
  pack: Pack,
  operands: ValueOperands,
  params: Parameters,
  context: KernelContext
): Paced {
  const { allocate, free } = temporaries()
  try {
    const made = pack({ w: operands.w as Tensor }, params, {
      threads: context.threads,
      allocate: (_type, dims) => new Tensor('float32', allocate(product(dims)), dims)
    })
    const packed = made && Symbol.iterator in made ? yield* made : made
    const rest = run(operands, params, { ...withOutput(context, context.rawOutput()), packed })
    if (rest) yield* rest
  } finally {
    free()
  }
}
