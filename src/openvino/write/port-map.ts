import type { Graph, Node, PortMap, PortMapEntry } from '../../graph/graph.ts'
import { type Ids, layersOfPorts } from './ids.ts'
import { type OriginalLayer, sameList } from './original.ts'
import type { GraphWriter } from './writer.ts'
import type { Pair } from './xml-text.ts'

/** A body of a layer with the ids of its layers. */
export interface Body {
  readonly tag: string
  readonly graph: Graph
  readonly ids: Ids
}

/**
 * Writes the port map of a body, and its back edges where `tag` is `body`: as the file has them where they, and what
 * they name, are the same.
 */
export function writePortMap(
  writer: GraphWriter,
  node: Node,
  layer: OriginalLayer | undefined,
  body: Body,
  mapTag: string
): void {
  const { out, original } = writer
  const map = node.portMaps?.get(body.tag) ?? { entries: [], backEdges: [] }
  const tags = body.tag === 'body' ? [mapTag, 'back_edges'] : [mapTag]
  if (layer !== undefined && original !== undefined && isSame(node, map, layer, body)) {
    for (const tag of tags) {
      const element = original.xml.child(layer.element, tag)
      if (element !== undefined) out.copy(original.xml, element)
    }
    return
  }
  const parameters = layersOfPorts(body.graph, body.ids, 'input')
  const results = layersOfPorts(body.graph, body.ids, 'output')
  out.open(mapTag)
  const inputs = writer.ids.inputs[node.index].length
  for (const entry of map.entries) {
    const internal = (entry.side === 'input' ? parameters : results)[entry.bodyIndex]
    out.leaf(entry.side, entryPairs(entry, internal, inputs))
  }
  out.close(mapTag)
  if (body.tag !== 'body' || map.backEdges.length === 0) return
  out.open('back_edges')
  for (const { fromResult, toParameter } of map.backEdges)
    out.leaf('edge', [
      ['from-layer', results[fromResult]],
      ['to-layer', parameters[toParameter]]
    ])
  out.close('back_edges')
}

function entryPairs(entry: PortMapEntry, internal: string, inputs: number): Pair[] {
  const { side, externalPort, axis, start = 0, end = -1, stride = 1, partSize = 1, purpose } = entry
  const external = externalPort < 0 || side === 'input' ? externalPort : inputs + externalPort
  const ends: Pair[] = [
    ['external_port_id', external],
    ['internal_layer_id', internal]
  ]
  if (purpose !== undefined) ends.push(['purpose', purpose])
  return axis === undefined
    ? ends
    : [['axis', axis], ...ends, ['start', start], ['end', end], ['stride', stride], ['part_size', partSize]]
}

function isSame(node: Node, map: PortMap, layer: OriginalLayer, { tag, graph, ids }: Body): boolean {
  const before = layer.node.portMaps?.get(tag)
  const bodyBefore = layer.node.attributes.get(tag)
  if (before === undefined || bodyBefore?.kind !== 'graph') return false
  if (layer.node.inputs.length !== node.inputs.length || layer.node.outputs.length !== node.outputs.length) return false
  const idsBefore = (ports: Graph['inputs']): (string | undefined)[] =>
    ports.map(port => (port.node === undefined ? '' : bodyBefore.value.nodes[port.node].layer))
  return (
    sameList(layersOfPorts(graph, ids, 'input'), idsBefore(bodyBefore.value.inputs)) &&
    sameList(layersOfPorts(graph, ids, 'output'), idsBefore(bodyBefore.value.outputs)) &&
    sameList(map.entries, before.entries, sameEntry) &&
    sameList(
      map.backEdges,
      before.backEdges,
      (a, b) => a.fromResult === b.fromResult && a.toParameter === b.toParameter
    )
  )
}

const COMPARED = ['side', 'externalPort', 'bodyIndex', 'axis', 'start', 'end', 'stride', 'partSize', 'purpose'] as const

const sameEntry = (a: PortMapEntry, b: PortMapEntry): boolean => COMPARED.every(key => a[key] === b[key])
