import { printDeclared } from '../check/compare.ts'
import type { CheckedValue, CheckResult } from '../check/result.ts'
import type { Place } from '../errors.ts'
import { allGraphs, type DeclaredType, type Graph, type Model, type Node, type ValueId } from '../graph/graph.ts'
import { dtypeName } from '../tensor/dtype.ts'
import { mapType } from '../tensor/map.ts'
import { dimsText } from './words.ts'

/** What stands at one end of a value: a node, or an input or output of its graph. */
export interface Box {
  readonly type: string
  readonly name: string
}

/** What the file says of a value; `isFalse` where it contradicts what is inferred. */
export interface Said {
  readonly text: string
  readonly isFalse: boolean
}

/** A value between two boxes, with what is known of it and what the file says where that differs. */
export interface Line {
  readonly value: string
  readonly inferred: string
  /** What the producer declares. */
  readonly declared?: Said
  /** What the consumer declares (IR). */
  readonly received?: Said
  readonly box: Box
}

/** A node with all that it reads and all that reads it. */
export interface Neighbourhood {
  readonly box: Box
  readonly inputs: readonly Line[]
  readonly outputs: readonly Line[]
}

/** More neighbours than this are not listed one by one. */
const MAX_LINES = 200

interface GraphIndex {
  readonly graph: Graph
  /** The graph around a body, whose values it may read. */
  readonly outer?: GraphIndex
  readonly makers: ReadonlyMap<ValueId, Node>
  readonly readers: ReadonlyMap<ValueId, readonly (readonly [Node, number])[]>
  readonly layers: ReadonlyMap<string, Node>
  readonly byName: ReadonlyMap<string, ValueId>
}

/** Finds what is around the place of a finding. Graphs are indexed when they are first asked for. */
export function neighbourFinder(model: Model, { values }: CheckResult): (place: Place) => Neighbourhood | undefined {
  const graphs = new Map<string, Graph>()
  for (const graph of allGraphs(model)) if (!graphs.has(graph.path)) graphs.set(graph.path, graph)
  const indices = new Map<string, GraphIndex>()
  let checked: Map<string, CheckedValue> | undefined
  const keyOf = (path: string, id: ValueId): string => `${path}\0${id}`
  const indexOf = (path: string): GraphIndex | undefined => {
    const graph = graphs.get(path)
    if (graph && !indices.has(path))
      indices.set(
        path,
        indexGraph(graph, path === '' ? undefined : indexOf(path.slice(0, Math.max(0, path.lastIndexOf('/')))))
      )
    return indices.get(path)
  }
  return place => {
    const index = indexOf(place.graphPath ?? '')
    if (!index) return undefined
    checked ??= new Map(values.map(value => [keyOf(value.graphPath, value.id), value]))
    const around = new Around(index, ({ path }, id) => checked?.get(keyOf(path, id)))
    const node = around.nodeAt(place)
    if (node) return around.ofNode(node)
    const id = place.value === undefined ? undefined : index.byName.get(place.value)
    return id === undefined ? undefined : around.ofInput(id)
  }
}

function indexGraph(graph: Graph, outer: GraphIndex | undefined): GraphIndex {
  const makers = new Map<ValueId, Node>()
  const readers = new Map<ValueId, (readonly [Node, number])[]>()
  const layers = new Map<string, Node>()
  const byName = new Map<string, ValueId>()
  for (const node of graph.nodes) {
    if (node.layer !== undefined && !layers.has(node.layer)) layers.set(node.layer, node)
    for (const id of node.outputs) if (id !== undefined && !makers.has(id)) makers.set(id, node)
    node.inputs.forEach((id, i) => {
      if (id === undefined) return
      const list = readers.get(id)
      if (list) list.push([node, i])
      else readers.set(id, [[node, i]])
    })
  }
  for (const { id, name } of graph.values.values()) if (!byName.has(name)) byName.set(name, id)
  return { graph, makers, readers, layers, byName, ...(outer && { outer }) }
}

class Around {
  private readonly index: GraphIndex
  private readonly checkedOf: (graph: Graph, id: ValueId) => CheckedValue | undefined

  constructor(index: GraphIndex, checkedOf: (graph: Graph, id: ValueId) => CheckedValue | undefined) {
    this.index = index
    this.checkedOf = checkedOf
  }

  nodeAt({ layer, nodeIndex, value }: Place): Node | undefined {
    const { graph, makers, layers, byName } = this.index
    if (layer !== undefined) return layers.get(layer)
    if (nodeIndex !== undefined) return graph.nodes[nodeIndex]
    const id = value === undefined ? undefined : byName.get(value)
    return id === undefined ? undefined : makers.get(id)
  }

