import type { BoundGraph, Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { IndexPolicy } from '../kernels/gather/indices.ts'
import { gatherBags } from '../op-kit/gather-bags.ts'
import { sameDim } from '../shapes/dim.ts'
import { BodyCalls, inputFor, isOne } from './body-calls.ts'
import { fusedCall } from './fuse.ts'
import { elementOf, isFloat32, knownFlag, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isLoop = isNamed('Loop')

/**
 * Sums, means or highest elements of rows of a table, bag by bag, in place of a Loop over the bags, each of whose runs
 * takes a Slice of the indices, gathers their rows and reduces them. This is how PyTorch exports EmbeddingBag, and a
 * run of the body takes much longer than its few rows.
 */
export const loopBags: Pass = {
  name: 'loop-bags',
  requires: ['prune'],
  ops: ['Loop'],
  run: graph => !graph.isObserved && graph.replaceEach(call => (isLoop(call) ? bagsFor(graph, call) : undefined))
}

function bagsFor(graph: PlanGraph, call: Call): Call | undefined {
  const body = call.bodies.get('body')
  const [trip, condition] = call.inputs
  if (body === undefined || call.dialect !== 'onnx' || call.inputs.length > 2 || call.outputs.length !== 1)
    return undefined
  if (body.graph.inputs.length !== 2 || body.graph.outputs.length !== 2) return undefined
  if (condition !== undefined && !(scalarOf(graph, condition) === 1 && goesOn(graph, body))) return undefined
  const bags = bagsOf(new BodyCalls(body, graph))
  if (bags === undefined || !isOfBags(graph, bags, trip)) return undefined
  const { reduction, policy, ...operands } = bags
  return fusedCall(call, gatherBags, operands, { reduction, ...policy, areOffsets: false })
}

/** Whether a body lets its loop go on whatever it has computed. */
function goesOn(graph: PlanGraph, body: BoundGraph): boolean {
  const [condition] = body.graph.outputs.map(({ value }) => value)
  if (condition === body.graph.inputs[1].value) return true
  return knownFlag(graph.bodies.get(body)?.facts.get(condition)) === true
}

/** Where bags come from: values around the loop. */
interface Bags {
  readonly reduction: 'sum' | 'mean' | 'max'
  readonly policy: IndexPolicy
  readonly table: ValueId
  readonly indices: ValueId
  /** Of each bag, in the indices. */
  readonly starts: ValueId
  readonly ends: ValueId
  readonly weights: ValueId | undefined
}

const REDUCTIONS = { ReduceSum: 'sum', ReduceMean: 'mean', ReduceMax: 'max' } as const

/** The bags over which a body runs, by what makes its second output. */
function bagsOf(calls: BodyCalls): Bags | undefined {
  const reduce = calls.makerOf(calls.outputs[1], ...Object.keys(REDUCTIONS))
  if (reduce === undefined || reduce.known.keepDims !== false || !isOne(calls.numbersOf(reduce, 'axes'), 0))
    return undefined
  const reduction = REDUCTIONS[reduce.op.name as keyof typeof REDUCTIONS]
  const product = calls.makerOf(reduce.inputs[0], 'Mul')
  if (product === undefined) return unweighted(calls, reduce.inputs[0], reduction)
  if (reduction !== 'sum') return undefined
  return weighted(calls, product.inputs[0], product.inputs[1]) ?? weighted(calls, product.inputs[1], product.inputs[0])
}

function unweighted(calls: BodyCalls, rows: ValueId | undefined, reduction: Bags['reduction']): Bags | undefined {
  const lookup = calls.makerOf(rows, 'Gather')
  const slice = lookup && isAlongFirst(lookup) ? sliceOf(calls, lookup.inputs[1]) : undefined
  const table = lookup && calls.around(lookup.inputs[0])
  if (slice === undefined || table === undefined) return undefined
  const { of: indices, starts, ends } = slice
  return { reduction, policy: policyOf(lookup!), table, indices, starts, ends, weights: undefined }
}

const policyOf = ({ known: { negative, outOfRange } }: Call): IndexPolicy => ({ negative, outOfRange }) as IndexPolicy

/** @param factors a column of them, of the same slice as the indices */
function weighted(calls: BodyCalls, rows: ValueId | undefined, factors: ValueId | undefined): Bags | undefined {
  const bags = unweighted(calls, rows, 'sum')
  const column = calls.makerOf(factors, 'Unsqueeze')
  if (bags === undefined || column === undefined || !isOne(calls.numbersOf(column, 'axes'), 1)) return undefined
  const slice = sliceOf(calls, column.inputs[0])
  const isSame = slice?.starts === bags.starts && slice.ends === bags.ends
  return isSame ? { ...bags, weights: slice.of } : undefined
}

interface ListSlice {
  readonly of: ValueId
  readonly starts: ValueId
  readonly ends: ValueId
}

/** The list that a body takes a slice of, and those of its starts and ends. */
function sliceOf(calls: BodyCalls, id: ValueId | undefined): ListSlice | undefined {
  const slice = calls.makerOf(id, 'Slice')
  if (slice === undefined || !isOne(calls.numbersOf(slice, 'axes'), 0)) return undefined
  const steps = calls.numbersOf(slice, 'steps')
  if (steps === undefined || steps.some(step => step !== 1)) return undefined
  const [of, starts, ends] = [
    calls.around(slice.inputs[0]),
    listOf(calls, slice, 'starts'),
    listOf(calls, slice, 'ends')
  ]
  return of !== undefined && starts !== undefined && ends !== undefined ? { of, starts, ends } : undefined
}

/** The list whose element at the number of the iteration is a parameter of a slice. */
function listOf(calls: BodyCalls, slice: Call, name: string): ValueId | undefined {
  const list = calls.makerOf(inputFor(slice, name), 'Unsqueeze')
  if (list === undefined || !isOne(calls.numbersOf(list, 'axes'), 0)) return undefined
  const element = calls.makerOf(list.inputs[0], 'Gather')
  if (element === undefined || !isAlongFirst(element)) return undefined
  return calls.originOf(element.inputs[1]) === calls.inputs[0] ? calls.around(element.inputs[0]) : undefined
}

const isAlongFirst = ({ known }: Call): boolean => known.axis === 0 && known.batchDims === 0

/** Whether there is an iteration for each of the ends, and types and ranks are those that the kernel takes. */
function isOfBags(graph: PlanGraph, bags: Bags, trip: ValueId | undefined): boolean {
  const { table, indices, starts, ends, weights } = bags
  const count = elementOf(graph, trip)
  const [rows, list, from, to] = [table, indices, starts, ends].map(id => shapeOf(graph, id))
  if (rows === undefined || rows.length === 0 || !isFloat32(graph, table)) return false
  if (list?.length !== 1 || from?.length !== 1 || to?.length !== 1) return false
  if (count === undefined || !sameDim(count, to[0])) return false
  if (weights === undefined) return true
  const factors = shapeOf(graph, weights)
  return rows.length === 2 && isFloat32(graph, weights) && factors?.length === 1 && sameDim(factors[0], list[0])
}
