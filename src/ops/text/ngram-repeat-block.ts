import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { reportIndex } from '../../kernels/gather/indices.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { int } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Tokens of an n-gram. */
  size: number
}

/** Rules of {@link ngramRepeatBlock}. */
export const ngramRepeatBlockRules = defineRules({
  name: 'NGramRepeatBlock',
  operands: { tokens: 'tensor', scores: 'tensor' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { size: int('ngram_size') } }],

  shape({ tokens, scores }, { size }) {
    if (size < 1) fail('unknown-attribute-value', `attribute "ngram_size" is ${size}; 1 or more is expected`)
    checkRank('input_ids', tokens, 2)
    checkRank('scores', scores, 2)
    const batch = sharedDim({ input_ids: [tokens, 0], scores: [scores, 0] })
    return [tensorFact(scores.type, scores.shape && [batch!, scores.shape[1]])]
  }
})

/**
 * Sets the scores of tokens that would repeat an n-gram of the tokens so far to minus infinity, so that they are not
 * generated. com.microsoft NGramRepeatBlock-1.
 */
export const ngramRepeatBlock = /* @__PURE__ */ withKernel(ngramRepeatBlockRules, {
  *run({ tokens, scores }, { size }, call) {
    const out = call.rawOutput()
    yield* convertPaced(scores, out)
    const ids = tokens.data as BigInt64Array
    const [batch, length] = tokens.dims
    const [, vocabulary] = scores.dims
    const pace = new Pace()
    for (let b = 0; b < batch && length > 0; b++) {
      const [start, end] = [b * length, (b + 1) * length]
      for (let at = start; at + size <= end; at++) {
        if (pace.isDue(COST.element + size * COST.multiplyAdd)) yield
        if (!isRepeated(ids, at, end - size + 1, size - 1)) continue
        const token = ids[at + size - 1]
        if (token < 0n || token >= vocabulary) reportIndex(`${token}`, [b, at + size - 1 - start], 1, vocabulary)
        out.data[b * vocabulary + Number(token)] = -Infinity
      }
    }
  }
})

/** Whether `count` tokens from `p` on are those from `q` on. */
function isRepeated(ids: BigInt64Array, p: number, q: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (ids[p + i] !== ids[q + i]) return false
  return true
}
