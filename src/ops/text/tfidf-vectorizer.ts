import { fail } from '../../errors.ts'
import { oncePer } from '../../kernels/core/once.ts'
import { Pace } from '../../kernels/core/pace.ts'
import { countGrams, type Gram, type GramCounts, gramTree } from '../../kernels/text/grams.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, derive, exactInts, floats, int, ints, type NodeFacts, optional, texts } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

type Mode = 'counts' | 'presence' | 'weighted'

interface Params {
  mode: Mode
  grams: readonly Gram[]
  /** Weight of each n-gram; undefined: all 1. */
  weights: readonly number[] | undefined
  min: number
  max: number
  skips: number
}

/** Rules of {@link tfIdfVectorizer}. */
export const tfIdfVectorizerRules = defineRules({
  name: 'TfIdfVectorizer',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 9,
      bind: {
        mode: choice('mode', { TF: 'counts', IDF: 'presence', TFIDF: 'weighted' }),
        grams: derive(gramsOf),
        weights: derive(weightsOf),
        min: int('min_gram_length'),
        max: int('max_gram_length'),
        skips: int('max_skip_count')
      }
    }
  ],

  shape({ x }, { grams, min, max, skips }) {
    if (min < 1 || max < min)
      fail(
        'unknown-attribute-value',
        `n-grams of ${min} to ${max} items are asked for; expected 1 or more, in this order`
      )
    if (skips < 0) fail('unknown-attribute-value', `max_skip_count is ${skips}; expected 0 or more`)
    const isText = typeof grams[0].items[0] === 'string'
    if (x.type !== undefined && (x.type === 'string') !== isText) {
      fail('type-mismatch', `the input has type ${x.type}, the n-grams are made of ${isText ? 'strings' : 'integers'}`)
    }
    checkRank('the input', x, 1, 2)
    if (x.shape === undefined) return [tensorFact('float32', undefined)]
    const size = grams.reduce((last, { coordinate }) => Math.max(last, coordinate), 0) + 1
    return [tensorFact('float32', [...x.shape.slice(0, -1), size])]
  }
})

/**
 * Counts the n-grams of a pool in a list, or in each row, where 0 to `skips` items may be skipped between two items of
 * an n-gram. Weights are in the order of the pool, as in the specification and ONNX Runtime (ONNX's own reference takes
 * them by coordinate). Counts with the same coordinate add up; under IDF, where a count is 1 at most, the weight of the
 * n-gram that is found last stands there, as in ONNX Runtime. ONNX TfIdfVectorizer-9.
 */
export const tfIdfVectorizer = /* @__PURE__ */ withKernel(tfIdfVectorizerRules, {
  *run({ x }, { mode, grams, weights, min, max, skips }, call) {
    const out = call.output()
    const numbers = out.data as Float32Array
    const items = itemsOf(x)
    const length = x.dims[x.dims.length - 1]
    const size = out.dims[out.dims.length - 1]
    const rows = x.dims.length === 1 ? 1 : x.dims[0]
    const tree = treeOf(grams, min, max)
    const range = { min, max, skips }
    const row: GramCounts = { counts: new Float64Array(grams.length), found: [] }
    const pace = new Pace()
    for (let i = 0; i < rows; i++) {
      yield* countGrams(items, i * length, (i + 1) * length, tree, range, row, pace)
      for (const at of row.found) {
        const to = i * size + grams[at].coordinate
        const weight = weights?.[at] ?? 1
        if (mode === 'presence') numbers[to] = weight
        else numbers[to] += mode === 'counts' ? row.counts[at] : row.counts[at] * weight
        row.counts[at] = 0
      }
      row.found.length = 0
    }
  }
})

/** The prefix tree of the n-grams of a node, which is made once. */
const treeOf = /* @__PURE__ */ oncePer(gramTree)

const itemsOf = ({ data }: Tensor): ArrayLike<string | bigint> =>
  data instanceof Int32Array ? Array.from(data, BigInt) : (data as ArrayLike<string | bigint>)

const counts = ints('ngram_counts')
const coordinates = ints('ngram_indexes')

/** The n-grams of the pool: those of n items start at `ngram_counts[n - 1]`. */
function gramsOf(node: NodeFacts): readonly Gram[] {
  const strings = node.get(optional(texts('pool_strings')))
  const integers = node.get(optional(exactInts('pool_int64s')))
  const pool: readonly (string | bigint)[] =
    strings ?? integers ?? fail('missing-attribute', 'attribute "pool_strings" or "pool_int64s" is missing')
  if (strings && integers)
    fail('unknown-attribute-value', 'pool_strings and pool_int64s are both given; expected one of them')
  const starts = [...(node.get(counts) ?? []), pool.length]
  const places = node.get(coordinates) ?? []
  const grams: Gram[] = []
  for (let length = 1; length < starts.length; length++) {
    const [from, to] = starts.slice(length - 1, length + 1)
    if (from < 0 || to < from || (to - from) % length !== 0) {
      fail(
        'unknown-attribute-value',
        `the items ${from} to ${to} of ${pool.length} in the pool are no ${length}-grams, as ngram_counts says`
      )
    }
    for (let at = from; at < to; at += length)
      grams.push({ items: pool.slice(at, at + length), coordinate: places[grams.length] })
  }
  if (grams.length === 0 || grams.length !== places.length) {
    fail(
      'unknown-attribute-value',
      `the pool holds ${grams.length} n-grams, ngram_indexes ${places.length}; they must be as many`
    )
  }
  const negative = places.find(place => place < 0)
  if (negative !== undefined) fail('unknown-attribute-value', `ngram_indexes holds ${negative}; expected 0 or more`)
  return grams
}

function weightsOf(node: NodeFacts): readonly number[] | undefined {
  const weights = node.get(optional(floats('weights')))
  const places = node.get(coordinates) ?? []
  if (weights === undefined || weights.length === 0) return undefined
  if (weights.length !== places.length)
    fail('unknown-attribute-value', `there are ${weights.length} weights and ${places.length} n-grams`)
  return weights
}
