import type { Graph, ValueId } from '../graph/graph.ts'
import type { Declaration } from './compare.ts'

/** Everything that a graph declares of each value: at its producer, at its consumers' ports (IR), at the graph's border. */
export function declarationsOf(graph: Graph): Map<ValueId, Declaration[]> {
  const all = new Map<ValueId, Declaration[]>()
  const add = (id: ValueId, declaration: Declaration): void => {
    const list = all.get(id)
    if (list) list.push(declaration)
    else all.set(id, [declaration])
  }
  for (const value of graph.values.values()) {
    const { declared } = value
    if (declared) add(value.id, { declared, where: () => ({ what: `value "${value.name}"`, place: value.place, ...(value.dimPlaces && { dimPlaces: value.dimPlaces }) }) })
  }
  for (const port of graph.outputs) {
    const { declared } = port
    // A Result's declaration is that of its input port, which has more exact places.
    if (declared && graph.dialect === 'onnx') add(port.value, { declared, where: () => ({ what: `graph output "${port.name}"`, place: port.place }) })
  }
  for (const node of graph.nodes) {
    node.inputPorts?.forEach((port, i) => {
      const id = node.inputs[i]
      if (id === undefined) return
      add(id, { declared: port.declared, where: () => ({ what: `input port ${port.id} of ${node.type} "${node.name}"`, place: port.place, dimPlaces: port.dimPlaces }) })
    })
  }
  return all
}
