import type { Call } from '../bind/call.ts'
import { rotation } from '../op-kit/rotation.ts'
import type { Dim } from '../shapes/dim.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, type PlanGraph, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall, Reading } from './match.ts'
import { binaryOf, commutative, eitherOf, isAlongLast, numbersOf, sharedOf, unaryOf } from './patterns.ts'

/** Axes that the kernel serves: batches, heads, and a matrix. */
const MAX_RANK = 4

const listOf = (name: string, ...readings: readonly Reading[]): PatternCall => ({
  ops: [name],
  where: ({ inputs }) => inputs.length === 2,
  reads: readings
})

/**
 * The two halves of the rows of x: `low` and `high`, or the outputs of `halves`. Others may read them, too, such as the
 * same rotation of other angles.
 */
const HALVES: Readonly<Record<string, PatternCall>> = {
  low: sharedOf('Slice', { data: 'x' }),
  high: sharedOf('Slice', { data: 'x' }),
  halves: sharedOf('Split', { data: 'x' })
}

/** The second of each pair with the other sign. */
const negated = (...labels: readonly string[]): PatternCall =>
  eitherOf(
    unaryOf('Neg', ...labels),
    commutative('Mul', ...labels.map((label): [string, string] => [label, 'minusOne']))
  )

/** `x * cos + turned * sin`, where `turned` has each pair (a, b) of x as (-b, a). */
const sumOf = (...turned: readonly string[]): Readonly<Record<string, PatternCall>> => ({
  straight: commutative('Mul', ['x', 'cos']),
  across: commutative('Mul', ...turned.map((label): [string, string] => [label, 'sin'])),
  result: commutative('Add', ['straight', 'across'])
})

const fused =
  (interleaved: boolean): Pattern['fuse'] =>
  ({ calls, values }) => {
    const inputs = Object.fromEntries(['x', 'cos', 'sin'].map(label => [label, values.get(label)]))
    return { call: fusedCall(calls.get('result')!.call, rotation, inputs, { interleaved, rowsFirst: false }) }
  }

/** `x * cos + rotate_half(x) * sin`, the rotary positions of Llama and most others. */
const byHalves: Pattern = {
  name: 'rotary positions',
  calls: {
    ...HALVES,
    negated: negated('high', 'halves.1'),
    turned: listOf('Concat', { inputs: 'negated', 'inputs.1': 'low' }, { inputs: 'negated', 'inputs.1': 'halves' }),
    ...sumOf('turned')
  },
  scalars: { minusOne: -1 },
  root: 'result',
  guard: (match, graph) => hasHalves(match, graph) && isLast(match, graph, 'turned') && hasAngles(match, graph, 1),
  fuse: fused(false)
}

/** `(a cos - b sin, b cos + a sin)` of the halves a and b of each row, joined. */
const byProducts: Pattern = {
  name: 'rotary positions',
  calls: {
    ...HALVES,
    lowCos: commutative('Mul', ['low', 'cos'], ['halves', 'cos']),
    lowSin: commutative('Mul', ['low', 'sin'], ['halves', 'sin']),
    highCos: commutative('Mul', ['high', 'cos'], ['halves.1', 'cos']),
    highSin: commutative('Mul', ['high', 'sin'], ['halves.1', 'sin']),
    first: binaryOf('Sub', ['lowCos', 'highSin']),
    second: commutative('Add', ['highCos', 'lowSin']),
    result: listOf('Concat', { inputs: 'first', 'inputs.1': 'second' })
  },
  root: 'result',
  guard: (match, graph) => hasHalves(match, graph) && isLast(match, graph, 'result') && hasAngles(match, graph, 2),
  fuse: fused(false)
}

/** `x * cos + rotate_every_two(x) * sin`, where neighbours are pairs, as in GPT-J. */
const byNeighbours: Pattern = {
  name: 'rotary positions',
  calls: {
    even: sharedOf('Slice', { data: 'x' }),
    odd: sharedOf('Slice', { data: 'x' }),
    negated: negated('odd'),
    evens: eitherNamed(['Unsqueeze', 'Reshape'], 'even'),
    odds: eitherNamed(['Unsqueeze', 'Reshape'], 'negated'),
    pairs: listOf('Concat', { inputs: 'odds', 'inputs.1': 'evens' }),
    turned: eitherNamed(['Reshape'], 'pairs'),
    ...sumOf('turned')
  },
  scalars: { minusOne: -1 },
  root: 'result',
  guard: (match, graph) => hasNeighbours(match, graph) && hasAngles(match, graph, 1),
  fuse: fused(true)
}

