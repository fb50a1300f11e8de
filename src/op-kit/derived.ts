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

/** Makes operators of others by `make`, and gives the same operator each time that it is given the same one. */
export function oncePerOp(make: (base: Op) => Op): (base: Op) => Op {
  const made = new WeakMap<Op, Op>()
  return base => {
    const op = made.get(base) ?? make(base)
    made.set(base, op)
    return op
  }
}

/** An operator of the rules of `base` under another name, with another kernel. */
export const withOtherKernel = (
  base: Op,
  name: string,
  run: (operands: ValueOperands, parameters: Parameters, context: KernelContext) => Paced
): Op => defineOp({ ...base, name, run } as OpDefinition<Operands, unknown>)
