import type { Constant, Graph, Model, Node, ValueId } from 'nodewise'
import { type Columns, type GraphRecord, KIND, textColumn } from '../graph/columns.ts'
import { LEFT_OUT, type Ports, PortsBuilder } from './ports.ts'

/** More records are not made of calls of functions: a few lines of a file may call for millions of nodes. */
const MAX_EXPANDED = 200_000

/** A model as columns, and the way back from their numbers to the model. */
export interface Flat {
  readonly columns: Columns
  /** The node of each record, where it is one, and the graph that it is in. */
  readonly nodes: readonly (Node | undefined)[]
  readonly values: Values
  readonly constants: ReadonlyMap<number, Constant>
  /** The values that each record reads and makes. */
  readonly inputs: Ports
  readonly outputs: Ports
}

/** The values of a model: by index what they are called, and by the way that findings and facts have it their index. */
export interface Values {
  readonly names: readonly string[]
  /** The id in its graph, as facts have it. */
  readonly ids: readonly ValueId[]
  /** By the path of a graph: the index of the value of each id. */
  readonly indices: ReadonlyMap<string, ReadonlyMap<ValueId, number>>
}

/** How the values of a graph are called: by id, the index of the value; what is not its own is of the graph around. */
class Scope {
  readonly own: Map<ValueId, number>
  private readonly outer: Scope | undefined

  constructor(own: Map<ValueId, number>, outer?: Scope) {
    this.own = own
    this.outer = outer
  }

  get(id: ValueId): number | undefined {
    return this.own.get(id) ?? this.outer?.get(id)
  }
}

/** A model's graphs, bodies and called functions, in one list of records. */
export function flatten(model: Model): Flat {
  const flattener = new Flattener(model)
  flattener.graph(model.graph, { path: '', label: '', owner: -1, prefix: '', isCall: false })
  flattener.rest()
  return flattener.flat()
}

interface Within {
  readonly path: string
  readonly label: string
  readonly owner: number
  readonly outer?: Scope
  /** What checks put before the ids of values: the way from the call of a function, with a slash at its end. */
  readonly prefix: string
  /** The graph is that of a function, where it is called: the call gives its inputs. */
  readonly isCall: boolean
}

class Flattener {
  private readonly model: Model
  private readonly graphs: GraphRecord[] = []
  private readonly names: string[] = []
  private readonly kinds: number[] = []
  private readonly typeIds: number[] = []
  private readonly types: string[] = []
  private readonly typeIndex = new Map<string, number>()
  private readonly graphIds: number[] = []
  private readonly values: string[] = []
  private readonly makers: number[] = []
  private readonly ids: ValueId[] = []
  private readonly indices = new Map<string, Map<ValueId, number>>()
  private readonly nodes: (Node | undefined)[] = []
  private readonly inputs = new PortsBuilder()
  private readonly outputs = new PortsBuilder()
  private readonly constants = new Map<number, Constant>()
  /** Bodies and functions that are still to be listed: a graph's records lie together. */
  private readonly waiting: { readonly graph: Graph; readonly within: Within }[] = []

  constructor(model: Model) {
    this.model = model
  }

  rest(): void {
    // The list grows meanwhile.
    for (const { graph, within } of this.waiting) this.graph(graph, within)
  }

  graph(graph: Graph, within: Within): void {
    const first = this.names.length
    const indices = this.indicesAt(within.path)
    // Ids of functions have the path of the call before them, so those of their graphs are apart.
    const scope = new Scope(within.prefix === '' ? indices : new Map(), within.outer)
    if (graph.dialect === 'onnx') {
      for (const [id, constant] of graph.initializers)
        this.constants.set(this.value(graph, within, scope, id, -1), constant)
      if (!within.isCall)
        for (const { name, value } of graph.inputs)
          if (!graph.initializers.has(value)) {
            const record = this.record(name, 'Input', KIND.input, undefined)
            this.inputs.begin()
            this.outputs.add(this.value(graph, within, scope, value, record))
          }
    }
    const start = this.names.length
    for (const node of graph.nodes) this.node(graph, within, scope, node)
    for (const [i, node] of graph.nodes.entries()) {
      this.inputs.begin()
      for (const id of node.inputs) this.inputs.add(id === undefined ? undefined : this.read(graph, within, scope, id))
      this.bodies(node, start + i, within, scope)
    }
    if (graph.dialect === 'onnx')
      for (const { name, value } of graph.outputs) {
        this.record(name, 'Output', KIND.output, undefined)
        this.inputs.begin()
        this.inputs.add(this.read(graph, within, scope, value))
      }
    const count = this.names.length - first
    for (let i = 0; i < count; i++) this.graphIds.push(this.graphs.length)
    const { path: valuePath, label, owner, prefix } = within
    this.graphs.push({ path: prefix === '' ? valuePath : prefix.slice(0, -1), valuePath, label, owner, first, count })
  }

