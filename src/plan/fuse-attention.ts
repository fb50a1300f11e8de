import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Parts } from '../kernels/attention/heads.ts'
import type { Broadcast } from '../op-kit/broadcast.ts'
import type { Parameters } from '../op-kit/define.ts'
import type { FusedParams } from '../op-kit/fused.ts'
import type { Dim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, type PlanGraph, positionOf, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall, Reading } from './match.ts'
import { binaryOf, commutative, numbersOf, operatorOf, unaryOf } from './patterns.ts'

/** Axes that the kernel serves: batches, heads, and a matrix. */
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

/** A call that others may read, too. */
const repeatedly = (call: PatternCall): PatternCall => ({ ...call, repeats: true })

/** Scores of queries and keys, scaled or not. */
export const SCORES: Readonly<Record<string, PatternCall>> = {
  product: {
    ops: ['MatMul'],
    where: ({ known }) => isPlain(known),
    reads: READS
  },
  scaledQuery: repeatedly(commutative('Mul', ['query', 'queryFactor'])),
  scaledKey: repeatedly(commutative('Mul', ['swapped', 'keyFactor'], ['key', 'keyFactor'])),
  swapped: { ops: ['Transpose'], where: swapsRowsAndColumns, reads: { data: 'key' }, repeats: true },
  divided: binaryOf('Div', ['product', 'divisor']),
  multiplied: commutative('Mul', ['product', 'factor'])
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
export const SCALED = ['product', 'divided', 'multiplied']

/** `softmax(query key scale + mask) value` in its nodes, with or without a scale and a mask. */
export const attentionPattern: Pattern = {
  name: 'attention',
  calls: {
    ...SCORES,
    masked: commutative('Add', ...SCALED.map((scores): [string, string] => [scores, 'mask'])),
    // Where(mask, scores, number) and Where(mask, number, scores).
    chosen: {
      ops: ['Where'],
      where: ({ known }) => (known.broadcast as Broadcast).mode !== 'aligned',
      reads: SCALED.flatMap(scores => [
        { condition: 'visible', whenTrue: scores, whenFalse: 'hiddenScore' },
        { condition: 'hiding', whenTrue: 'hiddenScore', whenFalse: scores }
      ])
    },
    // A mask of the dims of the scores, or a constant one of a row, has become an epilogue of the product.
    withMask: {
      ops: ['FusedMatMul'],
      where: addsOneThing,
      reads: ['residual', 'bias'].flatMap(name => READS.map(reading => ({ ...reading, [name]: 'mask' })))
    },
    weights: softmaxOf('masked', 'chosen', 'withMask', ...SCALED),
    ...SAFE,
    values: valuesOf(...['weights', 'safe'].map(a => ({ a, b: 'value' })))
  },
  scalars: { zero: 0, divisor: 'any', factor: 'any', queryFactor: 'any', keyFactor: 'any', hiddenScore: 'any' },
  root: 'values',
  guard: isServed,
  fuse(match, graph) {
    const { calls, values } = match
    const op = operatorOf(graph, 'ScaledDotProductAttention', 13, 'openvino')
    const mask = maskOf(match)
    const hidden = {
      where: values.has('hiding') ? 1 : 0,
      score: scalarOf(graph, values.get('hiddenScore')) ?? -Infinity
    }
    const inputs = { query: values.get('query'), key: values.get('key'), value: values.get('value'), mask }
    const plain = { causal: false, group: 1, rowsFirst: {}, parts: {} }
    const parameters = {
      ...plain,
      scale: scaleOf(match, graph),
      keysInColumns: keysInColumns(match),
      hidden,
      safe: calls.has('safe')
    }
    return op && { call: fusedCall(calls.get('values')!.call, op, inputs, parameters) }
  }
}

/** Either the Transpose or the product swaps rows and columns of keys, or none or both do. */
export const keysInColumns = (match: Match): boolean =>
  (productOf(match).known.transposeB === true) === match.calls.has('swapped')

/** A product of weights and values. */
export function valuesOf(...readings: readonly Reading[]): PatternCall {
  return {
    ops: ['MatMul'],
    where: ({ known }) => isPlain(known) && known.transposeB === false && known.alpha === 1,
    reads: readings
  }
}

/** Whether a Transpose is one of the last two axes. */
function swapsRowsAndColumns(call: Call, graph: PlanGraph): boolean {
  const order = numbersOf(graph, call, 'order')
  if (order === undefined || order.length < 2 || order[0] === undefined) return false
  const last = order.length - 1
  return order.every((axis, i) => axis === (i < last - 1 ? i : 2 * last - 1 - i))
}

/** Whether one thing is added to a product, such as a mask. */
function addsOneThing({ known }: Call): boolean {
  const { epilogue = [], activation } = known as unknown as Partial<FusedParams>
  return epilogue.length === 1 && !activation && isPlain(known)
}

const maskOf = ({ values }: Match): ValueId | undefined =>
  values.get('mask') ?? values.get('visible') ?? values.get('hiding')

const productOf = ({ calls }: Match): Call => (calls.get('product') ?? calls.get('withMask'))!.call

/** What scores are multiplied by. */
export function scaleOf(match: Match, graph: PlanGraph): number {
  const { values } = match
  const alpha = productOf(match).known.alpha as number
  const factors = ['factor', 'queryFactor', 'keyFactor'].map(label => scalarOf(graph, values.get(label)) ?? 1)
  return factors.reduce((product, factor) => product * factor, alpha) / (scalarOf(graph, values.get('divisor')) ?? 1)
}

/** Float32 of as many axes everywhere, softmax along the last axis, and a mask that leaves the dims of the scores. */
function isServed(match: Match, graph: PlanGraph): boolean {
  const { calls, values } = match
  const scores = shapeOf(graph, productOf(match).outputs[0])
  const made = shapeOf(graph, calls.get('values')!.call.outputs[0])
  const rank = scores?.length
  if (!scores || rank === undefined || rank < 3 || rank > MAX_RANK || made?.length !== rank) return false
  const operands = ['query', 'key', 'value'].map(label => values.get(label))
  if (!operands.every(id => isFloat32(graph, id) && shapeOf(graph, id)?.length === rank)) return false
  const softmax = calls.get('weights')!.call
  const [axis] = numbersOf(graph, softmax, 'axis') ?? []
  const weights = shapeOf(graph, softmax.outputs[0])
  const keepsDims = areDims(weights, scores)
  const mask = values.get('mask')
  return (axis === -1 || axis === rank - 1) && keepsDims && (mask === undefined || isFloat32(graph, mask))
}

/** Attention whose queries or keys are scaled before it, as OpenVINO has it where the file scales both. */
export const scaledOperandPattern: Pattern = {
  name: 'attention',
  calls: {
    scaled: repeatedly(commutative('Mul', ['x', 'factor'])),
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
    const name = call.inputs[positionOf(call, 'query')] === scaled ? 'query' : 'key'
    const inputs = call.inputs.with(positionOf(call, name), values.get('x'))
    const scale = ownScale(graph, call)! * scalarOf(graph, values.get('factor'))!
    return { call: altered(call, { inputs, known: { ...call.known, scale }, dataDependent: [] }) }
  }
}

/** What attention scales scores by, where that is known. */
function ownScale(graph: PlanGraph, call: Call): number | undefined {
  const given = numbersOf(graph, call, 'scale')
  const part = (call.known.parts as Parts).query
  const depth = part?.size ?? shapeOf(graph, call.inputs[positionOf(call, 'query')])?.at(-1)
  return given === undefined || given[0] !== undefined
    ? given?.[0]
    : typeof depth === 'number'
      ? 1 / Math.sqrt(depth)
      : undefined
}

/** Keys or values of fewer heads, each repeated for the queries that share it: `repeat_kv` in its nodes. */
const repeated = (of: string): Readonly<Record<string, PatternCall>> => ({
  [`${of}Merged`]: { ops: ['Reshape'], reads: { data: `${of}Repeated` }, repeats: true },
  [`${of}Repeated`]: {
    ops: ['Expand'],
    where: ({ known }) => known.mode !== 'explicit',
    reads: { data: `${of}Apart` },
    repeats: true
  },
  [`${of}Apart`]: { ops: ['Unsqueeze', 'Reshape'], reads: { data: of }, repeats: true }
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
  const query = shapeOf(graph, call.inputs[positionOf(call, 'query')])
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
