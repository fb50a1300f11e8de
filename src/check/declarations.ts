import type { Graph, GraphPort, GraphValue, InputPort, Node, ValueId } from '../graph/graph.ts'
import type { Declaration, DeclarationSite } from './compare.ts'

const NONE: readonly Declaration[] = []

/**
 * All declarations for the values of a graph: at the producer, at ports of consumers (IR), at graph inputs and outputs.
 */
export class Declarations {
  private readonly values: Graph['values']
  /** Declarations other than those of the values themselves. */
  private readonly elsewhere = new Map<ValueId, Declaration[]>()

  constructor(graph: Graph) {
    this.values = graph.values
    // In IR an output is a Result, whose input port declares the same, with a place for each dim.
    if (graph.dialect === 'onnx')
      for (const port of graph.outputs) if (port.declared) this.add(port.value, new AtOutput(port))
    for (const node of graph.nodes) {
      node.inputPorts?.forEach((port, i) => {
        const id = node.inputs[i]
        if (id !== undefined) this.add(id, new AtConsumer(node, port))
      })
    }
  }

  /** The declarations for a value, first that of the value itself. */
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
  where(): DeclarationSite {
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
  where(): DeclarationSite {
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
  where(): DeclarationSite {
    const {
      node: { type, name },
      port: { id, place, dimPlaces }
    } = this
    return { what: `input port ${id} of ${type} "${name}"`, place, dimPlaces }
  }
}
