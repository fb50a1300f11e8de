import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { isBuiltIn, type Op } from '../op-kit/define.ts'
import { isPlanCall, nodesOf, outputsOf, type PlanCall, type PlanGraph, positionOf, scalarOf } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * What a call reads: labels by operand. `inputs.1` is the second of a list of operands, the label `halves.1` the second
 * output of the call `halves`.
 */
export type Reading = Readonly<Record<string, string>>
type Readings = Reading | readonly Reading[]

/** One call of a pattern. */
export interface PatternCall {
  /** Names of operators of this package, any of which is meant; left out: any operator that `where` accepts. */
  readonly ops?: readonly string[]
  /** What else has to be so of the call alone: its parameters, types, dims. */
  where?(call: Call, graph: PlanGraph): boolean
  /**
   * By operand, the label of the call of the pattern whose output it reads, or else of a value; one label is one value.
   * Operands that are not listed may read anything. A list has alternatives, such as both orders of a sum; calls of the
   * alternatives that are not taken are not part of the match. A function where the operator decides.
   */
  readonly reads?: Readings | ((call: Call) => Readings)
  /** Calls outside the match may read the result, too; then each fused call repeats the work of this one. */
  readonly repeats?: true
}

/** Several calls that one call can stand for. */
export interface Pattern {
  readonly name: string
  /** By label. Each is read, directly or not, by the root. */
  readonly calls: Readonly<Record<string, PatternCall>>
  /** Labels of values that are constants of one element, and the number; `any`: whatever number. */
  readonly scalars?: Readonly<Record<string, number | 'any'>>
  /** Label of the call whose outputs are those of the whole; the fused call takes its place. */
  readonly root: string
  /** What else has to be so: types, dims, constants. */
  guard?(match: Match, graph: PlanGraph): boolean
  /** The call that stands for all; its outputs are the root's. Undefined where the registry lacks its operator. */
  fuse(match: Match, graph: PlanGraph): Pick<PlanCall, 'call' | 'convert'> | undefined
}

/** Calls and values of a graph, by their labels in a pattern. */
export interface Match {
  readonly calls: ReadonlyMap<string, PlanCall>
  readonly values: ReadonlyMap<string, ValueId>
}

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
function byRoot(patterns: readonly Pattern[]): (op: Op) => readonly Pattern[] {
  const lists = new Map<string | undefined, readonly Pattern[]>()
  return op => {
    // Operators of the caller's own are none that patterns name.
    const name = isBuiltIn(op) ? op.name : undefined
    let list = lists.get(name)
    if (list === undefined) {
      list = patterns.filter(({ calls, root }) => isOneOf(calls[root].ops, name))
      lists.set(name, list)
    }
    return list
  }
}

const isOneOf = (ops: PatternCall['ops'], name: string | undefined): boolean =>
  ops === undefined || (name !== undefined && ops.includes(name))

/** Whether a call is one that a call of a pattern means, whatever it reads. */
export const isMeant = ({ ops, where }: PatternCall, call: Call, graph: PlanGraph): boolean =>
  isOneOf(ops, isBuiltIn(call.op) ? call.op.name : undefined) && (where === undefined || where(call, graph))

/** @returns the fused call; undefined where no pattern has its root here */
function fuseAt(graph: PlanGraph, patterns: readonly Pattern[], root: PlanCall): PlanCall | undefined {
  if (root.convert !== undefined || root.call.bodies.size > 0) return undefined
  for (const pattern of patterns) {
    const match = matchAt(graph, pattern, root)
    if (match === undefined || pattern.guard?.(match, graph) === false) continue
    const replacement = pattern.fuse(match, graph)
    if (replacement === undefined) continue
    const calls = [...match.calls.values()]
    const nodes = [...new Set(calls.flatMap(nodesOf))].sort((a, b) => a.index - b.index)
    const fused = { ...root, ...replacement, nodes, fused: pattern.name }
    graph.replace(root, fused)
    removeUnread(graph, new Set(calls.filter(call => call !== root)))
    return fused
  }
  return undefined
}

/** Removes calls whose results no call reads any more, readers before what they read. */
function removeUnread(graph: PlanGraph, calls: Set<PlanCall>): void {
  const unread = [...calls].filter(call => !isRead(graph, call))
  for (const call of unread) {
    graph.remove(call)
    calls.delete(call)
  }
  if (unread.length > 0) removeUnread(graph, calls)
}

