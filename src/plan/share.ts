import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { Numbers, textOf } from '../infer/likes.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { type Fact, isPartial } from '../shapes/fact.ts'
import { hasFresh, isSym } from '../shapes/sym.ts'
import { isPlanCall, type PlanCall, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * What two calls give alike is computed once: results of small integers that inference has the same expressions for,
 * such as the number of keys, which each layer of a decoder reads off its own cache, and results of the same operator
 * for the same operands, such as the mask that each layer makes of that number.
 */
export const share: Pass = {
  name: 'share',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    const first = new Map<string, Call>()
    const numbers = new Numbers()
    let changed = false
    for (const { call } of graph.calls) {
      // A call that reads what an earlier one gave has been replaced.
      const item = call.outputs[0] === undefined ? undefined : graph.makerOf(call.outputs[0])
      if (item === undefined || !isPlanCall(item) || !mayBeShared(graph, item)) continue
      const keys = keysOf(graph, item.call, numbers)
      const earlier = keys.map(key => first.get(key)).find(other => other && takeOver(graph, item, other))
      changed ||= earlier !== undefined
      // By all of its keys: what is gone itself must not be found by one.
      for (const key of keys) if (!first.has(key)) first.set(key, earlier ?? item.call)
    }
    return changed
  }
}

/** Whether a call gives the same whenever its operands are the same, and its operator and parameters say what. */
function mayBeShared(graph: PlanGraph, { call, fused, convert }: PlanCall): boolean {
  return (
    fused === undefined &&
    convert === undefined &&
    call.op.impure === undefined &&
    call.bodies.size === 0 &&
    isBuiltIn(call.op) &&
    call.outputs.every(id => id === undefined || !graph.constants.has(id))
  )
}

/** What calls that give the same have alike: the one, or the other. */
function keysOf(graph: PlanGraph, call: Call, numbers: Numbers): string[] {
  const { op, opVersion, version, inputs, outputs, known } = call
  const wanted = outputs.map(id => id !== undefined)
  const text = textOf(known, numbers)
  const keys = [JSON.stringify([numbers.of(op), numbers.of(opVersion), version, inputs, wanted, text])]
  // Within a body, symbols may stand for what differs from one value to the next.
  const [id] = outputs
  const isFollowed = graph.bound.graph.path === '' && outputs.length === 1 && id !== undefined
  const value = isFollowed ? expressionsOf(graph.facts.get(id)) : undefined
  if (value !== undefined) keys.push(value)
  return keys
}

/** The elements of an integer tensor as expressions over the names of dims of inputs; undefined: not all are known. */
function expressionsOf(fact: Fact | undefined): string | undefined {
  const value = fact?.kind === 'tensor' ? fact.value : undefined
  if (value === undefined || !isPartial(value)) return undefined
  if (value.data.some(element => isSym(element) && hasFresh(element))) return undefined
  const elements = value.data.map(element => (isSym(element) ? element.key : `${typeof element} ${String(element)}`))
  return JSON.stringify([value.type, value.dims, elements])
}

/** Lets whoever reads what a call gives read what an earlier one gives; false where somebody outside sees it. */
function takeOver(graph: PlanGraph, item: PlanCall, { outputs: given }: Call): boolean {
  const own = item.call.outputs
  const readers = new Set(own.flatMap(id => (id === undefined ? [] : [...graph.readersOf(id)])))
  const isSeen = own.some(id => id !== undefined && graph.isOutside(id))
  if (isSeen || ![...readers].every(reader => isPlanCall(reader) && readsPlainly(reader, own))) return false
  for (const reader of readers as Set<PlanCall>) {
    const inputs = reader.call.inputs.map(id => (id !== undefined && own.includes(id) ? given[own.indexOf(id)] : id))
    graph.replace(reader, { ...reader, call: altered(reader.call, { inputs }) })
  }
  graph.remove(item, 'pruned')
  return true
}

/** Whether a call reads values as inputs only, and no body of it does. */
const readsPlainly = ({ call }: PlanCall, ids: readonly (ValueId | undefined)[]): boolean =>
  call.bodies.size === 0 && call.node.captures.every(id => !ids.includes(id))
