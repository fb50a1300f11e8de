import type { Attribute, Node, ValueId } from '../graph/graph.ts'

/** What an operator that stands for several nodes may ask about the graph that its node is in. */
export interface ExpandScope {
  /**
   * The node that makes a value, in its expanded form; undefined for inputs, initializers, constants of enclosing
   * graphs, and names of nothing.
   * @throws NodewiseError `invalid-graph` where the value depends on the node that is being expanded
   */
  makerOf(id: ValueId): Node | undefined
  /** Whether the graph has a value of this id; those of enclosing graphs are not its own. */
  isOwn(id: ValueId): boolean
  /** An attribute, or the default that the standard gives it. */
  attribute(node: Node, name: string): Attribute | undefined
  /**
   * Counts a node that is made or looked at.
   * @throws NodewiseError `limit-exceeded`
   */
  count(): void
}

/**
 * The nodes that take a node's place before operators are bound: the last may be the node itself, with other inputs.
 * @throws NodewiseError what is wrong with the node; it then keeps its place
 */
export type Expand = (node: Node, scope: ExpandScope) => readonly Node[]
