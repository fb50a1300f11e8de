import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import { type Graph, graphAndBodies, type GraphValue, type Model, type Node } from '../graph/graph.ts'

/** A value that a node makes, in the main graph or in a body. */
export interface MadeValue {
  readonly node: Node
  /** Position among the outputs of the node. */
  readonly output: number
  readonly name: string
  /** Every name by which a value of the other model may be known as this one. */
  readonly names: ReadonlySet<string>
  /** Path of the body that the node is in; empty for the main graph. */
  readonly graphPath: string
}

/** One of the two models, its nodes and the values that they make. */
export interface Side {
  readonly model: Model
  readonly bound: BoundGraph
  /** In the order in which they end: those of a body before the node that has it. */
  readonly calls: readonly Call[]
  /** Values by node, by position of the output; undefined where nobody reads it or its graph does not know it. */
  readonly made: ReadonlyMap<Node, readonly (MadeValue | undefined)[]>
}

/** The nodes of a bound model with the values that they make. Constants are no nodes. */
export function sideOf(model: Model, bound: BoundGraph): Side {
  const graphs = new Map<Node, Graph>()
  for (const graph of graphAndBodies(model.graph)) for (const node of graph.nodes) graphs.set(node, graph)
  const calls = [...callsOf(bound)]
  const made = new Map<Node, readonly (MadeValue | undefined)[]>()
  for (const { node } of calls) {
    const graph = graphs.get(node)
    made.set(
      node,
      node.outputs.map((id, output) => {
        const value = id === undefined ? undefined : graph?.values.get(id)
        if (value === undefined) return undefined
        return { node, output, name: value.name, names: namesOf(value), graphPath: graph?.path ?? '' }
      })
    )
  }
  return { model, bound, calls, made }
}

function* callsOf(bound: BoundGraph): Generator<Call> {
  for (const item of bound.items) {
    if (!isCall(item)) continue
    for (const body of item.bodies.values()) yield* callsOf(body)
    yield item
  }
}

const namesOf = ({ name, names }: GraphValue): ReadonlySet<string> => new Set([name, ...names])

/** The values that a side's nodes make, in the order of its nodes. */
export const valuesOf = (side: Side): MadeValue[] =>
  side.calls.flatMap(({ node }) => (side.made.get(node) ?? []).filter(value => value !== undefined))
