import { asScalar, elementwise, swappedLast } from '../../op-kit/conversion-kit.ts'
import { add, div, mul } from '../../op-kit/conversion-parts.ts'
import { sizeAt, sizeList, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { groupedRules } from './grouped-conversions.ts'
import { linearRules } from './linear-conversions.ts'
import { multiHeadRules } from './multi-head-conversions.ts'
import { rotaryRules } from './rotary-conversions.ts'
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts'
import { streamRules } from './stream-conversions.ts'

/** `softmax(query keyᵀ * scale + mask) value` in parts, scores in the type of the query. */
function attentionToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [query, key, value] = ['query', 'key', 'value'].map(name => call.operand(name))
  const type = typeOf(query)
  const scores = w.node('MatMul', [query, swappedLast(w, key)])
  const scaled = mul(w, scores, scaleOf(call, w, query))
  const masked = withMask(call, w, scaled)
  return [w.node('MatMul', [w.cast(w.node('Softmax', [masked], { axis: -1 }), type), value])]
}

function scaleOf(call: SourceCall, w: Writer, query: Made): Made {
  const type = typeOf(query)
  const known = call.knows('scale') ? call.param<number | undefined>('scale') : undefined
  const given = known === undefined ? call.source('scale') : undefined
  if (given) return asScalar(w, w.cast(given, type))
  const depth = dimsOf(query).at(-1)
  if (known !== undefined) return w.scalar(type, known)
  if (typeof depth === 'number') return w.scalar(type, 1 / Math.sqrt(depth))
  const wide = w.cast(sizeScalar(w, sizeAt(w, query, rankOf(query) - 1)), 'float32')
  return w.cast(div(w, w.scalar('float32', 1), elementwise(w, 'Sqrt', wide)), type)
}

function withMask(call: SourceCall, w: Writer, scores: Made): Made {
  const type = typeOf(scores)
  const hidden = w.scalar(type, -Infinity)
  if (call.param<boolean>('causal')) {
    const rank = rankOf(scores)
    const dims = [sizeAt(w, scores, rank - 2), sizeAt(w, scores, rank - 1)]
    const all = w.node('Expand', [w.scalar('bool', true), sizeList(w, dims)])
    return elementwise(w, 'Where', w.node('Trilu', [all], { upper: 0 }), scores, hidden)
  }
  const mask = call.optional('mask')
  if (mask === undefined) return scores
  return typeOf(mask) === 'bool' ? elementwise(w, 'Where', mask, scores, hidden) : add(w, scores, mask)
}

/** Attention in words of the other dialect. */
export const attentionConversions: Conversions = {
  rules: [
    toOnnx(scaledDotProductAttention, attentionToOnnx),
    ...multiHeadRules,
    ...groupedRules,
    ...linearRules,
    ...rotaryRules,
    ...streamRules
  ],
  leniencies: []
}
