import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { Graph, GraphValue, Model, Node } from '../graph/graph.ts'

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
  /** Where each node, or the node of the main graph in whose bodies it is, comes in the order of the main graph. */
  readonly positions: ReadonlyMap<Node, number>
}

/** The nodes of a bound model with the values that they make. Constants are no nodes. */
export function sideOf(model: Model, bound: BoundGraph): Side {
  const made = new Map<Node, readonly (MadeValue | undefined)[]>()
  for (const [{ node }, { values, path: graphPath }] of callsOf(bound)) {
    made.set(
      node,
      node.outputs.map((id, output) => {
        const value = id === undefined ? undefined : values.get(id)
        return value && { node, output, name: value.name, names: namesOf(value), graphPath }
      })
    )
  }
  return inOrder(model, bound, made)
}

/** The same nodes and values where they run in another order. */
export const reordered = (side: Side, bound: BoundGraph): Side =>
  bound === side.bound ? side : inOrder(side.model, bound, side.made)

function inOrder(model: Model, bound: BoundGraph, made: Side['made']): Side {
  const calls: Call[] = []
  const positions = new Map<Node, number>()
  bound.items.forEach((item, position) => {
    for (const [call] of callsOf({ ...bound, items: [item] })) {
      calls.push(call)
      positions.set(call.node, position)
    }
  })
  return { model, bound, calls, made, positions }
}

/** The name under which a value is recorded: those of bodies by their path and iteration. */
export const recordedName = ({ name, graphPath }: Pick<MadeValue, 'name' | 'graphPath'>, iteration: number): string =>
  graphPath === '' ? name : `${graphPath}/${name}[${iteration}]`

function* callsOf(bound: BoundGraph): Generator<[Call, Graph]> {
  for (const item of bound.items) {
    if (!isCall(item)) continue
    for (const body of item.bodies.values()) yield* callsOf(body)
    yield [item, bound.graph]
  }
}

const namesOf = ({ name, names }: GraphValue): ReadonlySet<string> => new Set([name, ...names])

/** The values that a side's nodes make, in the order of its nodes. */
export const valuesOf = (side: Side): MadeValue[] =>
  side.calls.flatMap(({ node }) => (side.made.get(node) ?? []).filter(value => value !== undefined))
