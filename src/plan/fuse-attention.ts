import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Parts } from '../kernels/attention/heads.ts'
import type { Hidden } from '../kernels/attention/masks.ts'
import type { Broadcast } from '../op-kit/broadcast.ts'
import type { Parameters } from '../op-kit/define.ts'
import type { FusedParams } from '../op-kit/fused.ts'
import type { Dim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, operandOf, type PlanGraph, positionOf, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall, Reading } from './match.ts'
import {
  binaryOf,
  commutative,
  isAlongLast,
  isPlainProduct,
  numbersOf,
  operatorOf,
  shared,
  sharedOf,
  unaryOf
} from './patterns.ts'

/** Axes that the kernel serves, whatever is broadcast: batches, heads, and a matrix. */
const MAX_RANK = 4

/** Whether the first factor is as it is, and the second one at most transposed. */
const isPlain = ({ transposeA, movesA, movesB }: Parameters): boolean => !transposeA && !movesA && !movesB

/**
 * Queries and keys that are scaled first (PyTorch multiplies both by the root of the scale) are read as they were
 * before it, and so are keys whose rows and columns a Transpose swaps.
 */
const READS: readonly Reading[] = ['scaledQuery', 'query'].flatMap(a =>
  ['scaledKey', 'swapped', 'key'].map(b => ({ a, b }))
)

/** Scores of queries and keys, scaled or not. */
export const SCORES: Readonly<Record<string, PatternCall>> = {
  product: {
    ops: ['MatMul'],
    where: ({ known }) => isPlain(known),
    reads: READS
  },
  scaledQuery: shared(commutative('Mul', ['query', 'queryFactor'])),
  scaledKey: shared(commutative('Mul', ['swapped', 'keyFactor'], ['key', 'keyFactor'])),
  swapped: shared({ ops: ['Transpose'], where: swapsRowsAndColumns, reads: { data: 'key' } }),
  divided: binaryOf('Div', ['product', 'divisor']),
  multiplied: commutative('Mul', ['product', 'factor']),
  // c tanh(scores / c), as Gemma has it, of scores that may have been divided before.
  dividedAgain: binaryOf('Div', ['divided', 'divisorAgain'], ['multiplied', 'divisorAgain']),
  multipliedAgain: commutative('Mul', ['divided', 'factorAgain'], ['multiplied', 'factorAgain']),
  tanh: unaryOf('Tanh', 'dividedAgain', 'multipliedAgain', 'divided', 'multiplied'),
  // It has become an epilogue of a product that scales.
  withTanh: { ops: ['FusedMatMul'], where: isTanhOfOneThing, reads: READS },
  capped: commutative('Mul', ['tanh', 'cap'], ['withTanh', 'cap'])
}

/** Softmax along the last axis. */
export const softmaxOf = (...readings: readonly string[]): PatternCall => ({
  ops: ['Softmax'],
  reads: readings.map(x => ({ x }))
})

/** Weights that are NaN, as those of a query that sees no key, become 0: PyTorch's safe softmax. */
export const SAFE: Readonly<Record<string, PatternCall>> = {
  isNaN: unaryOf('IsNaN', 'weights'),
  safe: {
    ops: ['Where'],
    where: ({ known }) => (known.broadcast as Broadcast).mode !== 'aligned',
    reads: { condition: 'isNaN', whenTrue: 'zero', whenFalse: 'weights' }
  }
}

/** Labels of {@link SCORES} that are scores. */
export const SCALED = ['product', 'divided', 'multiplied', 'capped']

/** Labels of numbers in {@link SCORES}. */
export const SCORE_NUMBERS = {
  divisor: 'any',
  divisorAgain: 'any',
  factor: 'any',
  factorAgain: 'any',
  queryFactor: 'any',
  keyFactor: 'any',
  cap: 'any'
} as const

