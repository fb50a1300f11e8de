import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { softplusOf } from '../../kernels/elementwise/activations.ts'
import { checkRankAtLeast, meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { tensorFact } from '../../shapes/fact.ts'

/** Rules of {@link linearAttentionGate}. */
export const linearAttentionGateRules = defineRules({
  name: 'LinearAttentionGate',
  operands: { a: 'tensor', bias: 'tensor', scale: 'tensor', b: 'optional' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ a, bias, scale, b }, _, { outputCount }) {
    checkRankAtLeast('a', a, 1)
    if (b === undefined && outputCount > 1) fail('missing-input', 'beta is computed from b, which is left out')
    const shape = a.shape && meetShape('b', b, a.shape)
    const heads = shape?.[shape.length - 1]
    if (heads !== undefined) {
      meetShape('dt_bias', bias, [heads])
      meetShape('decay_scale', scale, [heads])
    }
    return [tensorFact(a.type, shape), tensorFact(a.type, shape)].slice(0, outputCount)
  }
})

/**
 * What LinearAttention takes beside queries, keys and values: `decay = scale * softplus(a + bias)`, with a bias and a
 * scale for each head (the last axis), and `beta = sigmoid(b)`. com.microsoft LinearAttentionGate-1.
 */
export const linearAttentionGate = /* @__PURE__ */ withKernel(linearAttentionGateRules, {
  *run({ a, bias, scale, b }, _, call) {
    const [raw, biases, scales] = [yield* readNumbers(a), yield* readNumbers(bias), yield* readNumbers(scale)]
    const heads = biases.length
    const cost = COST.element + 2 * COST.transcendental
    if (call.wanted(0)) {
      const decay = targetOf(call.rawOutput())
      yield* inChunks(
        raw.length,
        (from, to) => {
          for (let i = from; i < to; i++) decay.numbers[i] = scales[i % heads] * softplusOf(raw[i] + biases[i % heads])
        },
        cost
      )
      yield* decay.finish()
    }
    if (b === undefined || !call.wanted(1)) return
    const rates = yield* readNumbers(b)
    const beta = targetOf(call.rawOutput(1))
    yield* inChunks(
      rates.length,
      (from, to) => {
        for (let i = from; i < to; i++) beta.numbers[i] = 1 / (1 + Math.exp(-rates[i]))
      },
      cost
    )
    yield* beta.finish()
  }
})
