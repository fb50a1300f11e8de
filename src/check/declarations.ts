import type { Graph, Node, ValueId } from '../graph/graph.ts'
import type { Declaration } from './compare.ts'

/** Everything that a graph declares of each value: at its producer, at its consumers' ports (IR), at the graph's border. */
export function declarationsOf(graph: Graph): Map<ValueId, Declaration[]> {
  const all = new Map<ValueId, Declaration[]>()
  const add = (id: ValueId, declaration: Declaration): void => {
    all.set(id, [...all.get(id) ?? [], declaration])
  }
  for (const value of graph.values.values()) {
    if (value.declared) add(value.id, { declared: value.declared, what: `value "${value.name}"`, place: value.place, ...(value.dimPlaces && { dimPlaces: value.dimPlaces }) })
  }
  for (const port of graph.outputs) {
    if (port.declared) add(port.value, { declared: port.declared, what: `graph output "${port.name}"`, place: port.place })
  }
  for (const node of graph.nodes) for (const [id, declaration] of portsOf(node)) add(id, declaration)
  return all
}

function portsOf(node: Node): [ValueId, Declaration][] {
  return (node.inputPorts ?? []).flatMap((port, i) => {
    const id = node.inputs[i]
    if (id === undefined) return []
    return [[id, { declared: port.declared, what: `input port ${port.id} of ${node.type} "${node.name}"`, place: port.place, dimPlaces: port.dimPlaces }] as [ValueId, Declaration]]
  })
}
