import { altered, type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { fold } from './fold.ts'
import { knownFlag, type PlanCall, planCall, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, standardCall } from './patterns.ts'
import { prune } from './prune.ts'

const isBranching = isNamed('If')

/**
 * Puts the nodes of the branch that is taken in the place of an If whose condition is known, and so on for what is in
 * them. What such nodes make is then memory of the main graph, which kernels compute with where it lies, and all other
 * passes see it.
 */
export const branches: Pass = {
  name: 'branches',
  requires: ['prune'],
  ops: ['If'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    while (graph.spreadEach(item => (isBranching(item.call) ? callsOfBranch(graph, item) : undefined))) changed = true
    // The calls of the branches have not been folded and pruned yet.
    if (changed) for (const pass of [fold, prune]) pass.run(graph)
    return changed
  }
}

/** Whether the condition of an If holds; undefined: that is not known before a run. */
function conditionOf(graph: PlanGraph, { call }: PlanCall): boolean | undefined {
  const [id] = call.inputs
  return id === undefined ? undefined : knownFlag(graph.facts.get(id))
}

/**
 * What the branch that an If takes consists of, its values made known to the graph.
 * @returns undefined, with nothing done, where the branch is not known, or cannot stand in the graph around it
 */
function callsOfBranch(graph: PlanGraph, item: PlanCall): PlanCall[] | undefined {
  const condition = conditionOf(graph, item)
  const body = condition === undefined ? undefined : item.call.bodies.get(condition ? 'thenBody' : 'elseBody')
  const found = body && graph.bodies.get(body)
  if (body === undefined || found === undefined || found.failures.length > 0 || !isPlain(body)) return undefined
  const names = renamed(graph, item, body)
  if (names === undefined) return undefined
  const given = handedOn(graph, item, body, names)
  if (given === undefined) return undefined
  for (const [id, constant] of body.constants) graph.constants.set(names.get(id) ?? id, constant)
  for (const id of ownValues(body)) graph.describe(names.get(id) ?? id, found.facts.get(id)!)
  for (const [inner, propagation] of found.bodies) graph.bodies.set(inner, propagation)
  const named = (ids: Call['inputs']): Call['inputs'] =>
    ids.map(id => (id === undefined ? undefined : (names.get(id) ?? id)))
  return [
    ...body.items
      .filter(isCall)
      .map(call => planCall(altered(call, { inputs: named(call.inputs), outputs: named(call.outputs) }))),
    ...given
  ]
}

/**
 * Names that values of a branch have in the graph around it, where they are others. What the If gives has the names of
 * its outputs: else those would be copies, and caches would not grow where they lie. Other values get fresh names where
 * the graph has theirs: Optimum's merged decoders call what a branch gives as the If calls it.
 * @returns undefined where a value needs another name and a body in the branch reads it by the one that it has
 */
function renamed(graph: PlanGraph, { call }: PlanCall, body: BoundGraph): Map<ValueId, ValueId> | undefined {
  const calls = body.items.filter(isCall)
  const made = new Set(calls.flatMap(({ outputs }) => outputs))
  const read = new Set(calls.flatMap(({ node, bodies }) => [...node.captures, ...capturedBy(bodies)]))
  const names = new Map<ValueId, ValueId>()
  for (const [i, output] of call.outputs.entries()) {
    const id = body.graph.outputs[i]?.value
    if (output !== undefined && made.has(id) && !names.has(id) && (id === output || !read.has(id)))
      names.set(id, output)
  }
  for (const id of ownValues(body)) {
    if (names.has(id) || !graph.facts.has(id)) continue
    if (read.has(id)) return undefined
    names.set(id, freshName(graph, body, id))
  }
  return names
}

const capturedBy = (bodies: Call['bodies']): ValueId[] => [...bodies.values()].flatMap(({ captures }) => captures)

function freshName({ facts }: PlanGraph, { graph }: BoundGraph, id: ValueId): ValueId {
  let name = `${graph.path}/${id}`
  while (facts.has(name)) name += "'"
  return name
}

/** Whether a body is sound. */
const isPlain = ({ graph: { inputs, findings }, items }: BoundGraph): boolean =>
  inputs.length === 0 && items.every(isCall) && findings.every(({ severity }) => severity !== 'error')

/** What a body makes or has as a constant. */
const ownValues = ({ items, constants }: BoundGraph): ValueId[] => [
  ...constants.keys(),
  ...items.flatMap(({ node }) => node.outputs.filter(id => id !== undefined))
]

/** Calls that give other outputs of an If what its branch has made; undefined where there is no operator for that. */
function handedOn(
  graph: PlanGraph,
  { call }: PlanCall,
  body: BoundGraph,
  names: ReadonlyMap<ValueId, ValueId>
): PlanCall[] | undefined {
  const calls: PlanCall[] = []
  for (const [i, output] of call.outputs.entries()) {
    const id = body.graph.outputs[i]?.value
    if (output === undefined || names.get(id) === output) continue
    const inputs = [names.get(id) ?? id]
    const root = altered(call, { node: { ...call.node, outputs: [output], captures: [] }, outputs: [output] })
    const identity = standardCall(graph, root, { type: 'Identity', opset: 16, inputs })
    if (identity === undefined) return undefined
    calls.push(planCall(identity))
  }
  return calls
}
