import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { isBuiltIn, type Op } from '../op-kit/define.ts'
import { nodesOfAll, outputsOf, type PlanCall, type PlanGraph } from './graph.ts'
import { isOneOf, Matcher, type Pattern } from './match.ts'
import type { Pass } from './pass.ts'

/** Puts one call in the place of several that match a pattern, until no pattern matches. */
export function fuse(patterns: readonly Pattern[]): Pass {
  const withRoot = byRoot(patterns)
  return {
    name: 'fuse',
    requires: ['prune'],
    run(graph) {
      // Who watches a run sees the value of every node.
      if (graph.isObserved) return false
      let changed = false
      // A fused call may be part of a larger pattern whose root comes after it: roots are tried in topological order.
      for (const start of graph.calls) {
        let root: PlanCall | undefined = start
        while (root && (root = fuseAt(graph, withRoot(root.call.op), root))) changed = true
      }
      return changed
    }
  }
}

/**
 * Those of some patterns, in their order, whose root may be a call of an operator: most operators start none. Lists are
 * made when an operator is first asked for.
 */
function byRoot(patterns: readonly Pattern[]): (op: Op) => readonly Matcher[] {
  const lists = new Map<string | undefined, readonly Matcher[]>()
  return op => {
    // Operators of the caller's own are none that patterns name.
    const name = isBuiltIn(op) ? op.name : undefined
    let list = lists.get(name)
    if (list === undefined) {
      list = patterns.filter(({ calls, root }) => isOneOf(calls[root].ops, op)).map(pattern => new Matcher(pattern))
      lists.set(name, list)
    }
    return list
  }
}

/** @returns the fused call; undefined where no pattern has its root here */
function fuseAt(graph: PlanGraph, matchers: readonly Matcher[], root: PlanCall): PlanCall | undefined {
  if (root.convert !== undefined || root.call.bodies.size > 0) return undefined
  for (const matcher of matchers) {
    const match = matcher.at(graph, root)
    const { pattern } = matcher
    if (match === undefined || pattern.guard?.(match, graph) === false) continue
    const replacement = pattern.fuse(match, graph)
    if (replacement === undefined) continue
    const calls = [...match.calls.values()]
    const fused = { ...root, ...replacement, nodes: nodesOfAll(calls), fused: pattern.name }
    graph.replace(root, fused)
    removeUnread(graph, new Set(calls.filter(call => call !== root)))
    return fused
  }
  return undefined
}

/** Removes calls whose results no call reads any more, readers before what they read. */
export function removeUnread(graph: PlanGraph, calls: Set<PlanCall>): void {
  const unread = [...calls].filter(call => !isRead(graph, call))
  for (const call of unread) {
    graph.remove(call)
    calls.delete(call)
  }
  if (unread.length > 0) removeUnread(graph, calls)
}

const isRead = (graph: PlanGraph, item: PlanCall): boolean =>
  outputsOf(item).some(id => id !== undefined && graph.isRead(id))

/**
 * A call of another operator that stands for a pattern, with the root's outputs.
 * @param named the call whose node failures name, where others of the pattern have been found to suit what it makes
 */
export function fusedCall(
  root: Call,
  op: Call['op'],
  inputs: Readonly<Record<string, ValueId | undefined>>,
  parameters: Readonly<Record<string, unknown>>,
  named: Call = root
): Call {
  const names = Object.keys(op.operands)
  return altered(root, {
    node: named.node,
    op,
    inputs: names.map(name => inputs[name]),
    operands: names.map((name, index) => ({ name, kind: op.operands[name], index })),
    known: parameters,
    dataDependent: [],
    bodies: new Map(),
    schema: undefined,
    inputTypes: []
  })
}
