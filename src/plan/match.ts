import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { isBuiltIn, type Op } from '../op-kit/define.ts'
import { convert } from '../tensor/convert.ts'
import type { DType } from '../tensor/dtype.ts'
import { toDoubles } from '../tensor/elements.ts'
import { Tensor } from '../tensor/tensor.ts'
import { isPlanCall, outputsOf, type PlanCall, type PlanGraph, positionOf, scalarOf } from './graph.ts'

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

/** Whether an operator is of this package and has one of some names; any operator, where there are none. */
export const isOneOf = (ops: PatternCall['ops'], op: Op): boolean =>
  ops === undefined || (ops.includes(op.name) && isBuiltIn(op))

/** Whether a call is one that a call of a pattern means, whatever it reads. */
export const isMeant = ({ ops, where }: PatternCall, call: Call, graph: PlanGraph): boolean =>
  isOneOf(ops, call.op) && !graph.hasFailed(call) && (where === undefined || where(call, graph))

/** The alternatives of what a call reads. */
export function readingsOf({ reads = {} }: PatternCall, call: Call): readonly Reading[] {
  const readings = typeof reads === 'function' ? reads(call) : reads
  return isList(readings) ? readings : [readings]
}

const isList = (readings: Readings): readings is readonly Reading[] => Array.isArray(readings)

/** An entry of a reading, taken apart. */
interface Link {
  readonly operand: string
  /** Which one of a list of operands. */
  readonly place: number
  readonly label: string
  /** The call that has the label, undefined where a value has it, and which of its outputs is read. */
  readonly maker: PatternCall | undefined
  readonly output: number
}

/** Finds a pattern in graphs. */
export class Matcher {
  readonly pattern: Pattern
  /** By label of a call. They are taken apart when they are first needed. */
  private readonly links = new Map<string, readonly (readonly Link[])[]>()

  constructor(pattern: Pattern) {
    this.pattern = pattern
  }

  /** The calls and values that match with the root at a call. */
  at(graph: PlanGraph, root: PlanCall): Match | undefined {
    const { call } = root
    const { calls, root: label } = this.pattern
    // Most patterns end here, before anything is made.
    if (!isMeant(calls[label], call, graph)) return undefined
    if (!this.linksOf(label, call).some(links => mayRead(graph, call, links))) return undefined
    return new Attempt(this, graph).at(root)
  }

  /** The alternatives of what a call with a label reads. */
  linksOf(label: string, call: Call): readonly (readonly Link[])[] {
    const known = this.links.get(label)
    if (known) return known
    const own = this.pattern.calls[label]
    const links: (readonly Link[])[] = []
    for (const reading of readingsOf(own, call)) links.push(this.linksIn(reading))
    if (typeof own.reads !== 'function') this.links.set(label, links)
    return links
  }

  private linksIn(reading: Reading): readonly Link[] {
    const links: Link[] = []
    for (const reader of Object.keys(reading)) links.push(this.link(reader, reading[reader]))
    return links
  }

  private link(reader: string, read: string): Link {
    const [operand, place] = partsOf(reader)
    const [label, output] = partsOf(read)
    const { calls } = this.pattern
    return Object.hasOwn(calls, label)
      ? { operand, place, label, maker: calls[label], output }
      : { operand, place, label: read, maker: undefined, output: 0 }
  }
}

/** The name before the point, and the number after it. */
function partsOf(text: string): readonly [name: string, place: number] {
  const at = text.indexOf('.')
  return at < 0 ? [text, 0] : [text.slice(0, at), Number(text.slice(at + 1))]
}

/** Whether calls of the right operators make what a call reads. */
const mayRead = (graph: PlanGraph, call: Call, links: readonly Link[]): boolean =>
  links.every(link => link.maker === undefined || makerOf(graph, call, link, link.maker) !== undefined)

/** The call that makes what a call reads by a link, where its operator is one that is meant. */
function makerOf(graph: PlanGraph, call: Call, link: Link, meant: PatternCall): PlanCall | undefined {
  const id = valueOf(call, link)
  const item = id === undefined ? undefined : graph.makerOf(id)
  const isMade = item && isPlanCall(item) && item.call.outputs[link.output] === id && isOneOf(meant.ops, item.call.op)
  return isMade ? item : undefined
}

function valueOf(call: Call, { operand, place }: Link): ValueId | undefined {
  const position = positionOf(call, operand)
  return position < 0 ? undefined : call.inputs[position + place]
}

/**
 * A search for a match with its root at one call. It goes back where it comes to an end: each function leaves its part
 * in the maps only where all that comes after it matches, too.
 */
class Attempt implements Match {
  readonly calls = new Map<string, PlanCall>()
  readonly values = new Map<string, ValueId>()
  private readonly matcher: Matcher
  private readonly graph: PlanGraph

  constructor(matcher: Matcher, graph: PlanGraph) {
    this.matcher = matcher
    this.graph = graph
  }

  at(root: PlanCall): Match | undefined {
    const { pattern } = this.matcher
    if (!this.matchCall(pattern.root, root, () => true)) return undefined
    for (const [label, item] of this.calls)
      if (label !== pattern.root && !isInside(this.graph, this, item, pattern.calls[label].repeats === true))
        return undefined
    return this
  }

  private matchCall(label: string, item: PlanCall, then: () => boolean): boolean {
    const { calls, graph, matcher } = this
    const seen = calls.get(label)
    if (seen !== undefined) return seen === item && then()
    if (item.convert !== undefined || item.call.bodies.size > 0) return false
    if (!isMeant(matcher.pattern.calls[label], item.call, graph)) return false
    calls.set(label, item)
    for (const links of matcher.linksOf(label, item.call))
      if (mayRead(graph, item.call, links) && this.matchLinks(links, 0, item, then)) return true
    calls.delete(label)
    return false
  }

  private matchLinks(links: readonly Link[], at: number, item: PlanCall, then: () => boolean): boolean {
    if (at === links.length) return then()
    const link = links[at]
    const next = (): boolean => this.matchLinks(links, at + 1, item, then)
    if (link.maker === undefined) return this.matchValue(link.label, valueOf(item.call, link), next)
    const maker = makerOf(this.graph, item.call, link, link.maker)
    return maker !== undefined && this.matchCall(link.label, maker, next)
  }

  private matchValue(label: string, id: ValueId | undefined, then: () => boolean): boolean {
    const { values, graph } = this
    if (id === undefined) return false
    const wanted = this.matcher.pattern.scalars?.[label]
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

/** How far a constant may be from the number of a pattern: files have numbers of six digits and more. */
const TOLERANCE = 1e-6

function isScalar(graph: PlanGraph, id: ValueId, wanted: number): boolean {
  const value = scalarOf(graph, id)
  if (value === undefined) return false
  const type = graph.narrow.get(id)
  return (
    Math.abs(value - wanted) <= TOLERANCE * Math.abs(wanted) || (type !== undefined && value === asOf(wanted, type))
  )
}

/** A number as a type holds it: 16 bits hold the root of 2 as 1.4140625. */
const asOf = (value: number, type: DType): number =>
  toDoubles(convert(convert(new Tensor('float32', [value], []), type), 'float32'))[0]
