import { NodewiseError } from '../errors.ts'
import type { Constant, Finding, Node, ValueId } from '../graph/graph.ts'
import { type BoundGraph, type Call, isCall, isUnbound, type Unbound } from '../bind/call.ts'
import type { Propagation } from '../bind/propagate.ts'
import { knownValue } from '../shapes/fact.ts'
import type { Tensor } from '../tensor/tensor.ts'

/** One call over numbered slots; -1 where an input or output is left out or unwanted. */
export interface Step {
  readonly call: Call
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  /** Slots whose value nobody reads after this step. */
  readonly free: readonly number[]
  readonly bodies: ReadonlyMap<BoundGraph, BodyPlan>
}

/** A body's plan and where its captured values lie in the enclosing frame. */
export interface BodyPlan {
  readonly plan: Plan
  readonly captures: readonly { readonly from: number; readonly to: number }[]
}

/** A graph flattened into steps. */
export interface Plan {
  readonly bound: BoundGraph
  readonly slots: ReadonlyMap<ValueId, number>
  readonly steps: readonly Step[]
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  /** Slots that hold a constant from the start. */
  readonly constants: ReadonlyMap<number, Constant | Tensor>
}

/**
 * Flattens what is needed for `wanted` into steps; dead nodes are left out, small constant results folded.
 * @throws NodewiseError the first fault that matters, or one `unsupported-op` that names every operator which is missing
 */
export function planGraph(result: Propagation, wanted: readonly ValueId[]): Plan {
  const { bound } = result
  const folded = foldedValues(result)
  const needed = neededItems(bound, wanted, folded)
  const calls = refuseFaults(bound, needed.items, needed.values)
  const slots = new Map<ValueId, number>()
  const slotOf = (id: ValueId): number => {
    if (!slots.has(id)) slots.set(id, slots.size)
    return slots.get(id)!
  }
  const inputs = bound.graph.inputs.map(({ value }) => slotOf(value))
  const captures = new Set(bound.captures.map(slotOf))
  const outputs = wanted.map(slotOf)
  const kept = new Set([...inputs, ...outputs, ...captures])
  const steps = calls.map(call => stepOf(call, result, slotOf, needed.values))
  const constants = new Map<number, Constant | Tensor>()
  for (const [id, constant] of bound.constants) if (slots.has(id)) constants.set(slotOf(id), constant)
  for (const [id, tensor] of folded) if (slots.has(id)) constants.set(slotOf(id), tensor)
  return { bound, slots, inputs, outputs, constants, steps: withFrees(steps, slot => kept.has(slot) || constants.has(slot)) }
}

/** Results that are known before any run: their steps need not run. */
function foldedValues({ bound, facts }: Propagation): Map<ValueId, Tensor> {
  const folded = new Map<ValueId, Tensor>()
  for (const item of bound.items) {
    if (!isCall(item) || item.op.impure) continue
    for (const id of item.outputs) {
      const fact = id === undefined ? undefined : facts.get(id)
      const value = fact?.kind === 'tensor' ? knownValue(fact) : undefined
      if (id !== undefined && value) folded.set(id, value)
    }
  }
  return folded
}

/** Items that `wanted` depends on, in order, and the values that they read. Stateful calls are always needed. */
function neededItems(bound: BoundGraph, wanted: readonly ValueId[], folded: ReadonlyMap<ValueId, Tensor>): { items: (Call | Unbound)[]; values: Set<ValueId> } {
  const values = new Set(wanted)
  const items: (Call | Unbound)[] = []
  for (let i = bound.items.length - 1; i >= 0; i--) {
    const item = bound.items[i]
    const { node } = item
    const isNeeded = node.outputs.some(id => id !== undefined && values.has(id) && !folded.has(id)) || (isCall(item) && keepsState(item))
    if (!isNeeded) continue
    items.push(item)
    for (const id of [...node.inputs, ...node.captures]) if (id !== undefined) values.add(id)
  }
  return { items: items.reverse(), values }
}

const keepsState = (call: Call): boolean =>
  call.op.impure === 'state' || [...call.bodies.values()].some(body => body.items.some(item => isCall(item) && keepsState(item)))

/** Throws the first fault that the needed part of the graph has; without one all of it are calls. */
function refuseFaults(bound: BoundGraph, items: readonly (Call | Unbound)[], values: ReadonlySet<ValueId>): Call[] {
  const finding = bound.graph.findings.find(candidate => candidate.severity === 'error' && matters(candidate, items, values))
  if (finding) throw new NodewiseError('invalid-graph', finding.message, finding.place, { finding: finding.code })
  const unbound = items.filter(isUnbound)
  if (unbound.length === 0) return items.filter(isCall)
  const other = unbound.find(({ error }) => error.code !== 'unsupported-op')
  if (other) throw other.error
  const types = [...new Set(unbound.map(({ node }) => nameOf(node)))]
  if (types.length === 1) throw unbound[0].error
  throw new NodewiseError('unsupported-op', `${types.length} operators are not supported: ${types.join(', ')}`, unbound[0].error.place, { types })
}

const nameOf = (node: Node): string => node.dialect === 'onnx' ? `${node.domain}::${node.type}-${node.version}` : `${node.type} (${node.version})`

function matters({ onlyIfNeeded }: Finding, items: readonly (Call | Unbound)[], values: ReadonlySet<ValueId>): boolean {
  if (!onlyIfNeeded) return true
  if (onlyIfNeeded.value !== undefined && values.has(onlyIfNeeded.value)) return true
  return onlyIfNeeded.node !== undefined && items.some(({ node }) => node.index === onlyIfNeeded.node)
}

function stepOf(call: Call, result: Propagation, slotOf: (id: ValueId) => number, values: ReadonlySet<ValueId>): Step {
  const bodies = new Map<BoundGraph, BodyPlan>()
  for (const body of call.bodies.values()) {
    const plan = planGraph(result.bodies.get(body) ?? emptyResult(body), body.graph.outputs.map(output => output.value))
    bodies.set(body, { plan, captures: body.captures.flatMap(id => plan.slots.has(id) ? [{ from: slotOf(id), to: plan.slots.get(id)! }] : []) })
  }
  return {
    call,
    inputs: call.inputs.map(id => id === undefined ? -1 : slotOf(id)),
    outputs: call.outputs.map(id => id === undefined || !values.has(id) ? -1 : slotOf(id)),
    free: [],
    bodies
  }
}

/** A body that propagation never came to (its node failed): no facts, nothing folded. */
const emptyResult = (bound: BoundGraph): Propagation => ({ bound, facts: new Map(), failures: [], bodies: new Map() })

function withFrees(steps: readonly Step[], isKept: (slot: number) => boolean): Step[] {
  const seen = new Set<number>()
  const result: Step[] = []
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i]
    const captured = [...step.bodies.values()].flatMap(body => body.captures.map(({ from }) => from))
    const free: number[] = []
    for (const slot of [...step.inputs, ...step.outputs, ...captured]) {
      if (slot < 0 || seen.has(slot)) continue
      seen.add(slot)
      if (!isKept(slot)) free.push(slot)
    }
    result.push({ ...step, free })
  }
  return result.reverse()
}
