import type { Attribute, DeclaredType, Graph, GraphPort, GraphValue, Node, ValueId } from '../../graph/graph.ts'
/** Nodes, layers and values that edits add to a graph; they get their indices with all others. */
export class NewParts {
  private readonly graph: Graph
  private readonly taken: Set<ValueId>
  private count = 0
  /** The values that were added. */
  readonly values = new Map<ValueId, GraphValue>()

  /** @param taken ids of values that new ones must not have */
  constructor(graph: Graph, taken = new Set(valueIds(graph))) {
    this.graph = graph
    this.taken = taken
  }

  /** A value of this name, or of one like it where it is taken. */
  value(name: string, declared?: DeclaredType): ValueId {
    let id = name
    for (let i = 1; this.taken.has(id); i++) id = `${name}_${i}`
    this.taken.add(id)
    this.values.set(id, { id, name, names: [name], ...(declared && { declared }), place: {} })
    return id
  }

  /** A node, whose index is none of the file. */
  node(parts: Pick<Node, 'type' | 'version' | 'name' | 'inputs' | 'outputs'> & Partial<Node>): Node {
    const { dialect, path } = this.graph
    return {
      dialect,
      domain: dialect === 'onnx' ? 'ai.onnx' : 'openvino',
      overload: '',
      index: -1 - ++this.count,
      attributes: new Map<string, Attribute>(),
      captures: [],
      place: { node: parts.name, type: parts.type, ...(path !== '' && { graphPath: path }) },
      ...parts
    }
  }

  /** A layer of IR. */
  layer(
    type: string,
    name: string,
    inputs: readonly ValueId[],
    outputs: readonly ValueId[],
    more?: Partial<Node>
  ): Node {
    return this.node({ type, version: 'opset1', name, inputs, outputs, ...more })
  }

  /** An input or output of an IR, and its layer. */
  port(type: 'Parameter' | 'Result', value: GraphValue, declared: DeclaredType | undefined): [GraphPort, Node] {
    const [name, ...aliases] = value.names
    const isInput = type === 'Parameter'
    const layer = this.layer(
      type,
      isInput ? name : `${name}/sink_port_0`,
      isInput ? [] : [value.id],
      isInput ? [value.id] : [],
      isInput ? {} : { inputPorts: [{ id: '0', declared: declared ?? { kind: 'tensor' }, place: {}, dimPlaces: [] }] }
    )
    const port = {
      name,
      aliases,
      value: value.id,
      node: layer.index,
      place: layer.place,
      ...(declared && { declared })
    }
    return [port, layer]
  }
}

/** Ids of the values of a graph, twice where a node makes them. */
export function* valueIds({ values, nodes }: Graph): Generator<ValueId> {
  yield* values.keys()
  for (const { outputs } of nodes) for (const id of outputs) if (id !== undefined) yield id
}
