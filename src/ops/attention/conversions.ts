import { fail } from '../../errors.ts'
import { asScalar, elementwise, swappedLast } from '../../op-kit/conversion-kit.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts'

/** `softmax(query keyᵀ * scale + mask) value` in parts, scores in the type of the query. */
function attentionToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [query, key, value] = ['query', 'key', 'value'].map(name => call.operand(name))
  const type = typeOf(query)
  const scores = w.node('MatMul', [query, swappedLast(w, key)])
  const scaled = elementwise(w, 'Mul', scores, scaleOf(call, w, query))
  const masked = withMask(call, w, scaled)
  return [w.node('MatMul', [w.cast(w.node('Softmax', [masked], { axis: -1 }), type), value])]
}

function scaleOf(call: SourceCall, w: Writer, query: Made): Made {
  const type = typeOf(query)
  const known = call.knows('scale') ? call.param<number | undefined>('scale') : undefined
  const given = known === undefined ? call.source('scale') : undefined
  if (given) return asScalar(w, w.cast(given, type))
  const depth = dimsOf(query).at(-1)
  if (known === undefined && typeof depth !== 'number')
    return fail('unsupported-op', 'the depth of the query, which gives the scale, is not known before the model runs')
  return w.scalar(type, known ?? 1 / Math.sqrt(depth as number))
}

function withMask(call: SourceCall, w: Writer, scores: Made): Made {
  const type = typeOf(scores)
  const hidden = w.scalar(type, -Infinity)
  if (call.param<boolean>('causal')) {
    const [queries, keys] = dimsOf(scores).slice(-2)
    if (typeof queries !== 'number' || typeof keys !== 'number')
      return fail('unsupported-op', 'the dims of a causal mask are not known before the model runs')
    const all = w.node('Expand', [w.scalar('bool', true), w.constant('int64', [queries, keys])])
    return elementwise(w, 'Where', w.node('Trilu', [all], { upper: 0 }), scores, hidden)
  }
  const mask = call.optional('mask')
  if (mask === undefined) return scores
  return typeOf(mask) === 'bool' ? elementwise(w, 'Where', mask, scores, hidden) : elementwise(w, 'Add', scores, mask)
}

/** Attention in words of the other dialect. */
export const attentionConversions: Conversions = {
  rules: [toOnnx(scaledDotProductAttention, attentionToOnnx)],
  leniencies: []
}
