import { fail } from '../../errors.ts'
import { doubles, readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  epsilon: number
}

/** Where the square root of a product is kept from 0, as the models have it that the operator was made for. */
const MIN_PRODUCT = 1e-6

/** Rules of {@link engramGate}. */
export const engramGateRules = defineRules({
  name: 'EngramGate',
  operands: {
    key: 'tensor',
    query: 'tensor',
    value: 'tensor',
    keyScale: 'tensor',
    queryScale: 'tensor',
    outScale: 'optional'
  },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { epsilon: float('epsilon') } }],

  shape({ key, query, value, keyScale, queryScale, outScale }, _, { outputCount }) {
    if (outScale === undefined && outputCount > 1)
      fail('missing-input', 'gated_value_normed needs conv_norm_scale, which is left out')
    const any = [unknownDim(), unknownDim(), unknownDim(), unknownDim()]
    const shape = meetShape('query', query, meetShape('key', key, any))
    const [batch, tokens, branches, size] = shape
    meetShape('value', value, [batch, tokens, size])
    for (const [name, scale] of Object.entries({
      key_norm_scale: keyScale,
      query_norm_scale: queryScale,
      conv_norm_scale: outScale
    }))
      meetShape(name, scale, [branches, size])
    return [tensorFact(key.type, shape), tensorFact(key.type, shape)].slice(0, outputCount)
  }
})

/**
 * A value that the branches of a token share, times a gate for each branch: the sigmoid of the root, with its sign, of
 * the product of key and query, both normalized by root mean square, over the root of their size. Results: the gated
 * values, and those normalized. com.microsoft EngramGate-1.
 */
export const engramGate = /* @__PURE__ */ withKernel(engramGateRules, {
  *run({ key, query, value, keyScale, queryScale, outScale }, { epsilon }, call) {
    const [, , branches, size] = key.dims
    const [keys, queries, values] = [yield* readNumbers(key), yield* readNumbers(query), yield* readNumbers(value)]
    const [keyFactors, queryFactors] = [yield* readNumbers(keyScale), yield* readNumbers(queryScale)]
    const outFactors = outScale && (yield* readNumbers(outScale))
    const gated = targetOf(call.rawOutput())
    const normed = call.wanted(1) ? targetOf(call.rawOutput(1)) : undefined
    const row = doubles(size)
    const pace = new Pace()
    for (let at = 0, group = 0; at < keys.length; at += size, group++) {
      const own = (group % branches) * size
      let product = 0
      for (let i = 0; i < size; i++)
        product += keys[at + i] * keyFactors[own + i] * queries[at + i] * queryFactors[own + i]
      product *= (scaleOf(keys, at, size, epsilon) * scaleOf(queries, at, size, epsilon)) / Math.sqrt(size)
      const gate = 1 / (1 + Math.exp(-Math.sign(product) * Math.sqrt(Math.max(Math.abs(product), MIN_PRODUCT))))
      const shared = Math.floor(group / branches) * size
      for (let i = 0; i < size; i++) gated.numbers[at + i] = row[i] = gate * values[shared + i]
      if (normed && outFactors) {
        const scale = scaleOf(row, 0, size, epsilon)
        for (let i = 0; i < size; i++) normed.numbers[at + i] = row[i] * scale * outFactors[own + i]
      }
      if (pace.isDue(5 * size * COST.element)) yield
    }
    yield* gated.finish()
    if (normed) yield* normed.finish()
  }
})

/** What normalizes `size` numbers by their root mean square. */
function scaleOf(x: Numbers, at: number, size: number, epsilon: number): number {
  let sum = 0
  for (let i = at; i < at + size; i++) sum += x[i] ** 2
  return 1 / Math.sqrt(sum / size + epsilon)
}