const isRead = (graph: PlanGraph, item: PlanCall): boolean =>
  outputsOf(item).some(id => id !== undefined && graph.isRead(id))

/** The calls and values that match a pattern with its root at a call. */
function matchAt(graph: PlanGraph, pattern: Pattern, root: PlanCall): Match | undefined {
  const calls = new Map<string, PlanCall>()
  const values = new Map<string, ValueId>()
  const match = { calls, values }
  const goes = ([label, item]: readonly [string, PlanCall]): boolean =>
    label === pattern.root || isInside(graph, match, item, pattern.calls[label].repeats === true)
  return matchCall(pattern.root, root, () => true) && [...calls].every(goes) ? match : undefined

  // Backtracking: each function leaves its part in the maps only where all that comes after it matches, too.

  function matchCall(label: string, item: PlanCall, then: () => boolean): boolean {
    const seen = calls.get(label)
    if (seen !== undefined) return seen === item && then()
    const own = pattern.calls[label]
    if (item.convert !== undefined || item.call.bodies.size > 0 || !isMeant(own, item.call, graph)) return false
    calls.set(label, item)
    for (const reading of readingsOf(own, item.call))
      if (matchReading(Object.entries(reading), 0, item, then)) return true
    calls.delete(label)
    return false
  }

  function matchReading(
    reading: readonly (readonly [operand: string, label: string])[],
    at: number,
    item: PlanCall,
    then: () => boolean
  ): boolean {
    if (at === reading.length) return then()
    const [operand, label] = reading[at]
    const [name, place] = partsOf(operand)
    const id = item.call.inputs[positionOf(item.call, name) + place]
    return id !== undefined && matchValue(label, id, () => matchReading(reading, at + 1, item, then))
  }

  function matchValue(label: string, id: ValueId, then: () => boolean): boolean {
    const [name, place] = partsOf(label)
    if (Object.hasOwn(pattern.calls, name)) {
      const maker = graph.makerOf(id)
      return (
        maker !== undefined && isPlanCall(maker) && maker.call.outputs[place] === id && matchCall(name, maker, then)
      )
    }
    const wanted = pattern.scalars?.[label]
    // Two constants may have the same number.
    if (typeof wanted === 'number') return isScalar(graph, id, wanted) && then()
    const seen = values.get(label)
    if (seen !== undefined) return seen === id && then()
    if (wanted === 'any' && scalarOf(graph, id) === undefined) return false
    values.set(label, id)
    if (then()) return true
    values.delete(label)
    return false
  }
}

/** The alternatives of what a call reads. */
export function readingsOf({ reads = {} }: PatternCall, call: Call): readonly Reading[] {
  const readings = typeof reads === 'function' ? reads(call) : reads
  return isList(readings) ? readings : [readings]
}

const isList = (readings: Readings): readings is readonly Reading[] => Array.isArray(readings)

/** A call goes only where nobody outside the match sees what it makes. */
function isInside(graph: PlanGraph, { calls, values }: Match, item: PlanCall, repeats: boolean): boolean {
  const matched = new Set(calls.values())
  const read = new Set(values.values())
  return outputsOf(item).every(
    id =>
      id === undefined ||
      (!graph.isOutside(id) &&
        // The fused call reads the labelled values: what it replaces can make none of them.
        !read.has(id) &&
        (repeats || [...graph.readersOf(id)].every(reader => isPlanCall(reader) && matched.has(reader))))
  )
}

/** The name before the point, and the number after it. */
function partsOf(text: string): readonly [name: string, place: number] {
  const at = text.indexOf('.')
  return at < 0 ? [text, 0] : [text.slice(0, at), Number(text.slice(at + 1))]
}

/** How far a constant may be from the number of a pattern: files have numbers of six digits and more. */
const TOLERANCE = 1e-6

function isScalar(graph: PlanGraph, id: ValueId, wanted: number): boolean {
  const value = scalarOf(graph, id)
  return value !== undefined && Math.abs(value - wanted) <= TOLERANCE * Math.abs(wanted)
}

/** A call of another operator that stands for a pattern, with the root's outputs and place. */
export function fusedCall(
  root: Call,
  op: Call['op'],
  inputs: Readonly<Record<string, ValueId | undefined>>,
  parameters: Readonly<Record<string, unknown>>
): Call {
  const names = Object.keys(op.operands)
  return altered(root, {
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
