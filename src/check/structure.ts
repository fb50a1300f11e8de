import type { Place } from '../errors.ts'
import { allGraphs, type Finding, type Graph, type Model, type Node, type ValueId } from '../graph/graph.ts'

/** Nodes that reading the file found fault with: what else is wrong with them follows from that. */
export function faultyNodes(graph: Graph): Set<Node> {
  const layers = new Set<string>()
  const indices = new Set<string>()
  const key = (index: number, { graphPath = '' }: Place): string => `${index} ${graphPath}`
  for (const { severity, place } of graph.findings) {
    if (severity !== 'error') continue
    if (place.layer !== undefined) layers.add(place.layer)
    else if (place.nodeIndex !== undefined) indices.add(key(place.nodeIndex, place))
  }
  if (layers.size + indices.size === 0) return new Set()
  return new Set(graph.nodes.filter(({ layer, index, place }) => (layer !== undefined && layers.has(layer)) || indices.has(key(index, place))))
}

/** Values that reading the file found fault with, or whose node has a fault: neither their type nor their dims can be believed. */
export const faultyValues = (graph: Graph, faulty: ReadonlySet<Node>): Set<ValueId | undefined> => new Set([
  ...[...faulty].flatMap(node => node.outputs),
  ...graph.findings.filter(({ severity }) => severity === 'error').map(({ place }) => place.value)
])

/**
 * Layers of an IR that no Result and no Assign needs, by graph: OpenVINO drops them silently, so what is wrong in them
 * harms nobody. ONNX has no such rule.
 */
export function deadLayers(model: Model): Map<string, Set<string>> {
  if (model.dialect !== 'openvino') return new Map()
  return new Map([...allGraphs(model)].map(graph => [graph.path, deadIn(graph)]))
}

function deadIn(graph: Graph): Set<string> {
  if (graph.outputs.length === 0) return new Set()
  const producers = new Map<ValueId, Node>()
  for (const node of graph.nodes) for (const id of node.outputs) if (id !== undefined) producers.set(id, node)
  const live = new Set<Node>()
  const sinks = graph.nodes.filter(({ type }) => type === 'Result' || type === 'Parameter' || type === 'Assign')
  const pending = [...sinks, ...graph.outputs.flatMap(({ value }) => producers.get(value) ?? [])]
  while (pending.length > 0) {
    const node = pending.pop()!
    if (live.has(node)) continue
    live.add(node)
    for (const id of node.inputs) {
      const producer = id === undefined ? undefined : producers.get(id)
      if (producer) pending.push(producer)
    }
  }
  const dead = new Set(graph.nodes.flatMap(node => live.has(node) || node.layer === undefined ? [] : [node.layer]))
  for (const { layer } of live) if (layer !== undefined) dead.delete(layer)
  return dead
}

/** A finding about a dead layer as a warning; one note for each dead layer itself. */
export function withDeadLayers(model: Model, findings: readonly Finding[]): Finding[] {
  const dead = deadLayers(model)
  const isDead = ({ layer, graphPath }: Finding['place']): boolean => layer !== undefined && dead.get(graphPath ?? '')?.has(layer) === true
  const notes = [...allGraphs(model)].flatMap(graph => graph.nodes
    .filter(({ layer }) => layer !== undefined && dead.get(graph.path)?.has(layer))
    .map(({ type, name, place }): Finding => ({ code: 'dead-layer', severity: 'note', message: `no Result needs ${type} "${name}"`, place })))
  return [...findings.map((finding): Finding => finding.severity === 'error' && isDead(finding.place) ? { ...finding, severity: 'warning' } : finding), ...notes]
}
