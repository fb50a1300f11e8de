import { fail } from '../../errors.ts'
import {
  asHeads,
  attended,
  behindPast,
  besideEachOther,
  causal,
  type Extended,
  paddingAdded,
  rotated,
  type Rotation,
  sizeOf
} from '../../op-kit/conversion-attention.ts'
import { elementwise, expanded, squeezed, stacked, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { mul, multiplied, part, split, splitEvenly, widened, withAdded } from '../../op-kit/conversion-parts.ts'
import {
  addSizes,
  counted,
  mulSizes,
  reshapedBy,
  type Size,
  sizeAt,
  sizeList,
  sizeParameter
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { inputLayout } from '../../op-kit/multi-head-inputs.ts'
import { withoutColumn } from '../../op-kit/multi-head.ts'
import { type Dim, floorDivDims, mulDims } from '../../shapes/dim.ts'
import type { TensorFact } from '../../shapes/fact.ts'
import { multiHeadAttention } from './multi-head-attention.ts'
import { projectedAttention } from './projected-attention.ts'

const factOf = (value: Made | undefined): TensorFact | undefined =>
  value?.fact.kind === 'tensor' ? value.fact : undefined

/** Queries, keys and values as heads. */
type Parts = readonly [q: Made, k: Made, v: Made]

/** The heads of inputs in each form, with their biases. */
function headsOf(call: SourceCall, w: Writer): { parts: Parts; batch: Dim; isBlocks: boolean } {
  const heads = call.param<number>('heads')
  const [query, key, value, bias] = ['query', 'key', 'value', 'bias'].map(name => {
    const given = call.optional(name)
    return given && widened(w, given)
  }) as [Made, ...(Made | undefined)[]]
  const layout =
    inputLayout(factOf(query)!, factOf(key), factOf(value), heads, valueColumns(call, query, key)) ??
    fail('unsupported-op', 'the rank of an input is not known before the model runs')
  const [size, width] = knownSizes('the size of heads', layout.size, layout.width)
  const columns = [heads * size, heads * size, heads * width]
  const biases = bias ? split(w, bias, 0, columns) : []
  const withBias = (x: Made, i: number): Made => asHeads(w, withAdded(w, x, biases[i]), heads)
  const { form, batch } = layout
  const isBlocks = form === 'blocks'
  if (isBlocks) return { parts: [withBias(query, 0), key!, value!], batch, isBlocks }
  const beside = (x: Made, kinds: number): Made[] =>
    upTo(kinds).map(i => w.reshape(part(w, x, 3, i, i + 1), [0, 0, heads * size]))
  const apart =
    form === 'apart'
      ? [query, key!, value!]
      : form === 'by head'
        ? beside(query, 3)
        : form === 'by kind'
          ? split(w, query, 2, columns)
          : [query, ...beside(key!, 2)]
  const [q, k, v] = apart.map(withBias)
  return { parts: [q, k, v], batch, isBlocks }
}

/** Columns of all values where a decoder's query holds all three. */
function valueColumns(call: SourceCall, query: Made, key: Made | undefined): Dim | undefined {
  if (!call.param<boolean>('single') || key !== undefined || rankOf(query) !== 3) return undefined
  const width = factOf(call.optional('pastValue'))?.shape?.[3]
  return width === undefined ? floorDivDims(dimsOf(query)[2], 3) : mulDims(width, call.param<number>('heads'))
}

/** Rows of a buffer that are valid, where the past is one. */
const keptOf = (call: SourceCall, w: Writer, past: Made | undefined): Size | undefined =>
  past === undefined || (call.knows('kept') && call.param('kept') === undefined)
    ? undefined
    : sizeParameter(call, 'kept', w)

/** What projected and multi-head attention have in common. */
interface Joint {
  readonly parts: Parts
  readonly batch: Dim
  readonly keys: Extended
  readonly values: Extended
  /** Number of keys before the fresh ones. */
  readonly past: Size
  readonly mask: Made | undefined
}

function attend(call: SourceCall, w: Writer, { parts: [q], batch, keys, values, past, mask }: Joint) {
  const [k, v] = [keys.all, values.all]
  const isCausal = call.param<boolean>('causal')
  const added = [
    call.optional('attentionBias'),
    mask && paddingAdded(w, mask, call.param('filter'), { batch, queries: q, keys: k, past })
  ]
  const scale = call.param<number | undefined>('scale') ?? 1 / Math.sqrt(sizeOf(q))
  const seen = isCausal ? causal(w, sizeAt(w, q, 2), sizeAt(w, k, 2), past) : undefined
  return attended(w, q, k, v, { scale, added, seen })
}

/** Rows of the past that keys are counted after. */
const pastOf = (w: Writer, past: Made | undefined, kept: Size | undefined): Size =>
  past === undefined ? 0 : (kept ?? sizeAt(w, past, 2))

function expandMultiHead(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const query = call.operand('query')
  const own = typeOf(query)
  const { parts, batch, isBlocks } = headsOf(call, w)
  const [pastKey, pastValue] = ['pastKey', 'pastValue'].map(name => (isBlocks ? undefined : call.optional(name)))
  const kept = keptOf(call, w, pastKey)
  const past = pastOf(w, pastKey, kept)
  const [keys, values] = [pastKey, pastValue].map((before, i) => behindPast(w, parts[i + 1], before, kept))
  const beams = isBlocks ? undefined : call.optional('beams')
  const follow = (side: Extended): Extended => (beams ? { ...side, all: followed(w, side.all, beams, past) } : side)
  const joint = { parts, batch, past, mask: call.optional('mask'), keys: follow(keys), values: follow(values) }
  const { values: y, biased } = attend(call, w, joint)
  const results = [besideEachOther(w, y), keys.present, values.present, biased]
  return results.slice(0, call.outputCount).map(result => w.cast(result, own))
}

/** Rows of the past from the beams of the same sample that made them: `[samples, beams, rows]`. */
function followed(w: Writer, heads: Made, beams: Made, past: Size): Made {
  const [width, count] = knownSizes('the number of beams', dimsOf(beams)[1], dimsOf(heads)[1])
  const [samples, total, size] = [sizeAt(w, beams, 0), sizeAt(w, heads, 2), sizeOf(heads)]
  const own = w.constant('int64', upTo(width), [1, width, 1])
  const isPast = elementwise(w, 'Less', counted(w, 0, total), sizeList(w, [past]))
  const given = part(w, w.cast(beams, 'int64'), 2, 0, total)
  const from = unsqueezed(w, elementwise(w, 'Where', isPast, given, own), [2, 4])
  const apart = reshapedBy(w, heads, [samples, width, count, total, size])
  const index = expanded(w, from, sizeList(w, [1, 1, count, 1, size]))
  const picked = w.node('GatherElements', [apart, index], { axis: 1 })
  return reshapedBy(w, picked, [mulSizes(w, samples, width), count, total, size])
}

/** What the inputs of attention with projections are projected to, before heads. */
export function attendProjection(call: SourceCall, w: Writer, projected: Made): readonly (Made | undefined)[] {
  const heads = call.param<number>('heads')
  const [all] = knownSizes('the columns of the weights', dimsOf(projected)[2])
  const columns = call.param<readonly number[] | undefined>('columns') ?? [all / 3, all / 3, all / 3]
  let parts = split(w, projected, 2, columns).map(x => asHeads(w, x, heads))
  const cache = call.optional('past')
  const before = cache && splitEvenly(w, widened(w, cache), 0, 2).map(each => squeezed(w, each, [0]))
  const kept = keptOf(call, w, cache)
  const past = pastOf(w, before?.[0], kept)
  if (call.param<boolean>('rotates')) {
    const rotation = rotationFrom(w, past, parts[0], call.param<number>('rotated'))
    parts = parts.map((each, i) => (i < 2 ? rotated(w, each, rotation) : each))
  }
  const [q, k, v] = parts
  const [keys, values] = [k, v].map((fresh, i) => behindPast(w, fresh, before?.[i], kept))
  const mask = call.optional('mask')
  const joint = {
    parts: [q, k, v],
    batch: dimsOf(projected)[0],
    keys,
    values,
    past,
    mask: withoutColumn(mask, mask && dimsOf(mask))
  } as const
  const { values: y } = attend(call, w, joint)
  const present = call.outputCount > 1 ? [stacked(w, [keys.present, values.present], 0)] : []
  return [besideEachOther(w, y), ...present]
}

/** Angles `position / 10000^(2i / rotated)` of positions from one on. */
function rotationFrom(w: Writer, first: Size, heads: Made, count: number): Rotation {
  const half = (count === 0 ? sizeOf(heads) : count) / 2
  const positions = w.cast(counted(w, first, addSizes(w, first, sizeAt(w, heads, 2))), typeOf(heads))
  const frequencies = w.constant(
    typeOf(heads),
    upTo(half).map(i => 1 / 10000 ** (i / half))
  )
  const angles = mul(w, w.reshape(positions, [1, 1, -1, 1]), frequencies)
  return { cos: elementwise(w, 'Cos', angles), sin: elementwise(w, 'Sin', angles), half, interleaved: false }
}

function expandProjected(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  const input = call.operand('input')
  const product = multiplied(w, widened(w, input), widened(w, call.operand('weights')))
  const results = attendProjection(call, w, withAdded(w, product, call.optional('bias')))
  return results.slice(0, call.outputCount).map(result => result && w.cast(result, typeOf(input)))
}

/** Attention of com.microsoft whose heads have keys of their own. */
export const multiHeadRules: readonly Conversion[] = [
  ...expands(multiHeadAttention, expandMultiHead),
  ...expands(projectedAttention, expandProjected)
]
