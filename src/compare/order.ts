import { type BoundGraph, type Call, isCall, type Unbound } from '../bind/call.ts'
import type { Node, ValueId } from '../graph/graph.ts'
import type { Pair } from './pairs.ts'
import type { Side } from './side.ts'

/**
 * The nodes of `b` in the order in which `a` runs their counterparts, as far as what they read allows, so that next to
 * no value waits for its counterpart. A graph whose results depend on the order (random numbers, state) stays as it is,
 * and so does one that has the order already.
 */
export function inOrderOf(a: Side, b: Side, pairs: readonly Pair[]): BoundGraph {
  const { bound } = b
  const wanted = wantedOrder(a, b, pairs)
  if (wanted.length < 2 || b.calls.some(({ op }) => op.impure !== undefined)) return bound
  const positions = new Map(bound.items.map((item, i) => [item.node, i]))
  if (wanted.every((node, i) => i === 0 || positions.get(wanted[i - 1])! < positions.get(node)!)) return bound
  const makers = new Map<ValueId, Call | Unbound>()
  for (const item of bound.items) for (const id of item.node.outputs) if (id !== undefined) makers.set(id, item)
  const items: (Call | Unbound)[] = []
  const done = new Set<Call | Unbound>()
  const first = wanted.map(node => bound.items[positions.get(node)!])
  for (const item of [...first, ...bound.items]) addWithProducers(item, makers, done, items)
  return { ...bound, items }
}

/** Nodes of the main graph of `b`, as `a` runs their counterparts. */
function wantedOrder(a: Side, b: Side, pairs: readonly Pair[]): Node[] {
  const main = new Set(b.bound.items.map(({ node }) => node))
  const twins = new Map<Node, Node>()
  for (const pair of pairs) if (main.has(pair.b.node) && !twins.has(pair.a.node)) twins.set(pair.a.node, pair.b.node)
  const wanted = new Set<Node>()
  for (const { node } of a.calls) {
    const twin = twins.get(node)
    if (twin !== undefined) wanted.add(twin)
  }
  return [...wanted]
}

/** Depth first, with a stack of its own: a chain of nodes may be longer than JavaScript's. */
function addWithProducers(
  last: Call | Unbound,
  makers: ReadonlyMap<ValueId, Call | Unbound>,
  done: Set<Call | Unbound>,
  items: (Call | Unbound)[]
): void {
  const open = [last]
  while (open.length > 0) {
    const item = open[open.length - 1]
    const missing = done.has(item) ? [] : producersOf(item, makers).filter(producer => !done.has(producer))
    if (missing.length > 0) {
      open.push(...missing.reverse())
      continue
    }
    open.pop()
    if (!done.has(item)) items.push(item)
    done.add(item)
  }
}

function producersOf(item: Call | Unbound, makers: ReadonlyMap<ValueId, Call | Unbound>): (Call | Unbound)[] {
  const { inputs, captures } = item.node
  const bodies = isCall(item) ? [...item.bodies.values()].flatMap(body => body.captures) : []
  const read = [...inputs, ...(isCall(item) ? item.inputs : []), ...captures, ...bodies]
  return read.flatMap(id => {
    const maker = id === undefined ? undefined : makers.get(id)
    return maker === undefined || maker === item ? [] : [maker]
  })
}