/** Rotary positions in nodes as one call. */
export const rotationPatterns: readonly Pattern[] = [byHalves, byProducts, byNeighbours]

function eitherNamed(names: readonly string[], data: string): PatternCall {
  return { ops: names, reads: { data } }
}

/** Elements of a row of x, where they are known and even. */
function sizeOf({ values }: Match, graph: PlanGraph): number | undefined {
  const size = shapeOf(graph, values.get('x'))?.at(-1)
  return typeof size === 'number' && size > 0 && size % 2 === 0 ? size : undefined
}

/**
 * Whether x and the angles are float32, the angles `1 / part` of a row of x, both of the same dims. Those of batches
 * may be names of different inputs, which a file does not say to be the same: x and angles are broadcast to each other.
 */
function hasAngles(match: Match, graph: PlanGraph, part: number): boolean {
  const { values } = match
  const [x, cos, sin] = ['x', 'cos', 'sin'].map(label => shapeOf(graph, values.get(label)))
  const size = sizeOf(match, graph)
  if (x === undefined || x.length > MAX_RANK || size === undefined || cos === undefined || sin === undefined)
    return false
  return (
    ['x', 'cos', 'sin'].every(label => isFloat32(graph, values.get(label))) &&
    cos.at(-1) === size / part &&
    areDims(cos, sin) &&
    cos.length <= x.length
  )
}

/** Whether the parts of x are its first and its second half along the last axis. */
function hasHalves(match: Match, graph: PlanGraph): boolean {
  const { calls } = match
  const size = sizeOf(match, graph)
  if (size === undefined) return false
  const half = size / 2
  const split = calls.get('halves')?.call
  if (split) {
    const isInTwo = split.outputs.length === 2 && split.outputs.every(id => shapeOf(graph, id)?.at(-1) === half)
    return isInTwo && isOnLastAxis(graph, split, size)
  }
  return ['low', 'high'].every((label, i) => isSlice(match, graph, label, { start: i * half, step: 1, size }))
}

/** Whether the parts of x are every second element of its rows, stacked so that neighbours change places. */
function hasNeighbours(match: Match, graph: PlanGraph): boolean {
  const { calls, values } = match
  const size = sizeOf(match, graph)
  const x = shapeOf(graph, values.get('x'))
  if (size === undefined || x === undefined) return false
  const of = (label: string): readonly Dim[] | undefined => shapeOf(graph, calls.get(label)!.call.outputs[0])
  const columns = [...x.slice(0, -1), size / 2]
  return (
    ['even', 'odd'].every((label, start) => isSlice(match, graph, label, { start, step: 2, size })) &&
    ['evens', 'odds'].every(label => areDims(of(label), [...columns, 1])) &&
    areDims(of('pairs'), [...columns, 2]) &&
    areDims(of('turned'), x)
  )
}

/** Whether a Slice takes half of the elements of each row, from `start` on. */
function isSlice(
  { calls }: Match,
  graph: PlanGraph,
  label: string,
  { start, step, size }: { readonly start: number; readonly step: number; readonly size: number }
): boolean {
  const { call } = calls.get(label)!
  const [starts, axes, steps] = ['starts', 'axes', 'steps'].map(name => numbersOf(graph, call, name))
  const rank = shapeOf(graph, call.outputs[0])?.length ?? 0
  const first = starts?.length === 1 ? starts[0] : undefined
  return (
    (first === start || first === start - size) &&
    axes?.length === 1 &&
    (axes[0] === -1 || axes[0] === rank - 1) &&
    (steps?.[0] ?? 1) === step &&
    shapeOf(graph, call.outputs[0])?.at(-1) === size / 2
  )
}

/** Whether a call of the match joins rows: the result has rows of all of x. */
const isLast = (match: Match, graph: PlanGraph, label: string): boolean => {
  const { call } = match.calls.get(label)!
  return isOnLastAxis(graph, call, sizeOf(match, graph)!)
}

/** Whether a Concat or a Split works along the last axis, of which the whole has so many elements. */
function isOnLastAxis(graph: PlanGraph, call: Call, size: number): boolean {
  const whole = call.op.name === 'Split' ? call.inputs[0] : call.outputs[0]
  const shape = shapeOf(graph, whole)
  return shape?.at(-1) === size && isAlongLast(graph, call, shape.length)
}
