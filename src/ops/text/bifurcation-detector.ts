import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { int } from '../../op-kit/sources.ts'
import { addDims, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { indexReader } from '../../tensor/elements.ts'

interface Params {
  least: number
  most: number
}

type Tokens = BigInt64Array

/**
 * A step of decoding that takes source tokens for guesses (com.microsoft BifurcationDetector-1). Predictions are for
 * the source tokens from the last match on and for the one after; those up to and with the first that differs join the
 * tokens. The second result is the position in the source behind the longest suffix of the tokens, of `min_ngram_size`
 * to `max_ngram_size`, before one that is not found; -1 where that occurs more than once, or the shortest does not.
 */
export const bifurcationDetector = defineOp({
  name: 'BifurcationDetector',
  operands: { source: 'tensor', current: 'tensor', match: 'tensor', predicted: 'optional' },
  params: params<Params>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { least: int('min_ngram_size'), most: int('max_ngram_size') } }],

  shape({ source, current, match, predicted }, { least, most }) {
    if (least < 1 || most < least)
      fail('unknown-attribute-value', `n-grams have ${least} to ${most} tokens; expected 1 or more, in order`)
    for (const [name, fact] of Object.entries({ src_tokens: source, cur_tokens: current, pred_tokens: predicted }))
      checkRank(name, fact, 1)
    const length = current.shape?.[0]
    const tokens = predicted && length !== undefined ? addDims(length, unknownDim(1)) : length
    return [tensorFact('int64', tokens === undefined ? undefined : [tokens]), tensorFact('int64', match.shape)]
  },

  *run({ source, current, match, predicted }, { least, most }, call) {
    const from = source.data as Tokens
    const joined = Array.from(current.data as Tokens)
    if (match.data.length !== 1)
      fail('dims-mismatch', `prev_suffix_match_idx has ${match.data.length} elements; one is expected`)
    if (predicted) {
      const start = indexReader(match)(0)
      const guesses = predicted.data as Tokens
      if (!(start >= 0 && start <= from.length))
        fail('value-out-of-range', `prev_suffix_match_idx is ${start}; expected 0..${from.length}`)
      if (guesses.length !== from.length - start + 1)
        fail('dims-mismatch', `there are ${guesses.length} predictions; ${from.length - start + 1} are expected`)
      let same = 0
      while (start + same < from.length && guesses[same] === from[start + same]) same++
      for (let i = 0; i <= same; i++) joined.push(guesses[i])
    }
    const tokens = call.output(0, [joined.length])
    const data = tokens.data as Tokens
    data.set(joined)
    const pace = new Pace()
    let found = -1
    for (let size = least; size <= Math.min(most, data.length); size++) {
      const suffix = data.subarray(data.length - size)
      const first = yield* positionOf(suffix, from, 0, pace)
      if (first < 0) break
      found = first + size
      if (found >= from.length) break
      if ((yield* positionOf(suffix, from, first + 1, pace)) >= 0) found = -1
    }
    const position = call.output(1)
    position.data[0] = BigInt(found)
  }
})

/** Where a list first occurs in another from `start` on; -1: nowhere. */
function* positionOf(list: Tokens, from: Tokens, start: number, pace: Pace): Generator<void, number> {
  for (let at = start; at + list.length <= from.length; at++) {
    let i = 0
    while (i < list.length && from[at + i] === list[i]) i++
    if (i === list.length) return at
    if (pace.isDue((i + 1) * COST.element)) yield
  }
  return -1
}
