import { HIDDEN } from '../kernels/attention/masks.ts'
import type { Dim } from '../shapes/dim.ts'
import { attentionOf, hasCap, SAFE, SCALED, SCORE_NUMBERS, SCORES, softmaxOf, valuesOf } from './fuse-attention.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, operandOf, type PlanGraph, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import { commutative, isAlongLast, operatorOf, shared } from './patterns.ts'

// Attention whose batches and heads are one axis, made of two and parted again, has them apart.

const OPERANDS = ['query', 'key', 'value'] as const

const reshaped = (...labels: readonly string[]): PatternCall => ({
  ops: ['Reshape'],
  reads: labels.map(data => ({ data }))
})

/** Operands with batches and heads as one axis. */
const MERGED: Readonly<Record<string, PatternCall>> = Object.fromEntries(
  OPERANDS.map(name => [`${name}Merged`, shared(reshaped(name))])
)

const MERGED_READS = ['swapped', 'keyMerged'].map(b => ({ a: 'queryMerged', b }))

/** Attention without a mask, as Whisper's encoder has it. */
const mergedPattern: Pattern = {
  name: 'attention',
  calls: {
    ...MERGED,
    attention: {
      ops: ['ScaledDotProductAttention'],
      where: call => operandOf(call, 'mask') === undefined,
      reads: { query: 'queryMerged', key: 'keyMerged', value: 'valueMerged' }
    },
    parted: reshaped('attention')
  },
  root: 'parted',
  guard: (match, graph) => isMerged(match, graph, 'attention'),
  fuse({ calls, values }) {
    const { op, known } = calls.get('attention')!.call
    const inputs = Object.fromEntries(OPERANDS.map(name => [name, values.get(name)]))
    return { call: fusedCall(calls.get('parted')!.call, op, inputs, known) }
  }
}

/**
 * Attention whose scores alone have batches and heads apart, to which a mask is added before or after which they are
 * merged again, as BART and OPT have it.
 */
const maskedApartPattern: Pattern = {
  name: 'attention',
  calls: {
    ...MERGED,
    swapped: { ...SCORES.swapped, reads: { data: 'keyMerged' } },
    product: { ...SCORES.product, reads: MERGED_READS },
    divided: SCORES.divided,
    multiplied: SCORES.multiplied,
    dividedAgain: SCORES.dividedAgain,
    multipliedAgain: SCORES.multipliedAgain,
    tanh: SCORES.tanh,
    withTanh: { ...SCORES.withTanh, reads: MERGED_READS },
    capped: SCORES.capped,
    apart: reshaped(...SCALED),
    masked: commutative('Add', ['apart', 'mask']),
    merged: reshaped('masked'),
    weights: softmaxOf('merged', 'masked'),
    ...SAFE,
    weightsMerged: reshaped('weights', 'safe'),
    values: valuesOf(...['weights', 'safe', 'weightsMerged'].map(a => ({ a, b: 'valueMerged' }))),
    parted: reshaped('values')
  },
  scalars: { zero: 0, ...SCORE_NUMBERS },
  root: 'parted',
  guard: (match, graph) => isMerged(match, graph, 'values') && isMaskedApart(match, graph),
  fuse(match, graph) {
    const { calls, values } = match
    const op = operatorOf(graph, 'ScaledDotProductAttention', 13, 'openvino')
    const inputs = Object.fromEntries([...OPERANDS, 'mask'].map(name => [name, values.get(name)]))
    return op && { call: fusedCall(calls.get('parted')!.call, op, inputs, attentionOf(match, graph, HIDDEN)) }
  }
}

export const mergedPatterns: readonly Pattern[] = [mergedPattern, maskedApartPattern]

const madeBy = ({ calls }: Match, graph: PlanGraph, label: string): readonly Dim[] | undefined =>
  shapeOf(graph, calls.get(label)?.call.outputs[0])

/** Whether operands of rank 4 have their first two axes merged, and the result has them parted. */
function isMerged(match: Match, graph: PlanGraph, result: string): boolean {
  const made = madeBy(match, graph, result)
  const parted = madeBy(match, graph, 'parted')
  if (parted?.length !== 4 || made?.length !== 3) return false
  const [batch, heads, ...matrix] = parted
  return (
    areDims(made.slice(1), matrix) &&
    OPERANDS.every(name => {
      const own = shapeOf(graph, match.values.get(name)) ?? []
      const merged = madeBy(match, graph, `${name}Merged`) ?? []
      return merged.length === 3 && areDims(own.slice(0, 2), [batch, heads]) && areDims(own.slice(2), merged.slice(1))
    })
  )
}

/** Whether float32 scores of rank 3 get the axes of the result, keep them with the mask, and lose them again. */
function isMaskedApart(match: Match, graph: PlanGraph): boolean {
  const { calls, values } = match
  const [scores, parted] = [calls.has('product') ? 'product' : 'withTanh', 'parted'].map(label =>
    madeBy(match, graph, label)
  )
  const weights = calls.get('weights')!.call
  const given = shapeOf(graph, calls.get('values')!.call.inputs[0])
  const rank = madeBy(match, graph, 'weights')?.length ?? 0
  if (scores?.length !== 3 || parted === undefined || given?.length !== 3) return false
  const apart = [...parted.slice(0, 2), ...scores.slice(1)]
  return (
    ['apart', 'masked'].every(label => areDims(madeBy(match, graph, label), apart)) &&
    areDims(given.slice(1), scores.slice(1)) &&
    hasCap(match, graph) &&
    calls.has('merged') !== calls.has('weightsMerged') &&
    isAlongLast(graph, weights, rank) &&
    [...OPERANDS, 'mask'].every(name => isFloat32(graph, values.get(name)))
  )
}