  private node(graph: Graph, within: Within, scope: Scope, node: Node): void {
    const isIr = node.dialect === 'openvino'
    const constant = node.constant ?? (isIr ? undefined : this.constantOf(node, scope))
    const isConstant = constant !== undefined || (isIr ? node.type === 'Const' : node.type === 'Constant')
    const kind = isConstant
      ? KIND.constant
      : isIr && node.type === 'Parameter'
        ? KIND.input
        : isIr && node.type === 'Result'
          ? KIND.output
          : KIND.node
    const record = this.record(node.name, node.type, kind, node)
    for (const id of node.outputs)
      this.outputs.add(id === undefined ? undefined : this.value(graph, within, scope, id, isConstant ? -1 : record))
    const made = this.outputs.at(record, 0)
    if (constant && made !== undefined) this.constants.set(made, constant)
  }

  /** The constant that an ONNX node stands for: Constant has one, and exporters share weights by Identity. */
  private constantOf({ type, domain, inputs, attributes }: Node, scope: Scope): Constant | undefined {
    if (domain !== 'ai.onnx') return undefined
    const attribute = attributes.get('value')
    if (type === 'Constant') return attribute?.kind === 'tensor' ? attribute.value : undefined
    const [input] = inputs
    return type === 'Identity' && input !== undefined ? this.constants.get(scope.get(input) ?? -1) : undefined
  }

  private bodies(node: Node, record: number, within: Within, scope: Scope): void {
    const add = (graph: Graph, label: string): void => {
      // Where functions are expanded, a body within one is called by its graph's name.
      const prefix = within.prefix === '' ? '' : `${within.prefix}${graph.name}/`
      this.waiting.push({
        graph,
        within: { path: graph.path, label, owner: record, outer: scope, prefix, isCall: false }
      })
    }
    if (node.attributes.size > 0)
      for (const [name, attribute] of node.attributes) {
        if (attribute.kind === 'graph') add(attribute.value, name)
        else if (attribute.kind === 'graphs') attribute.value.forEach((graph, i) => add(graph, `${name} ${i}`))
      }
    const { functions } = this.model
    if (functions.size === 0) return
    const called = functions.get(`${node.domain}::${node.type}::${node.overload}`)
    if (node.dialect !== 'onnx' || !called || this.names.length > MAX_EXPANDED) return
    const outer = new Scope(new Map())
    called.graph.inputs.forEach(({ value }, i) => {
      const given = this.inputs.at(record, i)
      if (given !== undefined) outer.own.set(value, given)
    })
    const around = within.prefix === '' && within.path !== '' ? `${within.path}/` : within.prefix
    const prefix = `${around}${node.index}:${node.type}/`
    this.waiting.push({
      graph: called.graph,
      within: { path: within.path, label: called.name, owner: record, outer, prefix, isCall: true }
    })
  }

  private record(name: string, type: string, kind: number, node: Node | undefined): number {
    let id = this.typeIndex.get(type)
    if (id === undefined) {
      id = Math.min(this.types.length, 0xffff)
      this.types.push(type)
      this.typeIndex.set(type, id)
    }
    this.names.push(name)
    this.kinds.push(kind)
    this.typeIds.push(id)
    this.nodes.push(node)
    this.outputs.begin()
    return this.names.length - 1
  }

  private value(graph: Graph, { path, prefix }: Within, scope: Scope, id: ValueId, maker: number): number {
    const index = this.values.length
    this.values.push(graph.dialect === 'onnx' ? id : (graph.values.get(id)?.name ?? id))
    this.makers.push(maker)
    const key = prefix + id
    this.ids.push(key)
    this.indicesAt(path).set(key, index)
    if (prefix !== '') scope.own.set(id, index)
    return index
  }

  private indicesAt(path: string): Map<ValueId, number> {
    let indices = this.indices.get(path)
    if (!indices) this.indices.set(path, (indices = new Map()))
    return indices
  }

  /** A value that is read: one that nothing makes is a value all the same. */
  private read(graph: Graph, within: Within, scope: Scope, id: ValueId): number {
    return scope.get(id) ?? this.value(graph, within, scope, id, -1)
  }

  flat(): Flat {
    const [from, to, value]: number[][] = [[], [], []]
    const weights = new Map<number, string[]>()
    const { nodes, constants, makers } = this
    const [inputs, outputs] = [this.inputs.ports(), this.outputs.ports()]
    for (let record = 0; record < nodes.length; record++)
      for (let i = inputs.starts[record]; i < inputs.starts[record + 1]; i++) {
        const index = inputs.values[i]
        if (index === LEFT_OUT) continue
        if (makers[index] >= 0) {
          from.push(makers[index])
          to.push(record)
          value.push(index)
          continue
        }
        const constant = constants.get(index)
        if (constant?.dims.some(dim => dim > 1) !== true) continue
        const text = constant.dims.join('×')
        const list = weights.get(record)
        if (list) list.push(text)
        else weights.set(record, [text])
      }
    const columns: Columns = {
      graphs: this.graphs,
      names: textColumn(this.names),
      types: this.types,
      type: Uint16Array.from(this.typeIds),
      kind: Uint8Array.from(this.kinds),
      graph: Uint32Array.from(this.graphIds),
      from: Int32Array.from(from),
      to: Int32Array.from(to),
      value: Int32Array.from(value),
      maker: Int32Array.from(makers),
      weights
    }
    const values: Values = { names: this.values, ids: this.ids, indices: this.indices }
    return { columns, nodes, values, constants, inputs, outputs }
  }
}
