import type { Paced } from '../kernels/core/pace.ts'
import {
  defineOp,
  type KernelContext,
  type Op,
  type OpDefinition,
  type Operands,
  type Parameters,
  type ValueOperands
} from './define.ts'

/** An operator of the rules of `base` under another name, with another kernel. */
export const withOtherKernel = (
  base: Op,
  name: string,
  run: (operands: ValueOperands, parameters: Parameters, context: KernelContext) => Paced
): Op => defineOp({ ...base, name, run } as OpDefinition<Operands, unknown>)
