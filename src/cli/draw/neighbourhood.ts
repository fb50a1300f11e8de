import type { ComparedValue } from '../../compare/result.ts'
import { derive } from '../../graph/derive.ts'
import {
  type Graph,
  graphAndBodies,
  type GraphPort,
  isPortLayer,
  type Model,
  type Node,
  type ValueId
} from '../../graph/graph.ts'

/** Nodes before and after a node that are drawn with it, and how many at most. */
const BEFORE = 3
const AFTER = 1
const MAX_NODES = 30

/** A part of a model around one node, to be drawn. */
export interface Surroundings {
  readonly model: Model
  /** Where the node is among the nodes of the part. */
  readonly index: number
}

/** What is around the node of a value; undefined where the file has no such node. */
export function surroundingsOf(model: Model, value: ComparedValue): Surroundings | undefined {
  for (const graph of graphAndBodies(model.graph)) {
    if (graph.path !== (value.graphPath ?? '')) continue
    const node = graph.nodes.find(one =>
      value.layer === undefined ? one.index === value.nodeIndex : one.layer === value.layer
    )
    if (node) return partOf(model, graph, node)
  }
  return undefined
}

function partOf(model: Model, graph: Graph, centre: Node): Surroundings {
  const makers = new Map<ValueId, Node>()
  for (const node of graph.nodes) for (const id of node.outputs) if (id !== undefined) makers.set(id, node)
  const kept = new Set([centre])
  let edge = [centre]
  for (let step = 0; step < BEFORE; step++) {
    edge = edge.flatMap(({ inputs }) => inputs.flatMap(id => (id === undefined ? [] : (makers.get(id) ?? []))))
    for (const node of edge) if (kept.size < MAX_NODES && !isPortLayer(node)) kept.add(node)
  }
  edge = [centre]
  for (let step = 0; step < AFTER; step++) {
    const made = new Set(edge.flatMap(({ outputs }) => outputs))
    edge = graph.nodes.filter(({ inputs }) => inputs.some(id => id !== undefined && made.has(id)))
    for (const node of edge) if (kept.size < MAX_NODES && !isPortLayer(node)) kept.add(node)
  }
  const nodes = graph.nodes.filter(node => kept.has(node))
  const inputs = portsOf(graph, nodes)
  const part = { ...graph, inputs, outputs: [], nodes: nodes.map(withoutBodies) }
  return { model: { ...model, graph: part, functions: new Map() }, index: nodes.indexOf(centre) }
}

/** Bodies are pictures of their own. */
const withoutBodies = (node: Node): Node =>
  derive(node, {
    attributes: new Map([...node.attributes].filter(([, { kind }]) => kind !== 'graph' && kind !== 'graphs'))
  })

/** What comes into a part from outside. */
function portsOf(graph: Graph, nodes: readonly Node[]): GraphPort[] {
  const made = new Set(nodes.flatMap(({ outputs }) => outputs))
  const given = new Set(nodes.flatMap(({ inputs }) => inputs))
  return [...given].flatMap(id => {
    if (id === undefined || made.has(id) || graph.initializers.has(id)) return []
    const value = graph.values.get(id)
    const declared = value?.declared
    return [{ name: value?.name ?? id, aliases: [], value: id, place: {}, ...(declared && { declared }) }]
  })
}
