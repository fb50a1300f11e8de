import type { Attribute, Graph, GraphValue, Node, PortMap, ValueId } from '../graph/graph.ts'
import { exceed } from '../graph/limits.ts'
import { sortNodes } from '../graph/sort.ts'
import { readConstant } from './constants.ts'
import { connect, valueId } from './edges.ts'
import { fragmentInputs, fragmentOutputs, inputPorts, outputPorts } from './inout.ts'
import { BODIES, type Layer, readAttributes, readLayer } from './layers.ts'
import { readPortMap } from './portmap.ts'
import { PortValue } from './ports.ts'
import { type GraphScope, type ModelScope, quote, report } from './scope.ts'
import type { Element } from './tree.ts'

/**
 * The graph in a `<net>` or in the element of a body. Layers keep the order of the file, and so do Parameters as inputs
 * and Results as outputs.
 */
export function readGraph(model: ModelScope, element: Element, path: string, name: string): Graph {
  const { xml } = model
  const scope: GraphScope = { model, path, findings: [] }
  const layers = xml
    .children(xml.child(element, 'layers'), 'layer')
    .map((layer, index) => readLayer(scope, layer, index))
  connect(scope, layers, xml.children(xml.child(element, 'edges'), 'edge'))
  const values = new Map<ValueId, GraphValue>()
  const nodes = layers.map(layer => readNode(scope, layer, values))
  const inputs = inputPorts(scope, layers, values)
  return finish(scope, layers, { name, inputs, outputs: outputPorts(scope, layers, values), nodes, values })
}

/**
 * A `<layer>` without a net, as documentation shows it: a graph of this layer, with its ports as inputs and outputs.
 */
export function readFragment(model: ModelScope, element: Element): Graph {
  const scope: GraphScope = { model, path: '', findings: [] }
  const layer = readLayer(scope, element, 0)
  const values = new Map<ValueId, GraphValue>()
  const unconnected = fragmentInputs(layer, values)
  const nodes = [readNode(scope, layer, values)]
  const inputs = [...inputPorts(scope, [layer], values), ...unconnected]
  const outputs = layer.role === 'result' ? outputPorts(scope, [layer], values) : fragmentOutputs(layer, values)
  return finish(scope, [layer], { name: layer.name, inputs, outputs, nodes, values })
}

type Parts = Pick<Graph, 'name' | 'inputs' | 'outputs' | 'nodes' | 'values'>

function finish(scope: GraphScope, layers: readonly Layer[], parts: Parts): Graph {
  reportCycle(scope, layers, parts.nodes)
  return { dialect: 'openvino', path: scope.path, ...parts, initializers: new Map(), findings: scope.findings }
}

/** The node of a layer. The values that it makes are added to `values`. */
function readNode(scope: GraphScope, layer: Layer, values: Map<ValueId, GraphValue>): Node {
  const outputs = layer.outputs.ports.map((port, position) => {
    const id = valueId(layer.index, position)
    const own = layer.outputs.ports.length > 1 ? `${layer.name}.${position}` : layer.name
    const names = port.names.length > 0 ? port.names : [own]
    values.set(id, new PortValue(id, names[0], names, port))
    return id
  })
  const attributes = readAttributes(scope, layer)
  const portMaps = readBodies(scope, layer, attributes)
  const constant = layer.role === 'constant' ? readConstant(scope, layer, layer.data) : undefined
  return {
    dialect: 'openvino',
    domain: 'openvino',
    type: layer.type,
    version: layer.version,
    overload: '',
    name: layer.name,
    index: layer.index,
    inputs: layer.sources,
    outputs,
    attributes,
    captures: [],
    inputPorts: layer.inputs.ports,
    layer: layer.id,
    place: layer.place,
    ...(portMaps && { portMaps }),
    ...(constant && { constant })
  }
}

/** Adds the bodies of a layer to its attributes. Returns their port maps; undefined where there is no body. */
function readBodies(
  scope: GraphScope,
  layer: Layer,
  attributes: Map<string, Attribute>
): Map<string, PortMap> | undefined {
  const { model, path } = scope
  const { xml } = model
  let portMaps: Map<string, PortMap> | undefined
  for (const { tag, portMap } of BODIES) {
    const element = xml.child(layer.element, tag)
    if (element === undefined) continue
    const bodyPath = `${path === '' ? '' : `${path}/`}${layer.index}:${tag}`
    const { limits, locate } = model
    if (bodyPath.split('/').length > limits.graphDepth)
      exceed('graphDepth', limits, `bodies are nested more than ${limits.graphDepth} deep`, locate(layer.place))
    const body = readGraph(model, element, bodyPath, '')
    attributes.set(tag, { kind: 'graph', value: body })
    const backEdges = tag === 'body' ? xml.child(layer.element, 'back_edges') : undefined
    portMaps ??= new Map()
    portMaps.set(tag, readPortMap(scope, layer, xml.child(layer.element, portMap), backEdges, body))
  }
  return portMaps
}

/**
 * Reports a cycle at the edge that leads furthest back in the file: layers are usually written in an order in which
 * they can run, so that edge is the likely fault.
 */
function reportCycle(scope: GraphScope, layers: readonly Layer[], nodes: readonly Node[]): void {
  const { cycle } = sortNodes({ nodes })
  if (cycle === undefined) return
  const links = cycle.map((to, i) => ({ to, from: cycle[(i + 1) % cycle.length] }))
  const back = links.reduce((furthest, link) => (link.from - link.to > furthest.from - furthest.to ? link : furthest))
  const to = layers[back.to]
  const input = to.sources.findIndex(source => source?.startsWith(`${back.from}:`))
  const edge = to.edges[input]
  const place =
    edge === undefined
      ? to.place
      : { ...to.place, offset: scope.model.xml.offset(edge), port: to.inputs.ports[input].id }
  const through = cycle.length === 1 ? 'itself' : `${cycle.length} layers`
  report(scope, 'error', 'cycle', `${quote(to.name)} needs its own result: a circle through ${through}`, place, {
    node: back.to
  })
}
