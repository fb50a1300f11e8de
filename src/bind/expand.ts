import { fail, NodewiseError } from '../errors.ts'
import type { Graph, Node, ValueId } from '../graph/graph.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { ExpandScope } from '../op-kit/expand.ts'
import type { Registry } from './registry.ts'
import { onnxSchema } from './schema.ts'

/** A graph whose operators all have kernels, and what is wrong with nodes that could not be expanded. */
export interface Expanded {
  readonly graph: Graph
  readonly errors: ReadonlyMap<Node, NodewiseError>
}

/** The nodes that a model may still be given. */
export interface Allowance {
  readonly limits: Limits
  nodes: number
}

/** The share of the nodes that operators may make or look at, whatever the size of the file, and how many by node. */
const FREE_SHARE = 1 / 16
const NODES_BY_NODE = 64

/** What a graph of so many nodes may become. Derivatives of derivatives grow with each order. */
export const allowanceOf = (limits: Limits, listed: number): Allowance => ({
  limits,
  nodes: Math.min(limits.nodes, Math.floor(limits.nodes * FREE_SHARE) + listed * NODES_BY_NODE)
})

const NOTHING: ReadonlyMap<Node, NodewiseError> = new Map()

/**
 * Puts the nodes that an operator stands for (`expand` of its definition) in the place of its nodes. A node that cannot
 * be expanded stays, with its error.
 */
export function expandNodes(graph: Graph, registry: Registry, allowance: Allowance): Expanded {
  if (graph.dialect !== 'onnx' || !graph.nodes.some(({ type }) => registry.expands(type)))
    return { graph, errors: NOTHING }
  const errors = new Map<Node, NodewiseError>()
  const expansion = new Expansion(graph, registry, allowance)
  const nodes = graph.nodes.flatMap(node => {
    try {
      return expansion.of(node)
    } catch (error) {
      if (!(error instanceof NodewiseError)) throw error
      errors.set(node, error)
      return [node]
    }
  })
  return { graph: { ...graph, nodes }, errors }
}

class Expansion implements ExpandScope {
  private readonly makers = new Map<ValueId, Node>()
  private readonly inputs: ReadonlySet<ValueId>
  /** The nodes in the place of a node, or why it cannot be expanded; undefined while it is being expanded. */
  private readonly done = new Map<Node, { nodes: readonly Node[] } | { error: NodewiseError } | undefined>()
  private depth = 0

  constructor(
    private readonly graph: Graph,
    private readonly registry: Registry,
    private readonly allowance: Allowance
  ) {
    this.inputs = new Set(graph.inputs.map(({ value }) => value))
    this.note(graph.nodes)
  }

  private note(nodes: readonly Node[]): void {
    for (const node of nodes) for (const id of node.outputs) if (id !== undefined) this.makers.set(id, node)
  }

  /** A node as it is, or what it stands for. */
  of(node: Node): readonly Node[] {
    const { limits } = this.allowance
    const expand = this.registry.expands(node.type)
      ? this.registry.find('onnx', node.domain, node.type, Number(node.version))?.op.expand
      : undefined
    if (expand === undefined) return [node]
    if (this.done.has(node)) {
      const known = this.done.get(node) ?? fail('invalid-graph', `${node.type} is needed to work out itself`)
      if ('error' in known) throw known.error
      return known.nodes
    }
    if (this.depth >= limits.callDepth)
      exceed('callDepth', limits, `${node.type} needs others more than ${limits.callDepth} deep`)
    this.done.set(node, undefined)
    this.depth++
    try {
      const nodes = expand(node, this)
      for (const each of [node, ...nodes]) this.done.set(each, { nodes: each === node ? nodes : [each] })
      this.note(nodes)
      return nodes
    } catch (error) {
      if (error instanceof NodewiseError) this.done.set(node, { error })
      throw error
    } finally {
      this.depth--
    }
  }

  readonly makerOf = (id: ValueId): Node | undefined => {
    const maker = this.makers.get(id)
    return maker && this.of(maker).at(-1)
  }

  readonly isOwn = (id: ValueId): boolean =>
    this.makers.has(id) || this.inputs.has(id) || this.graph.initializers.has(id)

  readonly attribute: ExpandScope['attribute'] = (node, name) =>
    node.attributes.get(name) ?? onnxSchema(node.domain, node.type, Number(node.version))?.attributes.get(name)?.absent

  readonly count = (): void => {
    const { limits } = this.allowance
    if (this.allowance.nodes-- <= 0) exceed('nodes', limits, 'derivatives take too many nodes')
  }
}
