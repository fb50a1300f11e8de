import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { appendTo, reorderOf } from '../op-kit/append.ts'
import { isFloat32, isPlanCall, operandOf, planCallMaking, type PlanGraph, positionOf, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, numbersOf } from './patterns.ts'

/**
 * Has caches of keys and values grow where they lie: a Concat of what the run before has left, an input or a variable,
 * that gives what the next run is given, while nothing reads it but attention, whose kernel knows such memory, and
 * Shape, which reads no elements. In the body of a loop what a body before has left is an input, and its output what
 * the next one is given.
 */
export const grow: Pass = {
  name: 'grow',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    const found = graph.calls.filter(({ call }) => isCache(graph, call) && (!graph.isBody || isGiven(graph, call)))
    for (const item of found) {
      const { call } = item
      const order = planCallMaking(graph, call.inputs[0])
      if (order && isReordering(graph, order.call)) {
        const known = { ...order.call.known, grows: call.known.axis }
        graph.replace(order, { ...order, call: altered(order.call, { op: reorderOf(order.call.op), known }) })
      }
      graph.replace(item, { ...item, call: altered(call, { op: appendTo(call.op) }) })
    }
    return found.length > 0
  }
}

/** Whether a call extends an input of its graph: a captured value is the same for each body that runs. */
const isGiven = ({ bound }: PlanGraph, { inputs }: Call): boolean =>
  bound.graph.inputs.some(({ value }) => value === inputs[0])

function isCache(graph: PlanGraph, call: Call): boolean {
  const [id] = call.outputs
  if (!isNamed('Concat')(call) || id === undefined || call.inputs.length < 2 || !isFloat32(graph, id)) return false
  const readers = [...graph.readersOf(id)]
  const isServed = readers.every(item => isPlanCall(item) && (isPlain(item.call) || attends(item.call, id)))
  const isKept = graph.wanted.includes(id) || readers.some(item => isPlanCall(item) && isNamed('Assign')(item.call))
  return isServed && isKept && isFromBefore(graph, call.inputs[0])
}

/** Whether a call keeps a value as it is, or asks for its dims. */
const isPlain = isNamed('Assign', 'Shape')

/** Whether a call is attention that reads a value as keys or values only. */
const attends = (call: Call, id: ValueId): boolean =>
  isNamed('ScaledDotProductAttention')(call) &&
  call.inputs.every((input, i) => input !== id || i === positionOf(call, 'key') || i === positionOf(call, 'value'))

/** Whether an earlier run has left a value; entries of its batch may have been put into another order. */
function isFromBefore(graph: PlanGraph, id: ValueId | undefined): boolean {
  if (id === undefined || graph.constantOf(id) !== undefined) return false
  const maker = graph.makerOf(id)
  if (maker === undefined) return true
  if (!isPlanCall(maker)) return false
  const { call } = maker
  const data = operandOf(call, 'data')
  return isNamed('ReadValue')(call) || (isReordering(graph, call) && isFromBefore(graph, data))
}

/**
 * Whether a Gather chooses entries of the batch by a list, which leaves the axes where they are, for a call that alone
 * reads their elements: others ask for dims.
 */
const isReordering = (graph: PlanGraph, call: Call): boolean =>
  isNamed('Gather')(call) &&
  call.known.batchDims === 0 &&
  shapeOf(graph, operandOf(call, 'indices'))?.length === 1 &&
  numbersOf(graph, call, 'axis')?.[0] === 0 &&
  [...graph.readersOf(call.outputs[0]!)].filter(item => !isPlanCall(item) || !isNamed('Shape')(item.call)).length ===
    1 &&
  !graph.isOutside(call.outputs[0]!)
