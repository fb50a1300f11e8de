import {
  type Attribute,
  bodiesOf,
  type Constant,
  type Graph,
  isPortLayer,
  type Model,
  type Node
} from '../graph/graph.ts'
import { Names } from './names.ts'

/**
 * An IR in the shape of an ONNX model, for the printer of ONNX's text: values by their names, Const layers as
 * initializers, the opset of a layer as its domain, port maps as attributes. It is to be read, and never run.
 */
export const readableIr = (model: Model): Model => ({
  ...model,
  graph: readableGraph(model.graph),
  metadata: new Map()
})

function readableGraph(graph: Graph): Graph {
  const names = new Names()
  const ids = new Map([...graph.values].map(([id, { name }]) => [id, names.unique(name)]))
  const nameOf = (id: string | undefined): string | undefined => (id === undefined ? undefined : (ids.get(id) ?? id))
  const port = (one: Graph['inputs'][number]): Graph['inputs'][number] => ({ ...one, name: nameOf(one.value) ?? '' })
  const initializers = new Map<string, Constant>()
  for (const { constant, outputs } of graph.nodes) if (constant) initializers.set(nameOf(outputs[0]) ?? '', constant)
  return {
    ...graph,
    name: graph.name === '' ? 'body' : graph.name,
    inputs: graph.inputs.map(port),
    outputs: graph.outputs.map(port),
    initializers,
    values: new Map([...graph.values].map(([id, value]) => [id, { ...declaredOnly(value), id: nameOf(id) ?? id }])),
    nodes: graph.nodes
      .filter(node => node.constant === undefined && !isPortLayer(node))
      .map(node => ({
        ...node,
        domain: node.version,
        inputs: node.inputs.map(nameOf),
        outputs: node.outputs.map(nameOf),
        attributes: readableAttributes(node)
      }))
  }
}

const declaredOnly = ({
  name,
  names,
  declared,
  place
}: Graph['values'] extends ReadonlyMap<string, infer V> ? V : never) => ({
  name,
  names,
  place,
  ...(declared && { declared })
})

/** The attributes without the marks of OpenVINO's passes, and how bodies are connected. */
function readableAttributes(node: Node): Map<string, Attribute> {
  const attributes = new Map<string, Attribute>()
  for (const [name, attribute] of node.attributes)
    if (attribute.kind !== 'graph' && !name.startsWith('rt_info.')) attributes.set(name, attribute)
  for (const { attribute, graph } of bodiesOf(node)) {
    const ports = portsText(node, attribute, graph)
    if (ports.length > 0) attributes.set(`${attribute}_ports`, { kind: 'strings', value: ports })
    attributes.set(attribute, { kind: 'graph', value: readableGraph(graph) })
  }
  return attributes
}

function portsText({ portMaps }: Node, body: string, { inputs, outputs }: Graph): string[] {
  const map = portMaps?.get(body)
  const entries = (map?.entries ?? []).map(
    ({ side, externalPort, bodyIndex, axis, start, end, stride, partSize, purpose }) => {
      const name = (side === 'input' ? inputs : outputs)[bodyIndex]?.name ?? String(bodyIndex)
      const details = Object.entries({ axis, start, end, stride, part_size: partSize, purpose })
      const more = details.flatMap(([key, value]) => (value === undefined ? [] : ` ${key}=${value}`)).join('')
      return `${side} ${externalPort}: ${name}${more}`
    }
  )
  const edges = (map?.backEdges ?? []).map(
    ({ fromResult, toParameter }) => `${outputs[fromResult]?.name} -> ${inputs[toParameter]?.name}`
  )
  return [...entries, ...edges]
}
