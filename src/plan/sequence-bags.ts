import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { gatherBags, type GatherBagsParams } from '../op-kit/gather-bags.ts'
import { type Dim, minDim, sameDim, subDims } from '../shapes/dim.ts'
import { toDoubles } from '../tensor/elements.ts'
import { elementCount } from '../tensor/tensor.ts'
import { BodyCalls, inputFor, isOne } from './body-calls.ts'
import { tensorOf } from './derive.ts'
import { fusedCall } from './fuse.ts'
import { callMaking, elementOf, isFloat32, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isJoining = isNamed('ConcatFromSequence')
const isLoop = isNamed('Loop')

/**
 * Sums, means or highest elements of rows, bag by bag, in place of a Loop that takes a Slice of the rows for each bag,
 * reduces it, and adds it to a sequence. This is how the newer exporter of PyTorch writes EmbeddingBag: rows are
 * gathered and weighted before; an empty bag has zeros, and the last bag of a mean, and of what is highest, is written
 * out.
 */
export const sequenceBags: Pass = {
  name: 'sequence-bags',
  requires: ['prune'],
  ops: ['ConcatFromSequence'],
  run: graph => !graph.isObserved && graph.replaceEach(call => (isJoining(call) ? bagsFor(graph, call) : undefined))
}

function bagsFor(graph: PlanGraph, joining: Call): Call | undefined {
  const loop = callMaking(graph, joining.inputs[0])
  if (joining.known.axis !== 0 || joining.known.stacks !== false || loop === undefined || !isLoop(loop))
    return undefined
  const counting = countingOf(graph, loop)
  const bags = counting && bagsOf(counting)
  if (bags === undefined) return undefined
  const { rows, offsets, reduction } = bags
  const shape = shapeOf(graph, offsets)
  const count = elementOf(graph, counting!.count)
  if (shape?.length !== 1 || count === undefined || !sameDim(count, subDims(shape[0], 1))) return undefined
  const parameters: GatherBagsParams = {
    reduction,
    negative: 'error',
    outOfRange: 'error',
    areOffsets: true
  }
  return fusedCall(joining, gatherBags, { table: rows, starts: offsets }, { ...parameters })
}

/** A loop that counts from 0 and adds a row to a sequence in each run. */
interface Counting {
  readonly graph: PlanGraph
  readonly calls: BodyCalls
  /** The number of the run, what it ends before, and the row. */
  readonly index: ValueId
  readonly count: ValueId
  readonly row: ValueId | undefined
}

function countingOf(graph: PlanGraph, loop: Call): Counting | undefined {
  const body = loop.bodies.get('body')
  const [trip, condition, first, empty] = loop.inputs
  if (body === undefined || loop.dialect !== 'onnx' || trip !== undefined || loop.inputs.length !== 4) return undefined
  const calls = new BodyCalls(body, graph)
  const [, , index, sequence] = calls.inputs
  const [goesOn, next, extended, ...others] = calls.outputs
  if (calls.inputs.length !== 4 || extended === undefined || others.length > 0) return undefined
  const insert = calls.makerOf(extended, 'SequenceInsert')
  const less = calls.makerOf(goesOn, 'Less')
  const count = less && calls.around(less.inputs[1])
  if (insert === undefined || insert.inputs[2] !== undefined || count === undefined) return undefined
  if (calls.originOf(insert.inputs[0]) !== sequence || calls.originOf(less!.inputs[0]) !== calls.originOf(next))
    return undefined
  const isCounted = positionOf(calls, next, index) === 1 && scalarOf(graph, first) === 0
  const isEmpty = callMaking(graph, empty)?.op.name === 'SequenceEmpty'
  if (!isCounted || !isEmpty || !beginsBefore(graph, condition, count)) return undefined
  return { graph, calls, index, count, row: insert.inputs[1] }
}

/** Whether the first condition of a loop is that 0 is less than the count, or both are known to be so. */
function beginsBefore(graph: PlanGraph, condition: ValueId | undefined, count: ValueId): boolean {
  if (scalarOf(graph, condition) === 1) return minDim(elementOf(graph, count) ?? 0) > 0
  const less = callMaking(graph, condition)
  return (
    less !== undefined && isNamed('Less')(less) && scalarOf(graph, less.inputs[0]) === 0 && less.inputs[1] === count
  )
}

/** What a value is more than the number of the run: by reshapes, and by sums with constants. */
function positionOf(calls: BodyCalls, id: ValueId | undefined, index: ValueId): number | undefined {
  let position = 0
  for (let at = calls.originOf(id); at !== index;) {
    const call = calls.makerOf(at, 'Reshape', 'Unsqueeze', 'Add')
    const more = call?.op.name === 'Add' ? calls.numberOf(call.inputs[1]) : 0
    if (call === undefined || more === undefined) return undefined
    position += more
    at = calls.originOf(call.inputs[0])
  }
  return position
}

interface Bags {
  readonly rows: ValueId
  /** Where each bag begins in the rows, and where the last one ends. */
  readonly offsets: ValueId
  readonly reduction: GatherBagsParams['reduction']
}

/** Elements of a row of zeros that are looked at. */
const MAX_ZEROS = 1 << 16

/** One bag, as the body that reduces its rows sees it. */
interface Bag extends Counting {
  readonly offsets: ValueId
  readonly start: ValueId
  readonly end: ValueId
}

/** The bags of which a loop takes one after the other: zeros where a bag is empty, else a branch reduces its rows. */
function bagsOf(counting: Counting): Bags | undefined {
  const { calls, graph } = counting
  const choice = calls.makerOf(counting.row, 'If')
  const isEmpty = choice && calls.makerOf(choice.inputs[0], 'Equal')
  const [start, end] = (isEmpty?.inputs ?? []).map(id => calls.originOf(id))
  const offsets = elementAt(counting, start, 0)
  if (offsets === undefined || offsets !== elementAt(counting, end, 1)) return undefined
  const bag = { ...counting, offsets, start: start!, end: end! }
  const [then, otherwise] = [calls.inner(choice!, 'thenBody'), calls.inner(choice!, 'elseBody')]
  const found = otherwise && (sumOf(bag, otherwise) ?? highestOf(bag, otherwise) ?? meanOf(bag, otherwise))
  const shape = shapeOf(graph, found?.rows)
  if (found === undefined || !shape || shape.length === 0 || !isFloat32(graph, found.rows)) return undefined
  return then && isZeros(then, shape) ? { ...found, offsets } : undefined
}

/** The list around the loop whose element so far behind the number of the run a Slice takes. */
function elementAt({ calls, index }: Counting, id: ValueId | undefined, position: number): ValueId | undefined {
  const slice = calls.makerOf(id, 'Slice')
  if (slice === undefined || !isOfFirstAxis(calls, slice)) return undefined
  const [from, to] = ['starts', 'ends'].map(name => positionOf(calls, inputFor(slice, name), index))
  return from === position && to === position + 1 ? calls.around(slice.inputs[0]) : undefined
}

const isOfFirstAxis = (calls: BodyCalls, slice: Call): boolean => {
  const [axes, steps] = ['axes', 'steps'].map(name => calls.numbersOf(slice, name))
  return (axes?.length === 0 || isOne(axes, 0)) && (steps?.length === 0 || isOne(steps, 1))
}

/** Whether a branch gives a row of zeros. */
function isZeros(calls: BodyCalls, rows: readonly Dim[]): boolean {
  const constant = calls.constantOf(calls.originOf(calls.outputs[0]))
  if (constant === undefined || constant.dims.length !== rows.length || constant.dims[0] !== 1) return false
  if (!constant.dims.every((dim, i) => i === 0 || dim === rows[i]) || elementCount(constant.dims) > MAX_ZEROS)
    return false
  return toDoubles(tensorOf(constant)).every(element => element === 0)
}

type Found = Pick<Bags, 'rows' | 'reduction'>

function sumOf(bag: Bag, calls: BodyCalls): Found | undefined {
  const reduce = reduceOf(calls, calls.outputs[0], 'ReduceSum')
  const rows = reduce && rowsOf(bag, calls, reduce.inputs[0])
  return rows === undefined ? undefined : { rows, reduction: 'sum' }
}

/** What is highest in the rows of a bag; those of the last one reach to the end of all rows. */
function highestOf(bag: Bag, calls: BodyCalls): Found | undefined {
  const reduce = reduceOf(calls, calls.outputs[0], 'ReduceMax')
  const choice = reduce && calls.makerOf(reduce.inputs[0], 'If')
  if (choice === undefined || !isOfLast(bag, calls, choice.inputs[0])) return undefined
  const [last, other] = branchesOf(calls, choice)
  const rows = other && rowsOf(bag, other, other.outputs[0])
  if (last === undefined || rows === undefined || rows !== rowsOf(bag, last, last.outputs[0], true)) return undefined
  return { rows, reduction: 'max' }
}

/** The mean of the rows of a bag; the sum of those of the last one is divided by their number, where there are some. */
function meanOf(bag: Bag, calls: BodyCalls): Found | undefined {
  const choice = calls.makerOf(calls.outputs[0], 'If')
  if (choice === undefined || !isOfLast(bag, calls, choice.inputs[0])) return undefined
  const [last, other] = branchesOf(calls, choice)
  const reduce = other && reduceOf(other, other.outputs[0], 'ReduceMean')
  const rows = reduce && rowsOf(bag, other, reduce.inputs[0])
  if (last === undefined || rows === undefined || !isDividedSum(bag, last, rows)) return undefined
  return { rows, reduction: 'mean' }
}

/** Whether a branch gives `sum / (n - start)`, or the sum where that is not positive; n is the number of all rows. */
function isDividedSum(bag: Bag, calls: BodyCalls, rows: ValueId): boolean {
  const choice = calls.makerOf(calls.outputs[0], 'If')
  const isPositive = choice && calls.makerOf(choice.inputs[0], 'Greater')
  const number = calls.originOf(isPositive?.inputs[0])
  if (isPositive === undefined || calls.numberOf(isPositive.inputs[1]) !== 0) return false
  const difference = calls.makerOf(number, 'Sub')
  const shape = difference && calls.makerOf(difference.inputs[0], 'Shape')
  if (shape === undefined || calls.originOf(difference!.inputs[1]) !== bag.start) return false
  const [divided, whole] = branchesOf(calls, choice!)
  const quotient = divided?.makerOf(divided.outputs[0], 'Div')
  const reduce = quotient && reduceOf(divided!, quotient.inputs[0], 'ReduceSum')
  const divisor = quotient && divided!.makerOf(quotient.inputs[1], 'Cast')
  if (reduce === undefined || divided!.originOf(divisor?.inputs[0]) !== number) return false
  const isSame = whole?.originOf(whole.outputs[0]) === divided!.originOf(quotient!.inputs[0])
  const list = shapeOf(bag.graph, calls.around(shape.inputs[0]))
  const isAll = list?.length === 1 && isOfAll(bag, rows, list[0])
  return isSame && isAll && rowsOf(bag, divided!, reduce.inputs[0]) === rows
}

const branchesOf = (calls: BodyCalls, choice: Call): readonly (BodyCalls | undefined)[] =>
  ['thenBody', 'elseBody'].map(name => calls.inner(choice, name))

/** A call that reduces rows to one, which keeps its axis. */
function reduceOf(calls: BodyCalls, id: ValueId | undefined, name: string): Call | undefined {
  const reduce = calls.makerOf(id, name)
  return reduce?.known.keepDims === true && isOne(calls.numbersOf(reduce, 'axes'), 0) ? reduce : undefined
}

/**
 * The rows around the loop of which the body takes those of a bag.
 * @param isLast whether it takes them to the end of all rows
 */
function rowsOf(bag: Bag, calls: BodyCalls, id: ValueId | undefined, isLast = false): ValueId | undefined {
  const slice = calls.makerOf(id, 'Slice')
  const rows = slice && calls.around(slice.inputs[0])
  if (rows === undefined || !isOfFirstAxis(calls, slice!)) return undefined
  const [from, to] = ['starts', 'ends'].map(name => calls.originOf(inputFor(slice!, name)))
  if (from !== bag.start) return undefined
  const isWhole = isLast ? isOfAll(bag, rows, elementOf(bag.graph, calls.around(to))) : to === bag.end
  return isWhole ? rows : undefined
}

/** Whether a number is that of all rows, and the last bag ends there. */
function isOfAll({ graph, offsets }: Bag, rows: ValueId, number: Dim | undefined): boolean {
  const [all] = shapeOf(graph, rows) ?? []
  const list = callMaking(graph, offsets)
  const last = list && isNamed('Concat')(list) ? elementOf(graph, list.inputs.at(-1)) : undefined
  return all !== undefined && [number, last].every(dim => dim !== undefined && sameDim(dim, all))
}

/** Whether a condition says that the bag is the last one. */
function isOfLast({ index, count }: Bag, calls: BodyCalls, id: ValueId | undefined): boolean {
  const equal = calls.makerOf(id, 'Equal')
  const last = equal && calls.makerOf(equal.inputs[1], 'Sub')
  return (
    last !== undefined &&
    calls.originOf(equal!.inputs[0]) === index &&
    calls.around(last.inputs[0]) === count &&
    calls.numberOf(last.inputs[1]) === 1
  )
}
