import { fail } from '../../errors.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { mapFactOf, mapIn } from '../../op-kit/maps.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { exactInts, optional, texts } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Key } from '../../tensor/map.ts'
import type { KeyType } from '../../tensor/tensor.ts'

interface Params {
  strings: readonly string[] | undefined
  integers: readonly bigint[] | undefined
}

/** Rules of {@link dictVectorizer}. */
export const dictVectorizerRules = defineRules({
  name: 'DictVectorizer',
  operands: { x: 'any' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: { strings: optional(texts('string_vocabulary')), integers: optional(exactInts('int64_vocabulary')) }
    }
  ],

  shape({ x }, { strings, integers }) {
    const { keyType, valueType } = mapFactOf(x)
    const columns = keyType ? vocabularyOf(keyType, { strings, integers }).length : unknownDim()
    return [tensorFact(valueType, [1, columns])]
  }
})

/**
 * The values of a map as a row `[1, C]`, in the order of a vocabulary of its keys: 0, or the empty string, where the
 * map has no such key. As in ONNX Runtime the result has two dims (the text says one), the type of the keys picks the
 * vocabulary where there are two, a key that is twice in it gives its value twice, and keys that are not in it are
 * passed over (the text forbids them). ai.onnx.ml DictVectorizer-1.
 */
export const dictVectorizer = /* @__PURE__ */ withKernel(dictVectorizerRules, {
  *run({ x }, vocabularies, call) {
    const { keyType, entries } = mapIn(x)
    const vocabulary = vocabularyOf(keyType, vocabularies)
    const values = entries as ReadonlyMap<Key, string | number | bigint>
    const out = call.output().data
    yield* inChunks(
      out.length,
      (from, to) => {
        for (let i = from; i < to; i++) out[i] = values.get(vocabulary[i]) ?? out[i]
      },
      COST.lookup
    )
  }
})

function vocabularyOf(keyType: KeyType, { strings, integers }: Params): readonly Key[] {
  return (
    (keyType === 'string' ? strings : integers) ??
    fail('missing-attribute', `the map has keys of type ${keyType}; attribute "${keyType}_vocabulary" is missing`)
  )
}