/** Where(mask, scores, number) and Where(mask, number, scores). */
const chosenOf = (after: string, ...scores: readonly string[]): PatternCall => ({
  ops: ['Where'],
  where: ({ known }) => (known.broadcast as Broadcast).mode !== 'aligned',
  reads: scores.flatMap(label => [
    { condition: `visible${after}`, whenTrue: label, whenFalse: 'hiddenScore' },
    { condition: `hiding${after}`, whenTrue: 'hiddenScore', whenFalse: label }
  ])
})

const addedTo = (mask: string, ...scores: readonly string[]): PatternCall =>
  commutative('Add', ...scores.map((label): [string, string] => [label, mask]))

/**
 * `softmax(query key scale + mask) value` in its nodes, with or without a scale, a softcap and masks: two at most, such
 * as a bias by distance and what is hidden.
 */
export const attentionPattern: Pattern = {
  name: 'attention',
  calls: {
    ...SCORES,
    masked: addedTo('mask', ...SCALED),
    chosen: chosenOf('', ...SCALED),
    // A mask of the dims of the scores, or a constant one of a row, has become an epilogue of the product.
    withMask: {
      ops: ['FusedMatMul'],
      where: addsOneThing,
      reads: ['residual', 'bias'].flatMap(name => READS.map(reading => ({ ...reading, [name]: 'mask' })))
    },
    maskedAgain: addedTo('further', 'masked', 'chosen', 'withMask'),
    chosenAfter: chosenOf('After', 'masked', 'withMask'),
    weights: softmaxOf('maskedAgain', 'chosenAfter', 'masked', 'chosen', 'withMask', ...SCALED),
    ...SAFE,
    values: valuesOf(...['weights', 'safe'].map(a => ({ a, b: 'value' })))
  },
  scalars: { zero: 0, hiddenScore: 'any', ...SCORE_NUMBERS },
  root: 'values',
  guard: isServed,
  fuse(match, graph) {
    const { calls, values } = match
    const op = operatorOf(graph, 'ScaledDotProductAttention', 13, 'openvino')
    const hidden = {
      where: values.has('hiding') || values.has('hidingAfter') ? 1 : 0,
      score: scalarOf(graph, values.get('hiddenScore')) ?? -Infinity
    } as const
    const [mask, further] = [MASKS, FURTHER_MASKS].map(labels => valueOf(match, labels))
    const inputs = { query: values.get('query'), key: values.get('key'), value: values.get('value'), mask, further }
    return op && { call: fusedCall(calls.get('values')!.call, op, inputs, attentionOf(match, graph, hidden)) }
  }
}

const MASKS = ['mask', 'visible', 'hiding']
const FURTHER_MASKS = ['further', 'visibleAfter', 'hidingAfter']

/** The value that has one of some labels. */
const valueOf = ({ values }: Match, labels: readonly string[]): ValueId | undefined =>
  labels.map(label => values.get(label)).find(id => id !== undefined)

/** Parameters of attention that stands for nodes. */
export const attentionOf = (match: Match, graph: PlanGraph, hidden: Hidden): Parameters => ({
  ...{ causal: false, group: 1, rowsFirst: {}, parts: {}, spreads: true },
  scale: scaleOf(match, graph),
  softcap: scalarOf(graph, match.values.get('cap')) ?? 0,
  keysInColumns: keysInColumns(match),
  hidden,
  safe: match.calls.has('safe')
})

/** Either the Transpose or the product swaps rows and columns of keys, or none or both do. */
export const keysInColumns = (match: Match): boolean =>
  (productOf(match).known.transposeB === true) === match.calls.has('swapped')

/** A product of weights and values. */
export function valuesOf(...readings: readonly Reading[]): PatternCall {
  return {
    ops: ['MatMul'],
    where: call => isPlainProduct(call) && call.known.transposeB === false,
    reads: readings
  }
}

/** Whether a Transpose is one of the last two axes. */
export function swapsRowsAndColumns(call: Call, graph: PlanGraph): boolean {
  const order = numbersOf(graph, call, 'order')
  if (order === undefined || order.length < 2 || order[0] === undefined) return false
  const last = order.length - 1
  return order.every((axis, i) => axis === (i < last - 1 ? i : 2 * last - 1 - i))
}

