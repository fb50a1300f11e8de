import { altered, type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { LoopInput, LoopOutput, LoopPorts } from '../kernels/control/loop-ports.ts'
import { callMaking, isPlanCall, type PlanCall, planCall, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isLoop = isNamed('Loop')
const isJoining = isNamed('ConcatFromSequence')
const isInserting = isNamed('SequenceInsert')
const isEmpty = isNamed('SequenceEmpty')

/**
 * A sequence that a Loop begins empty, adds a tensor to at the end of each run, and hands to ConcatFromSequence alone,
 * as TorchScript's lists are exported, becomes an output of the loop that puts the tensors of all runs together. Bodies
 * without sequences can be recorded, and no run holds all that came before anew.
 */
export const loopLists: Pass = {
  name: 'loop-lists',
  requires: ['prune'],
  ops: ['ConcatFromSequence'],
  run(graph) {
    if (graph.isObserved) return false
    const by = new Map<PlanCall, readonly PlanCall[]>()
    for (const item of graph.calls) {
      const lists = isLoop(item.call) && item.call.dialect === 'onnx' ? listsOf(graph, item.call) : []
      if (lists.length === 0) continue
      by.set(item, [planCall(lists.reduce((call, list) => withoutList(graph, call, list), item.call))])
      for (const { joining } of lists) by.set(joining, [])
    }
    graph.spread(by)
    return by.size > 0
  }
}

/** A carried sequence that a loop only adds to. */
interface List {
  /** Of the loop's output, and of its operand. */
  readonly index: number
  /** What each run adds. */
  readonly tensor: ValueId
  readonly joining: PlanCall
}

function listsOf(graph: PlanGraph, call: Call): List[] {
  const body = call.bodies.get('body')
  if (body === undefined || !graph.bodies.has(body) || !body.items.every(isCall)) return []
  return portsOf(call).outputs.flatMap((port, index) => {
    const list =
      port.kind === 'last' && port.initial === index ? listAt(graph, call, body, port.from, index) : undefined
    return list ?? []
  })
}

function listAt(graph: PlanGraph, call: Call, body: BoundGraph, from: number, index: number): List | undefined {
  const result = call.outputs[index]
  const joining = result === undefined ? undefined : onlyReader(graph, result)
  const first = callMaking(graph, call.inputs[FIRST_CARRIED + index])
  const tensor = first && isEmpty(first) ? addedTo(body, CARRIED_INPUT + index, from) : undefined
  if (joining === undefined || !isJoining(joining.call) || tensor === undefined) return undefined
  const fact = graph.bodies.get(body)!.facts.get(tensor)
  const rank = fact?.kind === 'tensor' ? fact.shape?.length : undefined
  // Scalars have no axis along which they could be joined.
  return rank !== undefined && (rank > 0 || joining.call.known.stacks === true) ? { index, tensor, joining } : undefined
}

/** Inputs of the call before the carried ones: trip count and condition; and of the body: iteration and condition. */
const FIRST_CARRIED = 2
const CARRIED_INPUT = 2

function onlyReader(graph: PlanGraph, id: ValueId): PlanCall | undefined {
  const [reader, ...others] = graph.readersOf(id)
  return reader && isPlanCall(reader) && others.length === 0 && !graph.isOutside(id) ? reader : undefined
}

/** The tensor that a body adds to the end of a sequence, of which it knows nothing else. */
function addedTo(body: BoundGraph, input: number, output: number): ValueId | undefined {
  const { inputs, outputs } = body.graph
  const [before, after] = [inputs[input].value, outputs[output].value]
  const calls = body.items.filter(isCall)
  const insert = calls.find(({ outputs: [made] }) => made === after)
  if (insert === undefined || !isInserting(insert) || insert.inputs[0] !== before || insert.inputs[2] !== undefined)
    return undefined
  const tensor = insert.inputs[1]
  const reads = calls.flatMap(({ inputs: read, node }) => [...read, ...node.captures])
  const isAlone =
    reads.filter(id => id === before).length === 1 &&
    !reads.includes(after) &&
    outputs.filter(({ value }) => value === before || value === after).length === 1
  return isAlone && calls.some(({ outputs: made }) => made.includes(tensor)) ? tensor : undefined
}

const portsOf = ({ known }: Call): LoopPorts => known.ports as LoopPorts

/** The loop with a concatenated output in place of the sequence. */
function withoutList(graph: PlanGraph, call: Call, { index, tensor, joining }: List): Call {
  const { inputs, outputs, condition } = portsOf(call)
  const { from } = outputs[index]
  const { axis, stacks } = joining.call.known as { axis: number; stacks: boolean }
  const body = withOutput(graph, call.bodies.get('body')!, from, tensor)
  const fed = inputs.map((port): LoopInput =>
    port.kind === 'carried' && port.from === from ? { kind: 'unfed' } : port
  )
  const joined: LoopOutput = { kind: 'concatenated', from, axis, stacks, reversed: false, isNeverEmpty: true }
  const ports: LoopPorts = {
    inputs: fed,
    outputs: outputs.with(index, joined),
    ...(condition !== undefined && { condition })
  }
  return altered(call, {
    outputs: call.outputs.with(index, joining.call.outputs[0]),
    known: { ...call.known, ports },
    bodies: new Map([['body', body]])
  })
}

/** A body that gives another of its values, with what inference found of it. */
function withOutput(graph: PlanGraph, body: BoundGraph, output: number, value: ValueId): BoundGraph {
  const { name, aliases, place } = body.graph.outputs[output]
  const outputs = body.graph.outputs.with(output, { name, aliases, place, value })
  const changed = { ...body, graph: { ...body.graph, outputs } }
  graph.bodies.set(changed, { ...graph.bodies.get(body)!, bound: changed })
  return changed
}
