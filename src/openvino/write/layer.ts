import type { Graph, Node } from '../../graph/graph.ts'
import { BODIES, LAYER_SECTIONS } from '../layers.ts'
import type { Element } from '../tree.ts'
import { writeData } from './data.ts'
import { type Ids, idsOf } from './ids.ts'
import type { OriginalLayer } from './original.ts'
import { type Body, writePortMap } from './port-map.ts'
import { joinNames, writeInputs, writeOutputs } from './ports.ts'
import type { GraphWriter } from './writer.ts'
import type { Pair } from './xml-text.ts'

/** Writes what a body is made of; the writer of graphs gives it, since a body is a graph. */
export type WriteBody = (body: Body, element: Element | undefined) => Generator<string>

/** Writes a layer, its sections in the order that OpenVINO has. */
export function* writeLayer(writer: GraphWriter, node: Node, writeBody: WriteBody): Generator<string> {
  const { out, original } = writer
  const layer = original?.layerOf(node)
  out.open('layer', layerPairs(writer, node, layer))
  writeData(writer, node, layer)
  const bodies = bodiesOfLayer(writer, node)
  // The port map of an If's else branch stands before that of the other.
  for (const { body, portMap } of bodies.toReversed()) writePortMap(writer, node, layer, body, portMap)
  writeInputs(writer, node, layer)
  writeOutputs(writer, node, layer)
  for (const { body } of bodies) {
    const element = layer && original?.xml.child(layer.element, body.tag)
    yield* writeBody(body, element)
  }
  if (layer !== undefined && original !== undefined)
    for (const child of original.xml.children(layer.element))
      if (!LAYER_SECTIONS.has(original.xml.name(child))) out.copy(original.xml, child)
  out.close('layer')
}

function bodiesOfLayer({ original }: GraphWriter, node: Node): { body: Body; portMap: string }[] {
  return BODIES.flatMap(({ tag, portMap }) => {
    const attribute = node.attributes.get(tag)
    if (attribute?.kind !== 'graph') return []
    const graph: Graph = attribute.value
    const ids: Ids = idsOf(graph, original)
    return [{ body: { tag, graph, ids }, portMap }]
  })
}

/** Attributes of `<layer>`: those of the file, in which what the node says otherwise is replaced. */
function layerPairs(writer: GraphWriter, node: Node, layer: OriginalLayer | undefined): Iterable<Pair> {
  const { ids, original } = writer
  const { name, type, version } = node
  const id = ids.layers[node.index]
  if (layer === undefined || original === undefined) {
    const pairs: Pair[] = Object.entries({ id, name, type, version })
    const names = outputNames(writer, node)
    return names === undefined ? pairs : [...pairs, ['output_names', names]]
  }
  const pairs = new Map(original.xml.attributePairs(layer.element))
  const said = { id: layer.node.layer ?? '', name: layer.node.name, type: layer.node.type, version: layer.node.version }
  for (const [key, value] of Object.entries({ id, name, type, version }))
    if (said[key as keyof typeof said] !== value) pairs.set(key, value)
  return pairs
}

/** IR 11: the names of the output that a Result stands for. */
function outputNames({ graph, irVersion }: GraphWriter, node: Node): string | undefined {
  if (node.type !== 'Result' || irVersion < 11) return undefined
  const port = graph.outputs.find(output => output.node === node.index)
  return port && joinNames([port.name])
}
