import { type Model, type Node, supportedOps } from 'nodewise'
import { type Columns, KIND } from '../graph/columns.ts'
import type { Flat } from './flatten.ts'

/** The operators of a model that cannot be run, as the command names them: with their domain outside ai.onnx. */
export function unsupportedOps({ functions }: Model, { nodes, columns }: Pick<Flat, 'nodes' | 'columns'>): string[] {
  const known = new Set(supportedOps().map(({ dialect, domain, name }) => keyOf(dialect, domain, name)))
  const missing = new Set<string>()
  for (const node of nodesOf(nodes, columns)) {
    const { dialect, domain, type, overload } = node
    if (known.has(keyOf(dialect, domain, type)) || functions.has(`${domain}::${type}::${overload}`)) continue
    missing.add(dialect === 'openvino' || domain === 'ai.onnx' ? type : `${domain}::${type}`)
  }
  return [...missing].sort()
}

/** Opsets of IR are no domains, and its types are the same in capitals and small letters. */
const keyOf = (dialect: Node['dialect'], domain: string, type: string): string =>
  dialect === 'openvino' ? `${dialect} ${type.toLowerCase()}` : `${dialect} ${domain}::${type}`

function* nodesOf(nodes: Flat['nodes'], { kind }: Columns): Generator<Node> {
  for (const [record, node] of nodes.entries()) if (node && kind[record] === KIND.node) yield node
}
