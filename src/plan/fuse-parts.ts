import { altered } from '../bind/call.ts'
import type { Part, Parts, RowsFirst } from '../kernels/attention/heads.ts'
import { areDims, type PlanGraph, positionOf, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import { numbersOf, sharedOf } from './patterns.ts'

// Attention reads queries, keys and values where they lie in one projection of all of them, instead of copies.

type Name = keyof Parts

const NAMES: readonly Name[] = ['query', 'key', 'value']

/** Attention of rank 4 that reads one of these, with heads before rows or behind them. */
const attentionOf = (name: Name, rowsFirst: boolean, ...labels: readonly string[]): PatternCall => ({
  ops: ['ScaledDotProductAttention'],
  where: (call, graph) =>
    ((call.known.rowsFirst as RowsFirst)[name] === true) === rowsFirst &&
    !(name === 'key' && call.known.keysInColumns === true) &&
    shapeOf(graph, call.outputs[0])?.length === 4,
  reads: labels.map(label => ({ [name]: label }))
})

/** Any of the first outputs of a Split. */
const anyPart = (name: string): PatternCall => sharedOf(name, ...[0, 1, 2].map(i => ({ data: `split.${i}` })))

type PartOf = (match: Match, graph: PlanGraph) => Part | undefined

/** Attention whose operand becomes the part of `x` that `partOf` finds. */
const partPattern = (name: Name, calls: Pattern['calls'], partOf: PartOf): Pattern => ({
  name: 'attention',
  calls,
  scalars: { index: 'any' },
  root: 'attention',
  guard: (match, graph) => partOf(match, graph) !== undefined,
  fuse(match, graph) {
    const { call } = match.calls.get('attention')!
    const inputs = call.inputs.with(positionOf(call, name), match.values.get('x'))
    const { [name]: _, ...rowsFirst } = call.known.rowsFirst as RowsFirst
    const parts = { ...(call.known.parts as Parts), [name]: partOf(match, graph) }
    return { call: altered(call, { inputs, known: { ...call.known, rowsFirst, parts } }) }
  }
})

/**
 * Queries, keys and values along an axis of their own, `[batch, rows, 3, heads, size]` or `[batch, rows, heads, 3,
 * size]`, of which a Gather, or a Split and a Squeeze, takes one: after a Transpose that brings this axis to the front
 * and heads before rows, as in vision transformers, or as they are.
 */
function stackedPattern(name: Name, isTurned: boolean): Pattern {
  const from = isTurned ? 'turned' : 'x'
  const calls = {
    ...(isTurned && { turned: sharedOf('Transpose', { data: 'x' }) }),
    gathered: sharedOf('Gather', { data: from, indices: 'index' }),
    split: sharedOf('Split', { data: from }),
    squeezed: anyPart('Squeeze'),
    // What is left of two Transposes that swap rows and columns of keys.
    passed: sharedOf('Identity', { input: 'gathered' }, { input: 'squeezed' }),
    attention: attentionOf(name, !isTurned, 'gathered', 'squeezed', 'passed')
  }
  return partPattern(name, calls, (match, graph) => stackedPart(match, graph, isTurned))
}

function stackedPart(match: Match, graph: PlanGraph, isTurned: boolean): Part | undefined {
  const { calls, values } = match
  const x = shapeOf(graph, values.get('x'))
  const picking = (calls.get('gathered') ?? calls.get('split'))!.call
  const [given] = numbersOf(graph, picking, 'axis') ?? []
  if (x?.length !== 5 || given === undefined) return undefined
  const order = isTurned ? (numbersOf(graph, calls.get('turned')!.call, 'order') ?? []) : [0, 1, 2, 3, 4]
  const axis = order[given < 0 ? given + 5 : given]
  const heads = 5 - axis
  const [many, count, size] = [x[axis], x[heads], x[4]]
  const isOrder = !isTurned || [axis, 0, heads, 1, 4].every((from, i) => order[i] === from)
  if ((axis !== 2 && axis !== 3) || !isOrder) return undefined
  if (typeof many !== 'number' || typeof count !== 'number' || typeof size !== 'number') return undefined
  const index = indexOf(match, graph, many)
  const picked = (calls.get('gathered') ?? calls.get('squeezed'))!.call.outputs[0]
  const dims = isTurned ? [x[0], count, x[1], size] : [x[0], x[1], count, size]
  if (index === undefined || !areDims(shapeOf(graph, picked), dims)) return undefined
  return axis === 2
    ? { heads: count, size, first: index * count * size, spacing: size }
    : { heads: count, size, first: index * size, spacing: many * size }
}

/** Which of `many` is taken. */
function indexOf({ calls, values }: Match, graph: PlanGraph, many: number): number | undefined {
  const split = calls.get('split')?.call
  // Each output of a Split is one of the parts.
  if (split)
    return split.outputs.length === many ? split.outputs.indexOf(calls.get('squeezed')!.call.inputs[0]) : undefined
  const index = scalarOf(graph, values.get('index'))!
  const at = index < 0 ? index + many : index
  return at >= 0 && at < many ? at : undefined
}

/** Queries, keys and values one after the other in each row, which a Split parts before a Reshape parts heads. */
const rowsPattern = (name: Name): Pattern =>
  partPattern(
    name,
    {
      split: sharedOf('Split', { data: 'x' }),
      apart: anyPart('Reshape'),
      attention: attentionOf(name, true, 'apart')
    },
    partOfRows
  )

function partOfRows({ calls, values }: Match, graph: PlanGraph): Part | undefined {
  const [split, apart] = ['split', 'apart'].map(label => calls.get(label)!.call)
  const x = shapeOf(graph, values.get('x'))
  const [axis] = numbersOf(graph, split, 'axis') ?? []
  const [heads, size] = shapeOf(graph, apart.outputs[0])?.slice(2) ?? []
  if (x?.length !== 3 || (axis !== 2 && axis !== -1) || typeof heads !== 'number' || typeof size !== 'number')
    return undefined
  const place = split.outputs.indexOf(apart.inputs[0])
  const columns = split.outputs.slice(0, place + 1).map(id => shapeOf(graph, id)?.at(-1))
  const isKnown = columns.every(dim => typeof dim === 'number')
  if (!isKnown || columns[place] !== heads * size) return undefined
  if (!areDims(shapeOf(graph, apart.outputs[0]), [x[0], x[1], heads, size])) return undefined
  const first = columns.slice(0, place).reduce((sum, dim) => sum + dim, 0)
  return { heads, size, first, spacing: size }
}

/** Operands of attention that are parts of one projection. */
export const partPatterns: readonly Pattern[] = NAMES.flatMap(name => [
  stackedPattern(name, true),
  stackedPattern(name, false),
  rowsPattern(name)
])
