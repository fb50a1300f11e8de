import type { Graph, GraphPort, GraphValue, InputPort, Node, ValueId } from '../graph/graph.ts'
import type { Declaration, DeclarationPlace } from './compare.ts'

const NONE: readonly Declaration[] = []

/**
 * Everything that a graph declares of each value: at its producer, at its consumers' ports (IR), at the graph's border.
 */
export class Declarations {
  private readonly values: Graph['values']
  /** Those that do not stand at the value itself. */
  private readonly elsewhere = new Map<ValueId, Declaration[]>()

  constructor(graph: Graph) {
    this.values = graph.values
    // A Result's declaration is that of its input port, which has more exact places.
    if (graph.dialect === 'onnx')
      for (const port of graph.outputs) if (port.declared) this.add(port.value, new AtOutput(port))
    for (const node of graph.nodes) {
      node.inputPorts?.forEach((port, i) => {
        const id = node.inputs[i]
        if (id !== undefined) this.add(id, new AtConsumer(node, port))
      })
    }
  }

  /** The value's own declaration first. */
  of(id: ValueId): readonly Declaration[] {
    const value = this.values.get(id)
    const elsewhere = this.elsewhere.get(id) ?? NONE
    return value?.declared ? [new AtValue(value), ...elsewhere] : elsewhere
  }

  private add(id: ValueId, declaration: Declaration): void {
    const list = this.elsewhere.get(id)
    if (list) list.push(declaration)
    else this.elsewhere.set(id, [declaration])
  }
}

class AtValue implements Declaration {
  private readonly value: GraphValue
  constructor(value: GraphValue) {
    this.value = value
  }
  get declared() {
    return this.value.declared!
  }
  where(): DeclarationPlace {
    const { name, place, dimPlaces } = this.value
    return { what: `value "${name}"`, place, ...(dimPlaces && { dimPlaces }) }
  }
}

class AtOutput implements Declaration {
  private readonly port: GraphPort
  constructor(port: GraphPort) {
    this.port = port
  }
  get declared() {
    return this.port.declared!
  }
  where(): DeclarationPlace {
    return { what: `graph output "${this.port.name}"`, place: this.port.place }
  }
}

class AtConsumer implements Declaration {
  private readonly node: Node
  private readonly port: InputPort
  constructor(node: Node, port: InputPort) {
    this.node = node
    this.port = port
  }
  get declared() {
    return this.port.declared
  }
  where(): DeclarationPlace {
    const {
      node: { type, name },
      port: { id, place, dimPlaces }
    } = this
    return { what: `input port ${id} of ${type} "${name}"`, place, dimPlaces }
  }
}
