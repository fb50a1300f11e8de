import { fail } from '../../errors.ts'
import { fusedKernel, type FusedParams, fusedRules } from '../../op-kit/fused.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, float, type NodeFacts } from '../../op-kit/sources.ts'
import type { TensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { fusedActivation } from '../elementwise/fused-activation.ts'
import { gemm, gemmBind, gemmRules } from './gemm.ts'

const activationOf = (node: NodeFacts): ReturnType<typeof fusedActivation> =>
  fusedActivation(node, (name, names) =>
    names.map(
      parameter =>
        node.get(float(`activation_${parameter}`)) ??
        fail('missing-attribute', `attribute "activation_${parameter}" of ${name} is missing`)
    )
  )

/** Rules of {@link fusedGemm}. */
export const fusedGemmRules = defineRules({
  ...fusedRules(gemmRules),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      in: { a: 0, b: 1, c: 2 },
      bind: {
        ...gemmBind,
        epilogue: derive(node => activationOf(node).epilogue),
        activation: derive(node => activationOf(node).activation)
      }
    }
  ],

  shape(facts, parameters, call) {
    const made = gemmRules.shape(facts, parameters, call)
    const [{ type }] = made as readonly TensorFact[]
    const { activation } = parameters as FusedParams
    const isRelu = activation === undefined || (activation !== 'other' && activation.name === 'clip')
    if (type !== undefined && !isFloat(type) && !isRelu)
      fail('type-not-allowed', `the activation is of floats; the product has type ${type}`)
    return made
  }
})

/**
 * `activation(alpha A B + beta C)`. Integers, for which ONNX Runtime has no kernel, may have no activation but Relu.
 * FusedGemm-1 of com.microsoft, as ONNX Runtime writes it when it optimizes a model.
 */
export const fusedGemm = /* @__PURE__ */ withKernel(fusedGemmRules, /* @__PURE__ */ fusedKernel(gemm))
