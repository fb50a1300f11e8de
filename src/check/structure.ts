import type { Place } from '../errors.ts'
import { allGraphs, type Finding, type Graph, type Model, type Node, type ValueId } from '../graph/graph.ts'
import { liveLayers } from '../graph/live.ts'

/** Nodes with an error from reading the file. Further errors of them would only be consequences. */
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
  return new Set(
    graph.nodes.filter(
      ({ layer, index, place }) => (layer !== undefined && layers.has(layer)) || indices.has(key(index, place))
    )
  )
}

/** Values with an error from reading the file, or whose node has one: their type and dims are not known for sure. */
export const faultyValues = (graph: Graph, faulty: ReadonlySet<Node>): Set<ValueId | undefined> =>
  new Set([
    ...[...faulty].flatMap(node => node.outputs),
    ...graph.findings.filter(({ severity }) => severity === 'error').map(({ place }) => place.value)
  ])

/**
 * Ids of the layers of an IR that no Result and no Assign needs, by path of their graph. OpenVINO removes such layers
 * without a word, so errors in them do no harm. ONNX has no such rule.
 */
function deadLayers(model: Model): Map<string, Set<string>> {
  if (model.dialect !== 'openvino') return new Map()
  const all = new Map<string, Set<string>>()
  for (const graph of allGraphs(model)) {
    const dead = deadIn(graph)
    if (dead.size > 0) all.set(graph.path, dead)
  }
  return all
}

function deadIn(graph: Graph): Set<string> {
  if (graph.outputs.length === 0) return new Set()
  const { nodes } = graph
  const live = liveLayers(graph)
  const dead = new Set<string>()
  nodes.forEach(({ layer }, index) => {
    if (live[index] === 0 && layer !== undefined) dead.add(layer)
  })
  // Findings know layers by id only: where two layers have one id, both count as live if one is.
  if (dead.size > 0) nodes.forEach(({ layer }, index) => live[index] === 1 && layer !== undefined && dead.delete(layer))
  return dead
}

/** The findings with a note for each dead layer; errors of dead layers become warnings. */
export function withDeadLayers(model: Model, findings: readonly Finding[]): Finding[] {
  const dead = deadLayers(model)
  if (dead.size === 0) return [...findings]
  const isDead = ({ layer, graphPath }: Finding['place']): boolean =>
    layer !== undefined && dead.get(graphPath ?? '')?.has(layer) === true
  const notes = [...allGraphs(model)].flatMap(graph =>
    graph.nodes
      .filter(({ layer }) => layer !== undefined && dead.get(graph.path)?.has(layer))
      .map(({ type, name, place }): Finding => ({
        code: 'dead-layer',
        severity: 'note',
        message: `no Result needs ${type} "${name}"`,
        place
      }))
  )
  return [
    ...findings.map((finding): Finding =>
      finding.severity === 'error' && isDead(finding.place) ? { ...finding, severity: 'warning' } : finding
    ),
    ...notes
  ]
}