/** Whether one thing is added to a product, such as a mask. */
function addsOneThing({ known }: Call): boolean {
  const { epilogue = [], activation } = known as Partial<FusedParams>
  return epilogue.length === 1 && !activation && isPlain(known)
}

/** Whether tanh of a product is all that is computed. */
function isTanhOfOneThing({ known }: Call): boolean {
  const { epilogue = [], activation } = known as Partial<FusedParams>
  return epilogue.length === 1 && typeof activation === 'object' && activation.name === 'tanh' && isPlain(known)
}

const productOf = ({ calls }: Match): Call =>
  ['product', 'withTanh', 'withMask'].map(label => calls.get(label)).find(item => item !== undefined)!.call

/**
 * What scores are multiplied by: of those that are capped, `cap tanh(scores)`, too, which the kernel divides by the cap
 * before tanh.
 */
function scaleOf(match: Match, graph: PlanGraph): number {
  const { values } = match
  const alpha = productOf(match).known.alpha as number
  const productOfAll = (labels: readonly string[]): number =>
    labels.reduce((all, label) => all * (scalarOf(graph, values.get(label)) ?? 1), 1)
  const factors = ['factor', 'factorAgain', 'queryFactor', 'keyFactor', 'cap']
  return (alpha * productOfAll(factors)) / productOfAll(['divisor', 'divisorAgain'])
}

/** Float32 everywhere, softmax along the last axis, and as many axes as the kernel serves. */
function isServed(match: Match, graph: PlanGraph): boolean {
  const { calls, values } = match
  const softmax = calls.get('weights')!.call
  const rank = shapeOf(graph, productOf(match).outputs[0])?.length
  if (rank === undefined || rank < 3 || !isAlongLast(graph, softmax, rank)) return false
  const operands = ['query', 'key', 'value'].map(label => values.get(label))
  const made = [softmax.outputs[0], calls.get('values')!.call.outputs[0]]
  const masks = ['mask', 'further'].map(label => values.get(label)).filter(id => id !== undefined)
  return (
    // Masks may broadcast scores to more rows or batches, not to more axes.
    [...operands, ...made].every(id => shapeOf(graph, id)?.length === rank) &&
    [...operands, ...masks].every(id => isFloat32(graph, id)) &&
    hasCap(match, graph) &&
    (rank <= MAX_RANK || isOneBatch(match, graph, operands))
  )
}

/** Whether scores are capped at a number that can be divided by, if they are. */
export function hasCap({ values }: Match, graph: PlanGraph): boolean {
  const cap = scalarOf(graph, values.get('cap')) ?? 1
  return cap !== 0 && Number.isFinite(cap)
}

/** Whether batches of operands are the same, and nothing else is broadcast to them: then all their axes are as one. */
function isOneBatch(match: Match, graph: PlanGraph, operands: readonly (ValueId | undefined)[]): boolean {
  const [query, ...others] = operands.map(id => shapeOf(graph, id)!.slice(0, -2))
  return [MASKS, FURTHER_MASKS].every(labels => !valueOf(match, labels)) && others.every(dims => areDims(dims, query))
}

/** Attention whose queries or keys are scaled before it, as OpenVINO has it where the file scales both. */
export const scaledOperandPattern: Pattern = {
  name: 'attention',
  calls: {
    scaled: shared(commutative('Mul', ['x', 'factor'])),
    attention: { ops: ['ScaledDotProductAttention'], reads: [{ query: 'scaled' }, { key: 'scaled' }] }
  },
  scalars: { factor: 'any' },
  root: 'attention',
  guard({ calls, values }, graph) {
    const x = shapeOf(graph, values.get('x'))
    return (
      x !== undefined &&
      shapeOf(graph, calls.get('scaled')!.call.outputs[0])?.length === x.length &&
      isFloat32(graph, values.get('x')) &&
      ownScale(graph, calls.get('attention')!.call) !== undefined
    )
  },
  fuse({ calls, values }, graph) {
    const { call } = calls.get('attention')!
    const scaled = calls.get('scaled')!.call.outputs[0]
    const name = operandOf(call, 'query') === scaled ? 'query' : 'key'
    const inputs = call.inputs.with(positionOf(call, name), values.get('x'))
    const scale = ownScale(graph, call)! * scalarOf(graph, values.get('factor'))!
    return { call: altered(call, { inputs, known: { ...call.known, scale }, dataDependent: [] }) }
  }
}

