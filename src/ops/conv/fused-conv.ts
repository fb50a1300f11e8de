import { fail } from '../../errors.ts'
import { broadcastResult } from '../../op-kit/broadcast.ts'
import { addedPart, type EpiloguePart, fusedKernel, fusedRules } from '../../op-kit/fused.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, floats, type NodeFacts } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { fusedActivation } from '../elementwise/fused-activation.ts'
import { conv, convBind, convRules } from './conv.ts'

const activationOf = (node: NodeFacts): ReturnType<typeof fusedActivation> =>
  fusedActivation(node, (name, names) => {
    const given = node.get(floats('activation_params', [])) ?? []
    if (given.length !== names.length)
      fail('dims-mismatch', `activation_params has ${given.length} elements; ${name} takes ${names.join(' and ')}`)
    return given
  })

/** `residual`, input 3, is added before the activation. */
function epilogueOf(node: NodeFacts): readonly EpiloguePart[] {
  const { epilogue } = activationOf(node)
  return node.hasInput(3) ? [addedPart('residual'), ...epilogue] : epilogue
}

/** Rules of {@link fusedConv}. */
export const fusedConvRules = defineRules({
  ...fusedRules(convRules),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { ...convBind, epilogue: derive(epilogueOf), activation: derive(node => activationOf(node).activation) }
    }
  ],

  shape(facts, parameters, call) {
    const [made] = convRules.shape(facts, parameters, call) as [TensorFact]
    const residual = facts.residual as TensorFact | undefined
    const type = commonType({ X: made, Z: residual })
    return [tensorFact(type, broadcastResult(made.shape, residual?.shape, { mode: 'none' }))]
  }
})

/**
 * A convolution, a tensor of its result's dims that is added, and an activation, each of the last two where it is
 * given. FusedConv-1 of com.microsoft, as ONNX Runtime writes it when it optimizes a model.
 */
export const fusedConv = /* @__PURE__ */ withKernel(fusedConvRules, /* @__PURE__ */ fusedKernel(conv))
