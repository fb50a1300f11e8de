import { fail } from '../errors.ts'
import type { UnaryLoop } from '../kernels/core/elementwise.ts'
import { readNumbers } from '../kernels/core/numbers.ts'
import { GELU_TANH, swish } from '../kernels/elementwise/activations.ts'
import type { Gating, Routing } from '../kernels/matrix/experts.ts'
import { type Dim, maxDim, mayMatch, mulDims, printDim, productOf, unknownDim } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { Source } from './define.ts'
import { checkForms } from './ranks.ts'
import { choice, flag, float, int, mapped, optional } from './sources.ts'

/** Parameters of a mixture of experts. */
export interface ExpertParams {
  activation: 'relu' | 'gelu' | 'silu' | 'swiglu' | 'identity'
  /** Where SwiGLU's gates and values are; `apart`: the values come of a third layer. */
  layout: 'apart' | 'interleaved' | 'halves'
  /** SwiGLU is `G sigmoid(alpha G) (L + beta)`. */
  alpha: number
  beta: number
  /** SwiGLU's gates are at most this, and its values at most this far from 0. */
  limit: number
  chosen: number
  normalizes: boolean
  sparseMixer: boolean
}

/** Where a node has the {@link ExpertParams}. */
export const expertBind: { readonly [K in keyof ExpertParams]: Source<ExpertParams[K]> } = {
  activation: choice('activation_type', {
    relu: 'relu',
    gelu: 'gelu',
    silu: 'silu',
    swiglu: 'swiglu',
    identity: 'identity'
  }),
  layout: mapped(
    int('swiglu_fusion'),
    fusion =>
      (['apart', 'interleaved', 'halves'] as const)[fusion] ??
      fail('unknown-attribute-value', `swiglu_fusion is ${fusion}; expected 0, 1 or 2`)
  ),
  alpha: float('activation_alpha'),
  beta: float('activation_beta'),
  limit: mapped(optional(float('swiglu_limit')), limit => limit ?? Infinity),
  chosen: int('k'),
  normalizes: flag('normalize_routing_weights'),
  sparseMixer: flag('use_sparse_mixer')
}

const copy: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = x[i]
}
const relu: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = x[i] < 0 ? 0 : x[i]
}
const swigluGate =
  (alpha: number, limit: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) {
      const gate = Math.min(x[i], limit)
      out[i] = gate / (1 + Math.exp(-alpha * gate))
    }
  }
const swigluValue =
  (beta: number, limit: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.min(Math.max(x[i], -limit), limit) + beta
  }

const LOOPS: Readonly<Record<Exclude<ExpertParams['activation'], 'swiglu'>, UnaryLoop>> = {
  relu,
  gelu: GELU_TANH,
  silu: swish(1),
  identity: copy
}

/** What lies between the layers; with a third layer its outputs are multiplied with the activation's. */
export function gatingOf({ activation, layout, alpha, beta, limit }: ExpertParams, hasThird: boolean): Gating {
  if (activation === 'swiglu')
    return { kind: 'gated', layout, gate: swigluGate(alpha, limit), value: swigluValue(beta, limit) }
  const loop = LOOPS[activation]
  return hasThird ? { kind: 'gated', layout: 'apart', gate: loop, value: copy } : { kind: 'plain', loop }
}

/** Which experts serve a token: their weights are the softmax of the scores of all, or of those that are chosen. */
export function* routingOf(scores: Tensor, experts: number, p: ExpertParams): Generator<void, Routing> {
  const weighing = p.normalizes ? 'chosen' : 'all'
  return { scores: yield* readNumbers(scores), experts, chosen: p.chosen, weighing }
}

/** A layer of the experts as its operands describe it: `[experts, rows, columns]`, columns unpacked. */
export interface ExpertFacts {
  readonly weights: readonly Dim[] | undefined
  readonly bias: TensorFact | undefined
}

/**
 * Checks a mixture of experts: tokens of `hidden` numbers in all dims of `x` but the last, a score of each expert for
 * each token, and layers that fit together.
 * @throws NodewiseError `unknown-attribute-value` for a routing of GPUs, `missing-input` and `wrong-input-count` for a
 *   third layer that must or must not be there, `value-out-of-range`, `rank-mismatch`, `dims-mismatch`
 */
export function checkExperts(
  x: TensorFact,
  scores: Readonly<Record<string, TensorFact | undefined>>,
  [first, second, third]: readonly [ExpertFacts, ExpertFacts, ExpertFacts | undefined],
  p: ExpertParams
): void {
  if (p.sparseMixer) fail('unknown-attribute-value', 'use_sparse_mixer is 1, a routing of GPUs; expected 0')
  const isApart = p.activation === 'swiglu' && p.layout === 'apart'
  if (isApart && third === undefined)
    fail('missing-input', 'SwiGLU with swiglu_fusion 0 takes its values from fc3, which is not given')
  if (p.activation === 'swiglu' && !isApart && third !== undefined)
    fail('wrong-input-count', 'fc3 is given; SwiGLU takes its values from fc1 with this swiglu_fusion')
  const hidden = x.shape?.[x.shape.length - 1] ?? unknownDim()
  const tokens = x.shape ? productOf(x.shape.slice(0, -1)) : unknownDim()
  const experts = first.weights?.[0] ?? unknownDim()
  if (p.chosen < 1 || maxDim(experts) < p.chosen)
    fail('value-out-of-range', `k is ${p.chosen}; expected 1 to ${printDim(experts)}, the number of experts`)
  for (const [name, fact] of Object.entries(scores)) if (fact) checkForms(name, fact, [tokens, experts])
  const inner = second.weights?.[2] ?? unknownDim()
  const doubled = p.activation === 'swiglu' && !isApart ? mulDims(inner, 2) : inner
  checkLayer('fc1', first, [experts, doubled, hidden])
  checkLayer('fc2', second, [experts, hidden, inner])
  if (third) checkLayer('fc3', third, [experts, inner, hidden])
}

function checkLayer(name: string, { weights, bias }: ExpertFacts, expected: readonly [Dim, Dim, Dim]): void {
  const names = ['experts', 'outputs', 'inputs']
  weights?.forEach((dim, i) => {
    if (!mayMatch(dim, expected[i]))
      fail(
        'dims-mismatch',
        `the weights of ${name} are for ${printDim(dim)} ${names[i]}; ${printDim(expected[i])} are expected`
      )
  })
  if (bias) checkForms(`the bias of ${name}`, bias, [expected[0], weights?.[1] ?? expected[1]])
}
