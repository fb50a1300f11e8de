import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Parameters } from '../op-kit/define.ts'
import { normalizeAxes, sameDim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, operandOf, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import {
  binaryOf,
  commutative,
  eitherOf,
  floatAttribute,
  intAttribute,
  numbersOf,
  operatorOf,
  powerOf,
  standardCall,
  unaryOf
} from './patterns.ts'

type Fused = ReturnType<Pattern['fuse']>

/** Means that keep their axes. Of three axes, tf2onnx writes the mean over the last one as a pool over all of it. */
const meanOf = (...readings: readonly string[]): PatternCall =>
  eitherOf(
    { ops: ['ReduceMean'], where: ({ known }) => known.keepDims === true, reads: readings.map(data => ({ data })) },
    unaryOf('GlobalAveragePool', ...readings)
  )

/** 1 / sqrt(shifted) in its forms, and the root itself, which may be that of a variance without epsilon. */
const INVERSES: Readonly<Record<string, PatternCall>> = {
  root: unaryOf('Sqrt', 'shifted', 'variance'),
  reciprocal: unaryOf('Reciprocal', 'root'),
  quotient: binaryOf('Div', ['one', 'root']),
  power: powerOf('shifted', 'minusHalf')
}
const INVERSE_SCALARS = { zero: 0, one: 1, two: 2, minusHalf: -0.5, epsilon: 'any' } as const

/** The mean of x, the variance around it in its forms, and what divides by its root. */
const VARIANCE: Readonly<Record<string, PatternCall>> = {
  mean: meanOf('x'),
  centered: binaryOf('Sub', ['x', 'mean']),
  // Some exporters write the difference once for the variance and once more for the result.
  again: binaryOf('Sub', ['x', 'mean']),
  powerOfIt: powerOf('centered', 'two'),
  powerOfOther: powerOf('again', 'two'),
  square: commutative('Mul', ['centered', 'centered'], ['again', 'again']),
  difference: commutative('SquaredDifference', ['x', 'mean']),
  variance: meanOf('powerOfIt', 'powerOfOther', 'square', 'difference'),
  // Flax takes the square of the mean from the mean of squares, which rounding may leave below 0.
  squareOfX: commutative('Mul', ['x', 'x']),
  powerOfX: powerOf('x', 'two'),
  meanOfSquares: meanOf('squareOfX', 'powerOfX'),
  squareOfMean: commutative('Mul', ['mean', 'mean']),
  powerOfMean: powerOf('mean', 'two'),
  moments: binaryOf('Sub', ['meanOfSquares', 'squareOfMean'], ['meanOfSquares', 'powerOfMean']),
  positive: {
    ops: ['Max'],
    where: ({ inputs }) => inputs.length === 2,
    reads: [
      { 'inputs.0': 'moments', 'inputs.1': 'zero' },
      { 'inputs.0': 'zero', 'inputs.1': 'moments' }
    ]
  },
  shifted: commutative('Add', ['variance', 'epsilon'], ['positive', 'epsilon'], ['moments', 'epsilon']),
  ...INVERSES
}

/** The means that a match of {@link VARIANCE} has. */
const meansOf = ({ calls }: Match): readonly string[] => ['mean', calls.has('variance') ? 'variance' : 'meanOfSquares']

/** The mean of squares of x, and what divides by its root. */
const SQUARES: Readonly<Record<string, PatternCall>> = {
  powerOfX: powerOf('x', 'two'),
  square: commutative('Mul', ['x', 'x']),
  variance: meanOf('powerOfX', 'square'),
  shifted: commutative('Add', ['variance', 'epsilon']),
  ...INVERSES
}

/** A value divided by the root, or multiplied by its inverse. */
const overRoot = (value: string): PatternCall =>
  eitherOf(
    binaryOf('Div', [value, 'root']),
    commutative('Mul', [value, 'reciprocal'], [value, 'quotient'], [value, 'power'])
  )

type MakeNorm = (
  graph: PlanGraph,
  root: Call,
  inputs: readonly (ValueId | undefined)[],
  axis: number,
  epsilon: number
) => Fused

/** Makes a call of a normalization in the place of a pattern's root. */
const normOf =
  (type: string, opset: number): MakeNorm =>
  (graph, root, inputs, axis, epsilon) => {
    const attributes = { axis: intAttribute(axis), epsilon: floatAttribute(epsilon) }
    const call = standardCall(graph, root, { type, opset, inputs, attributes })
    return call && { call }
  }
const layerNorm = normOf('LayerNormalization', 17)
const rmsNorm = normOf('RMSNormalization', 23)

/** MVN in the place of the match's `result`, over the axes of these means. */
function mvnOf(match: Match, graph: PlanGraph, means: readonly string[], centers: boolean): Fused {
  const op = operatorOf(graph, 'MeanVarianceNormalization', 13)
  const axes = axesTogether(match, graph, means)
  const epsilon = epsilonOf(match, graph)
  const parameters: Parameters = { axes, axesFrom: undefined, centers, scales: true, epsilon, epsilonInside: true }
  return op && { call: fusedCall(match.calls.get('result')!.call, op, { x: match.values.get('x') }, parameters) }
}

/** `(x - mean) / sqrt(variance + epsilon)`: the first seven nodes of a layer normalization. */
export const meanVariancePattern: Pattern = {
  name: 'MVN',
  calls: {
    ...VARIANCE,
    result: overRoot('centered')
  },
  scalars: INVERSE_SCALARS,
  root: 'result',
  guard: (match, graph) => axesTogether(match, graph, meansOf(match)) !== undefined,
  fuse: (match, graph) => mvnOf(match, graph, meansOf(match), true)
}

/** A scale after a normalization to mean 0 and variance 1, or by the root mean square. */
export const layerNormPattern: Pattern = {
  name: 'LayerNormalization',
  calls: {
    // Divided by the deviation, epsilon inside the root.
    normalized: {
      ops: ['MeanVarianceNormalization'],
      where: ({ known }) => known.scales === true && known.epsilonInside === true,
      reads: { x: 'x' }
    },
    scaled: commutative('Mul', ['normalized', 'scale'])
  },
  root: 'scaled',
  guard: ({ calls, values }, graph) => {
    const count = axesOfMvn(graph, calls.get('normalized')!.call)?.length
    return isFloat32(graph, values.get('x')) && isRow(graph, values.get('scale'), values.get('x'), count)
  },
  fuse: ({ calls, values }, graph) => {
    const mvn = calls.get('normalized')!.call
    const axis = -(axesOfMvn(graph, mvn)?.length ?? 1)
    const inputs = [values.get('x'), values.get('scale')]
    const epsilon = mvn.known.epsilon as number
    const norm = mvn.known.centers === true ? layerNorm : rmsNorm
    return norm(graph, calls.get('scaled')!.call, inputs, axis, epsilon)
  }
}

/** A bias after a layer normalization that has none. */
export const layerNormBiasPattern: Pattern = {
  name: 'LayerNormalization',
  calls: {
    scaled: {
      ops: ['LayerNormalization'],
      where: call => operandOf(call, 'bias') === undefined,
      reads: { x: 'x', scale: 'scale' }
    },
    sum: commutative('Add', ['scaled', 'bias'])
  },
  root: 'sum',
  guard: ({ calls, values }, graph) => {
    const x = values.get('x')
    const rank = shapeOf(graph, x)?.length
    const axis = calls.get('scaled')!.call.known.axis as number
    const count = rank !== undefined && axis >= 0 ? rank - axis : -axis
    return isFloat32(graph, x) && isRow(graph, values.get('bias'), x, count)
  },
  fuse: ({ calls, values }, graph) => {
    const { axis, epsilon } = calls.get('scaled')!.call.known as { readonly axis: number; readonly epsilon: number }
    const inputs = [values.get('x'), values.get('scale'), values.get('bias')]
    return layerNorm(graph, calls.get('sum')!.call, inputs, axis, epsilon)
  }
}

/**
 * `x / sqrt(mean of x^2 + epsilon)`, the normalization of Llama and T5 before its scale, which OpenVINO leaves out
 * where it is 1.
 */
export const rootMeanSquarePattern: Pattern = {
  name: 'MVN',
  calls: {
    ...SQUARES,
    result: overRoot('x')
  },
  scalars: INVERSE_SCALARS,
  root: 'result',
  guard: (match, graph) => axesTogether(match, graph, ['variance']) !== undefined,
  fuse: (match, graph) => mvnOf(match, graph, ['variance'], false)
}

/** The scale divided by the root, or multiplied by its inverse. */
const WEIGHTS = overRoot('scale')

/** A pattern of a normalization that scales the inverse of the root, which then scales x. */
const scaledInverse = (
  name: string,
  calls: Readonly<Record<string, PatternCall>>,
  labels: (match: Match) => readonly string[],
  norm: MakeNorm
): Pattern => ({
  name,
  calls: { ...calls, weights: WEIGHTS },
  scalars: INVERSE_SCALARS,
  root: 'result',
  guard: (match, graph) => {
    const [x, scale, bias] = ['x', 'scale', 'bias'].map(label => match.values.get(label))
    const count = axesTogether(match, graph, labels(match))?.length
    return isRow(graph, scale, x, count) && (bias === undefined || isRow(graph, bias, x, count))
  },
  fuse: (match, graph) => {
    const inputs = ['x', 'scale', 'bias'].flatMap(label => match.values.get(label) ?? [])
    const axis = -axesTogether(match, graph, labels(match))!.length
    return norm(graph, match.calls.get('result')!.call, inputs, axis, epsilonOf(match, graph))
  }
})

/** Normalizations in the forms of Keras and of batch normalization, which scale the inverse of the root first. */
export const scaledInversePatterns: readonly Pattern[] = [
  // x * weights + (bias - mean * weights)
  scaledInverse(
    'LayerNormalization',
    {
      ...VARIANCE,
      scaled: commutative('Mul', ['x', 'weights']),
      negative: unaryOf('Neg', 'mean'),
      negativeOffset: commutative('Mul', ['negative', 'weights']),
      offset: commutative('Mul', ['mean', 'weights']),
      shift: eitherOf(commutative('Add', ['negativeOffset', 'bias']), binaryOf('Sub', ['bias', 'offset'])),
      result: commutative('Add', ['scaled', 'shift'])
    },
    meansOf,
    layerNorm
  ),
  scaledInverse(
    'LayerNormalization',
    { ...VARIANCE, result: commutative('Mul', ['centered', 'weights']) },
    meansOf,
    layerNorm
  ),
  scaledInverse(
    'RMSNormalization',
    { ...SQUARES, result: commutative('Mul', ['x', 'weights']) },
    () => ['variance'],
    rmsNorm
  )
]

/** A number that is added to the variance, 0 where there is none. */
const epsilonOf = ({ values }: Match, graph: PlanGraph): number => scalarOf(graph, values.get('epsilon')) ?? 0

/**
 * The axes over which all these means of a match are taken, the last ones of x; undefined where they are others, where
 * x is not float32, and where a constant such as epsilon gives the result more axes.
 */
function axesTogether({ calls, values }: Match, graph: PlanGraph, labels: readonly string[]): number[] | undefined {
  const x = values.get('x')
  const rank = shapeOf(graph, x)?.length
  const ranks = ['shifted', 'result']
    .flatMap(label => calls.get(label) ?? [])
    .map(({ call }) => shapeOf(graph, call.outputs[0])?.length)
  if (rank === undefined || ranks.some(other => other !== rank) || !isFloat32(graph, x)) return undefined
  const [first, ...others] = labels.map(label => axesOfMean(graph, calls.get(label)!.call, rank))
  return first !== undefined && others.every(other => other?.length === first.length) ? first : undefined
}

function axesOfMean(graph: PlanGraph, call: Call, rank: number): number[] | undefined {
  if (call.op.name === 'GlobalAveragePool') return axesFrom(2, rank)
  return axesGiven(graph, call, rank)
}

/** The axes of a call, if they are the last ones. */
function axesGiven(graph: PlanGraph, call: Call, rank: number): number[] | undefined {
  const axes = numbersOf(graph, call, 'axes')
  // An empty list means all axes in some versions and none in others.
  return axes === undefined || axes.length === 0 ? undefined : lastAxes(axes, rank)
}

const axesFrom = (from: number, rank: number): number[] =>
  Array.from({ length: Math.max(0, rank - from) }, (_, i) => from + i)

/** Axes in ascending order if they are the last ones of so many; else undefined. */
function lastAxes(axes: readonly number[], rank: number): number[] | undefined {
  const sorted = [...normalizeAxes(axes, rank)].sort((a, b) => a - b)
  return sorted.every((axis, i) => axis === rank - sorted.length + i) ? sorted : undefined
}

function axesOfMvn(graph: PlanGraph, call: Call): number[] | undefined {
  const rank = shapeOf(graph, operandOf(call, 'x'))?.length
  const from = call.known.axesFrom as number | undefined
  if (rank === undefined) return undefined
  return from === undefined ? axesGiven(graph, call, rank) : lastAxes(axesFrom(from, rank), rank)
}

/** Whether a float32 value has the dims of the last `count` axes of x, and no others but 1 before them. */
function isRow(graph: PlanGraph, id: ValueId | undefined, x: ValueId | undefined, count: number | undefined): boolean {
  const [row, all] = [shapeOf(graph, id), shapeOf(graph, x)]
  if (!row || !all || count === undefined || row.length < count || row.length > all.length) return false
  const last = all.slice(all.length - count)
  const [before, own] = [row.slice(0, row.length - count), row.slice(row.length - count)]
  return isFloat32(graph, id) && before.every(dim => dim === 1) && own.every((dim, i) => sameDim(dim, last[i]))
}
