import type { Call } from '../bind/call.ts'
import { byOperand } from '../bind/operands.ts'
import { parametersOf } from '../infer/parameters.ts'
import type { Kernel, Parameters } from '../op-kit/define.ts'
import { type Fact, factOf, type TensorFact } from '../shapes/fact.ts'
import { areSameDims, type Tensor } from '../tensor/tensor.ts'
import { Unrepeatable } from './recorded-call.ts'

/**
 * Whether a call may be recorded although elements decide what it does: a Slice whose bounds move with the iteration
 * takes little time, and its dims often stay the same.
 */
export const mayReread = ({ op }: Call): boolean => op.name === 'Slice'

/**
 * A kernel that reads its parameters anew each time, from inputs that stay where they are.
 * @param dims of its output, which is refused where other ones come out
 */
export function rereading(
  call: Call,
  inputs: readonly (Tensor | undefined)[],
  dims: readonly number[],
  overrides: Parameters
): Kernel {
  const facts = inputs.map((tensor): Fact | undefined => tensor && factOf(tensor))
  const operandFacts = byOperand(call, facts)
  return (operands, _, context) => {
    const parameters = parametersOf(call, facts, { overrides })
    const [{ shape }] = call.op.shape(operandFacts, parameters, call) as readonly TensorFact[]
    if (!areSameDims(shape as readonly number[], dims)) throw new Unrepeatable()
    return call.op.run(operands, parameters, context)
  }
}
