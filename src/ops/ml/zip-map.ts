import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, exactInts, type NodeFacts, optional, texts } from '../../op-kit/sources.ts'
import { type Dim, minDim } from '../../shapes/dim.ts'
import { mapFact, type SequenceFact } from '../../shapes/fact.ts'
import type { Key } from '../../tensor/map.ts'
import { type KeyType, type MapValue, MAX_ITEMS, MAX_PAIRS } from '../../tensor/tensor.ts'

/** The keys of each map. */
interface Labels {
  readonly type: KeyType
  readonly keys: readonly Key[]
}

/** Rules of {@link zipMap}. */
export const zipMapRules = defineRules({
  name: 'ZipMap',
  operands: { x: 'tensor' },
  params: params<{ labels: Labels }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { labels: derive(labelsOf) } }],

  shape({ x }, { labels: { type, keys } }): SequenceFact[] {
    const { shape } = x
    const element = mapFact(type, 'float32')
    checkRank('the input', x, 1, 2)
    if (shape === undefined) return [{ kind: 'sequence', element }]
    checkDim('the input', x, shape.length - 1, keys.length)
    const length = shape.length === 1 ? 1 : shape[0]
    limitMaps(length, keys.length)
    return [{ kind: 'sequence', element, length }]
  }
})

/**
 * A map for each row of a matrix, from labels to the row's elements: how a classifier of scikit-learn gives its
 * probabilities. A vector is one row. There are as many columns as labels; the last of equal labels counts, as in ONNX
 * Runtime. ai.onnx.ml ZipMap-1.
 */
export const zipMap = /* @__PURE__ */ withKernel(zipMapRules, {
  *run({ x }, { labels: { type, keys } }, call) {
    const elements = x.data as Float32Array
    const rows = x.dims.length === 1 ? 1 : x.dims[0]
    const values: MapValue[] = []
    const pace = new Pace()
    for (let row = 0, at = 0; row < rows; row++) {
      const entries = new Map<Key, number>()
      for (const key of keys) {
        entries.set(key, elements[at++])
        if (pace.isDue(COST.lookup)) yield
      }
      values.push({ type: 'map', keyType: type, valueType: 'float32', entries })
      if (pace.isDue(COST.allocation)) yield
    }
    call.give(0, { type: 'sequence', values })
  }
})

function limitMaps(rows: Dim, columns: number): void {
  const count = minDim(rows)
  if (count > MAX_ITEMS)
    fail('limit-exceeded', `a sequence of ${count} maps is asked for; at most ${MAX_ITEMS} are made`)
  if (count * columns > MAX_PAIRS)
    fail('limit-exceeded', `maps of ${count * columns} pairs together are asked for; at most ${MAX_PAIRS} are made`)
}

/** The one list of labels that the node has; an empty one is none. */
function labelsOf(node: NodeFacts): Labels {
  const strings = node.get(optional(texts('classlabels_strings'))) ?? []
  const integers = node.get(optional(exactInts('classlabels_int64s'))) ?? []
  if (strings.length > 0 && integers.length > 0)
    fail('unknown-attribute-value', 'labels of types string and int64 are given; expected one of them')
  if (strings.length === 0 && integers.length === 0)
    fail('missing-attribute', 'one of the attributes classlabels_strings, classlabels_int64s is missing')
  return strings.length > 0 ? { type: 'string', keys: strings } : { type: 'int64', keys: integers }
}
