import { MAX_FLOAT32 } from '../tensor/dtype.ts'
import { elementwise, gathered, reduced, topOf, transposed, unsqueezed, upTo } from './conversion-kit.ts'
import {
  add,
  clamped,
  div,
  geluByTanh,
  mul,
  multiplied,
  part,
  plus,
  sigmoidWeighted,
  softmaxed,
  split,
  widened
} from './conversion-parts.ts'
import { reshapedBy, sizesOf } from './conversion-sizes.ts'
import { dimsOf, knownSizes, type Made, rankOf, type SourceCall, typeOf, type Writer } from './conversion.ts'
import type { ExpertParams } from './experts.ts'

/** A layer of all experts: weights `[experts, rows, columns]`, a bias `[experts, rows]`. */
export interface Layer {
  readonly weights: Made
  readonly bias: Made | undefined
}

/** How the experts of a token are weighed: by all scores, by those of the chosen, or by weights that are given. */
export type Weighing = 'all' | 'chosen' | { readonly given: Made; readonly normalizes: boolean }

/**
 * A mixture of experts. Every expert computes for every token; those that are not chosen count nothing, so that no
 * shape depends on what is chosen.
 */
export function mixed(
  call: SourceCall,
  w: Writer,
  [first, second, third]: readonly [Layer, Layer, Layer | undefined],
  weighing: Weighing
): Made {
  const x = call.operand('x')
  const type = typeOf(x)
  const columns = dimsOf(x)[rankOf(x) - 1]
  const tokens = unsqueezed(w, w.reshape(widened(w, x), [-1, typeof columns === 'number' ? columns : 0]), [0])
  const inner = layer(w, tokens, first)
  const other = third && layer(w, tokens, third)
  const outputs = layer(w, gatedBy(call, w, inner, other), second)
  const weights = unsqueezed(w, transposed(w, weightsOf(call, w, weighing), [1, 0]), [2])
  const sum = reduced(w, 'ReduceSum', mul(w, outputs, weights), [0], false)
  return w.cast(reshapedBy(w, sum, sizesOf(w, x)), type)
}

/** `[1 or experts, tokens, columns]` times the weights. */
function layer(w: Writer, x: Made, { weights, bias }: Layer): Made {
  const y = multiplied(w, x, weights, true)
  return bias ? add(w, y, unsqueezed(w, w.cast(bias, typeOf(y)), [1])) : y
}

function gatedBy(call: SourceCall, w: Writer, x: Made, other: Made | undefined): Made {
  const activation = call.param<ExpertParams['activation']>('activation')
  if (activation !== 'swiglu') {
    const y = activated(w, x, activation)
    return other ? mul(w, y, other) : y
  }
  const limit = call.param<number>('limit')
  const [gate, value] = other ? [x, other] : halvesOf(w, x, call.param('layout'))
  const bounded = Number.isFinite(limit)
  const g = bounded ? clamped(w, gate, -MAX_FLOAT32, limit) : gate
  const l = bounded ? clamped(w, value, -limit, limit) : value
  return mul(w, sigmoidWeighted(w, g, call.param('alpha')), plus(w, l, call.param('beta')))
}

function activated(w: Writer, x: Made, activation: Exclude<ExpertParams['activation'], 'swiglu'>): Made {
  if (activation === 'relu') return elementwise(w, 'Relu', x)
  if (activation === 'gelu') return geluByTanh(w, x)
  return activation === 'silu' ? sigmoidWeighted(w, x, 1) : x
}

/** Gates and values that lie in turn, or one after the other. */
function halvesOf(w: Writer, x: Made, layout: ExpertParams['layout']): readonly Made[] {
  const columns = dimsOf(x)[2] as number
  if (layout === 'halves') return split(w, x, 2, [columns / 2, columns / 2])
  const pairs = w.reshape(x, [0, 0, columns / 2, 2])
  return [0, 1].map(at => w.reshape(part(w, pairs, 3, at, at + 1), [0, 0, columns / 2]))
}

/** The weight of each expert for each token, `[tokens, experts]`; 0 where it is not chosen. */
function weightsOf(call: SourceCall, w: Writer, weighing: Weighing): Made {
  const scores = widened(w, call.operand('scores'))
  const [experts] = knownSizes('the number of experts', dimsOf(scores)[1])
  const isChosen = chosen(w, scores, experts, call.param('chosen'))
  const zero = w.scalar(typeOf(scores), 0)
  if (weighing === 'all') return elementwise(w, 'Where', isChosen, softmaxed(w, scores, 1), zero)
  if (weighing === 'chosen') {
    const lowest = w.scalar(typeOf(scores), -Infinity)
    return softmaxed(w, elementwise(w, 'Where', isChosen, scores, lowest), 1)
  }
  const given = elementwise(w, 'Where', isChosen, widened(w, weighing.given), zero)
  return weighing.normalizes ? div(w, given, reduced(w, 'ReduceSum', given, [1], true)) : given
}

/** Whether an expert is among those of the highest scores; of equal scores the last counts more. */
function chosen(w: Writer, scores: Made, experts: number, count: number): Made {
  const backwards = w.constant('int64', upTo(experts).reverse())
  const turned = gathered(w, scores, backwards, 1)
  const [, indices] = topOf(w, turned, count, 1)
  const own = unsqueezed(w, indices, [2])
  const hits = elementwise(w, 'Equal', own, w.constant('int64', upTo(experts).reverse()))
  const found = reduced(w, 'ReduceMax', w.cast(hits, 'int32'), [1], false)
  return elementwise(w, 'Greater', found, w.scalar('int32', 0))
}