/** What attention scales scores by, where that is known. */
function ownScale(graph: PlanGraph, call: Call): number | undefined {
  const given = numbersOf(graph, call, 'scale')
  const part = (call.known.parts as Parts).query
  const depth = part?.size ?? shapeOf(graph, operandOf(call, 'query'))?.at(-1)
  return given === undefined || given[0] !== undefined
    ? given?.[0]
    : typeof depth === 'number'
      ? 1 / Math.sqrt(depth)
      : undefined
}

/** Keys or values of fewer heads, each repeated for the queries that share it: `repeat_kv` in its nodes. */
const repeated = (of: string): Readonly<Record<string, PatternCall>> => ({
  [`${of}Merged`]: sharedOf('Reshape', { data: `${of}Repeated` }),
  [`${of}Repeated`]: shared({
    ops: ['Expand'],
    where: ({ known }) => known.mode !== 'explicit',
    reads: { data: `${of}Apart` }
  }),
  [`${of}Apart`]: shared({ ops: ['Unsqueeze', 'Reshape'], reads: { data: of } })
})

/** Attention whose heads of queries share heads of keys and values reads these as they are before they are repeated. */
export const sharedHeadsPattern: Pattern = {
  name: 'shared heads',
  calls: {
    ...repeated('key'),
    ...repeated('value'),
    attention: {
      ops: ['ScaledDotProductAttention'],
      where: ({ known }) => known.group === 1 && known.keysInColumns === false,
      reads: { key: 'keyMerged', value: 'valueMerged' }
    }
  },
  root: 'attention',
  guard: (match, graph) => groupOf(match, graph) !== undefined,
  fuse(match, graph) {
    const { call } = match.calls.get('attention')!
    const inputs = [...call.inputs]
    for (const name of ['key', 'value']) inputs[positionOf(call, name)] = match.values.get(name)
    return { call: altered(call, { inputs, known: { ...call.known, group: groupOf(match, graph) } }) }
  }
}

/** Heads of queries that share a head of keys, and as many one of values; undefined where this is not what is done. */
function groupOf({ calls, values }: Match, graph: PlanGraph): number | undefined {
  const { call } = calls.get('attention')!
  const query = shapeOf(graph, operandOf(call, 'query'))
  const shapeAfter = (label: string): readonly Dim[] | undefined => shapeOf(graph, calls.get(label)?.call.outputs[0])
  const [group, other] = ['key', 'value'].map(name => {
    const shape = shapeOf(graph, values.get(name))
    const many = shapeAfter(`${name}Repeated`)?.[2]
    if (shape?.length !== 4 || query?.length !== 4 || typeof many !== 'number') return undefined
    const [batch, heads, ...matrix] = shape
    if (typeof heads !== 'number' || query[1] !== heads * many) return undefined
    // An Expand that is told another number of rows, as that of another layer, repeats one row or changes nothing.
    const rows = shapeAfter(`${name}Repeated`)?.[3] ?? matrix[0]
    const isRepeated =
      areDims(shapeAfter(`${name}Apart`), [batch, heads, 1, ...matrix]) &&
      areDims(shapeAfter(`${name}Repeated`), [batch, heads, many, rows, matrix[1]]) &&
      areDims(shapeAfter(`${name}Merged`), [batch, heads * many, rows, matrix[1]])
    return isRepeated ? many : undefined
  })
  return group === other ? group : undefined
}
