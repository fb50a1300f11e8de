import { isUnbound, type Unbound } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Finding, Node } from '../graph/graph.ts'
import type { Propagation } from '../infer/propagate.ts'
import { nodesOf, type PlanGraph } from './graph.ts'

/** Throws the first fault that reading found in what is left of a graph. */
export function refuseFindings(graph: PlanGraph): void {
  const finding = graph.bound.graph.findings.find(
    candidate => candidate.severity === 'error' && matters(candidate, graph)
  )
  if (finding) throw new NodewiseError('invalid-graph', finding.message, finding.place, { finding: finding.code })
}

function matters({ onlyIfNeeded }: Finding, graph: PlanGraph): boolean {
  if (!onlyIfNeeded) return true
  if (onlyIfNeeded.value !== undefined && graph.isRead(onlyIfNeeded.value)) return true
  return (
    onlyIfNeeded.node !== undefined &&
    graph.items.some(item => nodesOf(item).some(node => node.index === onlyIfNeeded.node))
  )
}

/** Nodes of a graph that have no operator. */
export const missingIn = (graph: PlanGraph): Unbound[] =>
  graph.items.flatMap(item => ('error' in item && isUnbound(item) ? [item] : []))

/** Throws the first fault of a node, or one error that names every operator which is missing. */
export function refuseMissing(unbound: readonly Unbound[]): void {
  if (unbound.length === 0) return
  const other = unbound.find(({ error }) => error.code !== 'unsupported-op')
  if (other) throw other.error
  const types = [...new Set(unbound.map(({ node }) => nameOf(node)))]
  if (types.length === 1) throw unbound[0].error
  throw new NodewiseError(
    'unsupported-op',
    `${types.length} operators are not supported: ${types.join(', ')}`,
    unbound[0].error.place,
    { types }
  )
}

/** Throws the first failure of inference that concerns a call of the graph. */
export function refuseFailures(graph: PlanGraph, { failures }: Propagation): void {
  if (failures.length === 0) return
  const planned = new Set(graph.items.flatMap(nodesOf))
  const failure = failures.find(({ node }) => planned.has(node))
  if (failure) throw failure.error
}

const nameOf = (node: Node): string =>
  node.dialect === 'onnx' ? `${node.domain}::${node.type}-${node.version}` : `${node.type} (${node.version})`