  ofNode(node: Node): Neighbourhood {
    const inputs = node.inputs
      .slice(0, MAX_LINES)
      .flatMap((id, i) => (id === undefined ? [] : [this.line(id, this.makerOf(id), node.inputPorts?.[i]?.declared)]))
    const outputs = node.outputs.slice(0, MAX_LINES).flatMap(id => (id === undefined ? [] : this.readersOf(id)))
    return { box: boxOf(node), inputs, outputs: outputs.slice(0, MAX_LINES) }
  }

  ofInput(id: ValueId): Neighbourhood {
    return { box: this.makerOf(id), inputs: [], outputs: this.readersOf(id) }
  }

  private readersOf(id: ValueId): Line[] {
    const { graph, readers } = this.index
    const lines = (readers.get(id) ?? [])
      .slice(0, MAX_LINES)
      .map(([node, i]) => this.line(id, boxOf(node), node.inputPorts?.[i]?.declared))
    for (const { value, name, declared } of graph.outputs) {
      if (value === id && graph.dialect === 'onnx') lines.push(this.line(id, { type: 'graph output', name }, declared))
    }
    return lines.length > 0 ? lines : [this.line(id, { type: 'no reader', name: '' }, undefined)]
  }

  private makerOf(id: ValueId): Box {
    const { graph, makers } = this.ownerOf(id)
    const node = makers.get(id)
    if (node) return boxOf(node)
    const name = graph.values.get(id)?.name ?? id
    if (graph.initializers.has(id)) return { type: 'initializer', name }
    return { type: isInput(graph, id) ? 'graph input' : 'nothing', name }
  }

  /** The graph that has a value: this one, or for what a body reads from outside one around it. */
  private ownerOf(id: ValueId): GraphIndex {
    for (let index: GraphIndex | undefined = this.index; index; index = index.outer) {
      if (index.makers.has(id) || index.graph.initializers.has(id) || isInput(index.graph, id)) return index
    }
    return this.index
  }

  private line(id: ValueId, box: Box, received: DeclaredType | undefined): Line {
    const { graph } = this.ownerOf(id)
    const value = graph.values.get(id)
    const checked = this.checkedOf(graph, id)
    const isTensor = value?.declared === undefined || value.declared.kind === 'tensor'
    const inferred =
      isTensor && checked
        ? `${checked.type ?? '?'} ${dimsText(checked.dims, checked.type)}`.trimEnd()
        : value?.declared
          ? typeText(value.declared, graph)
          : '?'
    const declared = saidOf(value?.declared, checked, inferred, graph)
    const heard = saidOf(received, checked, inferred, graph)
    return {
      value: value?.name ?? id,
      inferred,
      box,
      ...(declared && { declared }),
      ...(heard && heard.text !== declared?.text && { received: heard })
    }
  }
}

const isInput = (graph: Graph, id: ValueId): boolean => graph.inputs.some(({ value }) => value === id)

/** What a declaration adds to what is inferred; undefined when nothing. */
function saidOf(
  declared: DeclaredType | undefined,
  checked: CheckedValue | undefined,
  inferred: string,
  graph: Graph
): Said | undefined {
  const text = declared && typeText(declared, graph)
  if (declared === undefined || text === undefined || text === inferred) return undefined
  if (declared.kind !== 'tensor') return { text, isFalse: false }
  const { type, dims } = declared
  const isOtherType =
    type !== undefined && checked?.type !== undefined && dtypeName(type, graph.dialect) !== checked.type
  if (dims === undefined) return isOtherType ? { text, isFalse: true } : undefined
  const known = checked?.dims
  return {
    text,
    isFalse:
      isOtherType ||
      (known !== undefined &&
        (known.length !== dims.length ||
          dims.some((dim, i) => typeof dim === 'number' && typeof known[i] === 'number' && dim !== known[i])))
  }
}

const boxOf = ({ type, name }: Node): Box => ({ type, name })

function typeText(declared: DeclaredType, graph: Graph): string {
  if (declared.kind === 'other') return declared.text
  if (declared.kind === 'map') return mapType(declared.keyType, declared.valueType)
  if (declared.kind !== 'tensor') return `${declared.kind} of ${typeText(declared.element, graph)}`
  const type = declared.type === undefined ? '?' : dtypeName(declared.type, graph.dialect)
  return `${type} ${dimsText(declared.dims?.map(dim => (typeof dim === 'number' ? dim : printDeclared(dim))))}`
}
