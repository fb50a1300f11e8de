import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Parameters } from '../op-kit/define.ts'
import { normalizeAxes, sameDim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, type PlanGraph, positionOf, scalarOf, shapeOf } from './graph.ts'
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

/** Means that keep their axes. */
const meanOf = (...readings: readonly string[]): PatternCall => ({
  ops: ['ReduceMean'],
  where: ({ known }) => known.keepDims === true,
  reads: readings.map(data => ({ data }))
})

/** 1 / sqrt(shifted) in its forms, and the root itself. */
const INVERSES: Readonly<Record<string, PatternCall>> = {
  root: unaryOf('Sqrt', 'shifted'),
  reciprocal: unaryOf('Reciprocal', 'root'),
  quotient: binaryOf('Div', ['one', 'root']),
  power: powerOf('shifted', 'minusHalf')
}
const INVERSE_SCALARS = { one: 1, two: 2, minusHalf: -0.5, epsilon: 'any' } as const

/** A value divided by the root, or multiplied by its inverse. */
const overRoot = (value: string): PatternCall =>
  eitherOf(
    binaryOf('Div', [value, 'root']),
    commutative('Mul', [value, 'reciprocal'], [value, 'quotient'], [value, 'power'])
  )

/** MVN in the place of the match's `result`, over the axes of these means. */
function mvnOf(
  match: Match,
  graph: PlanGraph,
  means: readonly string[],
  centers: boolean
): ReturnType<Pattern['fuse']> {
  const op = operatorOf(graph, 'MeanVarianceNormalization', 13)
  const axes = axesTogether(match, graph, means)
  const epsilon = scalarOf(graph, match.values.get('epsilon'))
  const parameters: Parameters = { axes, axesFrom: undefined, centers, scales: true, epsilon, epsilonInside: true }
  return op && { call: fusedCall(match.calls.get('result')!.call, op, { x: match.values.get('x') }, parameters) }
}

/** `(x - mean) / sqrt(variance + epsilon)`: the first seven nodes of a layer normalization. */
export const meanVariancePattern: Pattern = {
  name: 'MVN',
  calls: {
    mean: meanOf('x'),
    centered: binaryOf('Sub', ['x', 'mean']),
    // Some exporters write the difference once for the variance and once more for the result.
    again: binaryOf('Sub', ['x', 'mean']),
    powerOfIt: powerOf('centered', 'two'),
    powerOfOther: powerOf('again', 'two'),
    square: commutative('Mul', ['centered', 'centered'], ['again', 'again']),
    difference: commutative('SquaredDifference', ['x', 'mean']),
    variance: meanOf('powerOfIt', 'powerOfOther', 'square', 'difference'),
    shifted: commutative('Add', ['variance', 'epsilon']),
    ...INVERSES,
    result: overRoot('centered')
  },
  scalars: INVERSE_SCALARS,
  root: 'result',
  guard: (match, graph) => axesTogether(match, graph, ['mean', 'variance']) !== undefined,
  fuse: (match, graph) => mvnOf(match, graph, ['mean', 'variance'], true)
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
    return mvn.known.centers === true
      ? layerNorm(graph, calls.get('scaled')!.call, inputs, axis, epsilon)
      : rmsNorm(graph, calls.get('scaled')!.call, inputs, axis, epsilon)
  }
}

/** A bias after a layer normalization that has none. */
export const layerNormBiasPattern: Pattern = {
  name: 'LayerNormalization',
  calls: {
    scaled: {
      ops: ['LayerNormalization'],
      where: call => call.inputs[positionOf(call, 'bias')] === undefined,
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
    powerOfX: powerOf('x', 'two'),
    square: commutative('Mul', ['x', 'x']),
    mean: meanOf('powerOfX', 'square'),
    shifted: commutative('Add', ['mean', 'epsilon']),
    ...INVERSES,
    result: overRoot('x')
  },
  scalars: INVERSE_SCALARS,
  root: 'result',
  guard: (match, graph) => axesTogether(match, graph, ['mean']) !== undefined,
  fuse: (match, graph) => mvnOf(match, graph, ['mean'], false)
}

/** A call of a normalization in the place of a pattern's root. */
const normOf =
  (type: string, opset: number) =>
  (
    graph: PlanGraph,
    root: Call,
    inputs: readonly (ValueId | undefined)[],
    axis: number,
    epsilon: number
  ): ReturnType<Pattern['fuse']> => {
    const attributes = { axis: intAttribute(axis), epsilon: floatAttribute(epsilon) }
    const call = standardCall(graph, root, { type, opset, inputs, attributes })
    return call && { call }
  }
const layerNorm = normOf('LayerNormalization', 17)
const rmsNorm = normOf('RMSNormalization', 23)

/**
 * The axes over which all these means of a match are taken, the last ones of x; undefined where they are others, where
 * x is not float32, and where a constant such as epsilon gives the result more axes.
 */
function axesTogether({ calls, values }: Match, graph: PlanGraph, labels: readonly string[]): number[] | undefined {
  const x = values.get('x')
  const rank = shapeOf(graph, x)?.length
  const ranks = ['shifted', 'result'].map(label => shapeOf(graph, calls.get(label)!.call.outputs[0])?.length)
  if (rank === undefined || ranks.some(other => other !== rank) || !isFloat32(graph, x)) return undefined
  const [first, ...others] = labels.map(label => {
    const { call } = calls.get(label)!
    const axes = numbersOf(graph, call, 'axes')
    // An empty list means all axes in some versions and none in others.
    return axes === undefined || axes.length === 0 ? undefined : lastAxes(axes, rank)
  })
  return first !== undefined && others.every(other => other?.length === first.length) ? first : undefined
}

/** Axes in ascending order if they are the last ones of so many; else undefined. */
function lastAxes(axes: readonly number[], rank: number): number[] | undefined {
  const sorted = [...normalizeAxes(axes, rank)].sort((a, b) => a - b)
  return sorted.every((axis, i) => axis === rank - sorted.length + i) ? sorted : undefined
}

function axesOfMvn(graph: PlanGraph, call: Call): number[] | undefined {
  const rank = shapeOf(graph, call.inputs[positionOf(call, 'x')])?.length
  const from = call.known.axesFrom as number | undefined
  if (rank === undefined) return undefined
  if (from !== undefined)
    return lastAxes(
      Array.from({ length: Math.max(0, rank - from) }, (_, i) => from + i),
      rank
    )
  const axes = numbersOf(graph, call, 'axes')
  return axes === undefined || axes.length === 0 ? undefined : lastAxes(axes, rank)
}

/** Whether a float32 value has the dims of the last `count` axes of x, and no others but 1 before them. */
function isRow(graph: PlanGraph, id: ValueId | undefined, x: ValueId | undefined, count: number | undefined): boolean {
  const [row, all] = [shapeOf(graph, id), shapeOf(graph, x)]
  if (!row || !all || count === undefined || row.length < count || row.length > all.length) return false
  const last = all.slice(all.length - count)
  const [before, own] = [row.slice(0, row.length - count), row.slice(row.length - count)]
  return isFloat32(graph, id) && before.every(dim => dim === 1) && own.every((dim, i) => sameDim(dim, last[i]))
}
