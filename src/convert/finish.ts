import type { Graph, GraphPort, GraphValue, Node, ValueId } from '../graph/graph.ts'
import { declarationOf, declaredIn } from './declare.ts'
import { layersOf } from './layers.ts'
import { Names, nodeName } from './names.ts'
import { type MadeValue, neededBy, type Scope, valueOf } from './scope.ts'
import { GraphWriter } from './writer.ts'

/** A graph output of the source: its names. */
export type OutputPort = Pick<GraphPort, 'name' | 'aliases'>

/**
 * The graph of a scope: nodes that outputs need, in order. Values of ONNX still have passing names, since those of
 * bodies must differ from those around them; {@link named} gives them theirs.
 * @param ports graph outputs of the source; left out for bodies
 */
export function finishGraph(scope: Scope, outputs: readonly MadeValue[], ports?: readonly OutputPort[]): Graph {
  return scope.making.dialect === 'onnx' ? onnxGraph(scope, outputs, ports) : openvinoGraph(scope, outputs, ports)
}

/** ONNX: each output of a graph is a value of a node of its own. */
function ownOutputs(
  scope: Scope,
  outputs: readonly MadeValue[],
  ports: readonly OutputPort[] | undefined
): MadeValue[] {
  const hasNone = (): never => {
    throw new Error('an identity has no body')
  }
  const w = new GraphWriter(scope, '', { convert: hasNone, make: hasNone })
  const taken = new Set<MadeValue>()
  return outputs.map((value, i) => {
    const isOwn = value.origin.kind === 'node' && value.scope === scope && !taken.has(value)
    const own = isOwn ? value : valueOf(w.node('Identity', [value]))
    taken.add(own)
    if (ports) own.names = [ports[i].name]
    else if (own.names.length === 0) own.names = value.names
    return own
  })
}

function onnxGraph(scope: Scope, outputs: readonly MadeValue[], ports: readonly OutputPort[] | undefined): Graph {
  const own = ownOutputs(scope, outputs, ports)
  const { nodes, values } = neededBy(own, scope)
  const { file, values: makers } = scope.making
  const place = { file, ...(scope.path && { graphPath: scope.path }) }
  const port = (value: MadeValue): GraphPort => {
    const declared = declaredIn('onnx', declarationOf(value.fact))
    return { name: value.id, aliases: [], value: value.id, ...(declared && { declared }), place }
  }
  const graphValues = new Map<ValueId, GraphValue>()
  const add = (value: MadeValue): void => {
    const declared = declaredIn('onnx', declarationOf(value.fact))
    graphValues.set(value.id, { id: value.id, name: value.id, names: [value.id], ...(declared && { declared }), place })
  }
  scope.inputs.forEach(add)
  const constants = [...values].filter(({ origin, scope: where }) => origin.kind === 'constant' && where === scope)
  constants.forEach(add)
  const names = new Names()
  const finished = nodes.map(({ node }, index): Node => {
    for (const id of node.outputs) if (id !== undefined) add(makers.get(id)!)
    return {
      ...node,
      index,
      name: names.unique(nodeName(node, makers)),
      place: { ...place, node: node.name, type: node.type }
    }
  })
  return {
    dialect: 'onnx',
    name: scope.path === '' ? '' : scope.path.slice(scope.path.lastIndexOf(':') + 1),
    path: scope.path,
    inputs: scope.inputs.map(port),
    outputs: own.map(port),
    nodes: finished,
    values: graphValues,
    initializers: new Map([
      ...[...scope.defaults].map(([{ id }, constant]) => [id, constant] as const),
      ...constants.flatMap(({ id, origin }) => (origin.kind === 'constant' ? [[id, origin.constant] as const] : []))
    ]),
    findings: []
  }
}

function openvinoGraph(scope: Scope, outputs: readonly MadeValue[], ports: readonly OutputPort[] | undefined): Graph {
  const { nodes, values } = neededBy([...outputs, ...scope.sinks], scope)
  return {
    dialect: 'openvino',
    name: '',
    path: scope.path,
    ...layersOf(scope, nodes, values, outputs, ports),
    initializers: new Map(),
    findings: []
  }
}

/** An ONNX graph with a name for every value: no value of a body has the name of one around it. */
export function named(graph: Graph, makers: ReadonlyMap<ValueId, MadeValue>): Graph {
  if (graph.dialect !== 'onnx') return graph
  const names = new Names()
  const known = new Map<ValueId, string>()
  const all = [...graph.inputs, ...graph.outputs]
  for (const { value } of all) known.set(value, names.unique(wanted(value, makers)))
  return rename(graph, makers, names, known)
}

const wanted = (id: ValueId, makers: ReadonlyMap<ValueId, MadeValue>): string => makers.get(id)?.names.at(0) ?? ''

function rename(
  graph: Graph,
  makers: ReadonlyMap<ValueId, MadeValue>,
  names: Names,
  outer: ReadonlyMap<ValueId, string>
): Graph {
  const known = new Map(outer)
  const nodeOf = new Map(graph.nodes.flatMap(node => node.outputs.map(id => [id, node.name] as const)))
  for (const id of graph.values.keys())
    if (!known.has(id)) known.set(id, names.unique(wanted(id, makers) || (nodeOf.get(id) ?? 'constant')))
  const to = (id: ValueId): ValueId => known.get(id) ?? id
  const maybe = (id: ValueId | undefined): ValueId | undefined => (id === undefined ? undefined : to(id))
  const port = (one: GraphPort): GraphPort => ({ ...one, name: to(one.value), value: to(one.value) })
  return {
    ...graph,
    inputs: graph.inputs.map(port),
    outputs: graph.outputs.map(port),
    values: new Map(
      [...graph.values].map(([id, value]) => [to(id), { ...value, id: to(id), name: to(id), names: [to(id)] }])
    ),
    initializers: new Map([...graph.initializers].map(([id, constant]) => [to(id), constant])),
    nodes: graph.nodes.map(node => ({
      ...node,
      inputs: node.inputs.map(maybe),
      outputs: node.outputs.map(maybe),
      captures: node.captures.map(to),
      attributes: new Map(
        [...node.attributes].map(([name, attribute]) => [
          name,
          attribute.kind === 'graph'
            ? { kind: 'graph', value: rename(attribute.value, makers, names, known) }
            : attribute
        ])
      )
    }))
  }
}
