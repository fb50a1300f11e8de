import type { BoundGraph, Call } from '../bind/call.ts'
import type { Body, Parameters } from '../op-kit/define.ts'
import { type Fact, tensorFact } from '../shapes/fact.ts'
import { limitRank } from '../shapes/lists.ts'
import { MAX_RANK } from '../tensor/tensor.ts'
import { prepareCall } from './prepare.ts'
import { outputValues } from './values.ts'

/** What {@link inferCall} takes for a call without bodies. */
export const noBody = (): never => {
  throw new Error('a call without bodies asks for one')
}

export interface InferOptions {
  /** Also check known values (indices in range). */
  readonly validate?: boolean
  /** Parameters set for every call that has them. */
  readonly overrides?: Parameters | undefined
}

/**
 * Facts of a call's outputs for facts of its inputs: its shape function, then values as far as they can be known.
 * @throws NodewiseError what the operator's shape function and validation throw
 */
export function inferCall(
  call: Call,
  inputs: readonly (Fact | undefined)[],
  body: (bound: BoundGraph) => Body,
  { validate, overrides }: InferOptions = {}
): readonly Fact[] {
  const { op } = call
  const { operands, parameters, outputs: facts } = prepareCall(call, inputs, { overrides, body })
  if (call.maxRank < MAX_RANK)
    for (const fact of facts) if (fact.kind === 'tensor') limitRank(fact.shape?.length ?? 0, call.maxRank)
  if (validate) op.validate?.(operands, parameters, call)
  const values = outputValues(call, inputs, { operands, parameters, outputs: facts })
  return values === undefined
    ? facts
    : facts.map((fact, i) => {
        const value = values[i]
        return value !== undefined && fact.kind === 'tensor' ? tensorFact(value.type, value.dims, value) : fact
      })
}
