import { type BoundGraph, type Call, isCall, isUnbound, type Unbound } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, Finding, Node, ValueId } from '../graph/graph.ts'
import type { CallMemo } from '../infer/prepare.ts'
import type { Propagation } from '../infer/propagate.ts'
import { positionOf } from '../runtime/tables.ts'
import { knownValue } from '../shapes/fact.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { deferredSteps } from './deferred.ts'

/** One call over numbered slots; -1 where an input or output is left out or unwanted. */
export interface Step {
  readonly call: Call
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  /** Slots whose value nobody reads after this step. */
  readonly free: readonly number[]
  readonly bodies: ReadonlyMap<BoundGraph, BodyPlan>
  /** Input position of the operand in which the call looks rows up; -1: there is none. */
  readonly table: number
  /** What the call worked out in an earlier run. */
  readonly memo: CallMemo
}

/** A body's plan and where what it captures lies in the enclosing frame. */
export interface BodyPlan {
  /** Made when first asked for where facts never came to the body: most likely it never runs. */
  readonly plan: () => Plan
  /** Bodies around this one. */
  readonly depth: number
  readonly captures: readonly { readonly from: number; readonly id: ValueId }[]
}

/** A graph flattened into steps. */
export interface Plan {
  readonly bound: BoundGraph
  readonly slots: ReadonlyMap<ValueId, number>
  readonly steps: readonly Step[]
  readonly inputs: readonly number[]
  /** Inputs, by position, that are read and have no default. */
  readonly needed: readonly number[]
  readonly outputs: readonly number[]
  /** For each slot the first of the outputs that it is; -1: none. */
  readonly outputAt: readonly number[]
  /** For each output whether a step makes it; true once where it is there twice. */
  readonly isMade: readonly boolean[]
  /** What slots hold from the start: constants. */
  readonly initial: readonly (Constant | Tensor | undefined)[]
  /** Steps that do not run and are not among the steps, by the slot of their result: see {@link deferredSteps}. */
  readonly deferred: ReadonlyMap<number, Step>
}

/**
 * Flattens what is needed for `wanted` into steps; dead nodes are left out, small constant results folded.
 * @throws NodewiseError the first fault that matters, or one `unsupported-op` that names every operator which is
 *   missing
 */
export function planGraph(result: Propagation, wanted: readonly ValueId[]): Plan {
  const missing: Unbound[] = []
  const plan = planInto(result, wanted, missing, 0)
  refuseMissing(missing)
  return plan
}

/** @param missing takes what has no operator, in bodies too, so that all of it can be named together */
function planInto(result: Propagation, wanted: readonly ValueId[], missing: Unbound[], depth: number): Plan {
  const { bound } = result
  const folded = foldedValues(result)
  const needed = neededItems(bound, wanted, folded)
  refuseFindings(bound, needed.items, needed.values)
  for (const item of needed.items) if (isUnbound(item)) missing.push(item)
  const calls = needed.items.filter(isCall)
  const slots = new Map<ValueId, number>()
  const slotOf = (id: ValueId): number => {
    if (!slots.has(id)) slots.set(id, slots.size)
    return slots.get(id)!
  }
  const inputs = bound.graph.inputs.map(({ value }) => slotOf(value))
  const captures = bound.captures.map(slotOf)
  const outputs = wanted.map(slotOf)
  const kept = new Set([...inputs, ...outputs, ...captures])
  const all = calls.map(call => stepOf(call, result, slotOf, needed.values, missing, depth))
  const initial = new Array<Constant | Tensor | undefined>(slots.size).fill(undefined)
  for (const constants of [bound.constants, folded])
    for (const [id, constant] of constants) if (slots.has(id)) initial[slotOf(id)] = constant
  const deferred = deferredSteps(all, initial, kept)
  const steps = withFrees(all, slot => kept.has(slot) || initial[slot] !== undefined).filter(
    step => !deferred.has(step.outputs[0])
  )
  const read = new Set([...outputs, ...steps.flatMap(slotsRead)])
  const results = new Set(steps.flatMap(step => step.outputs))
  const outputAt = new Array<number>(slots.size).fill(-1)
  outputs.forEach((slot, i) => {
    if (outputAt[slot] < 0) outputAt[slot] = i
  })
  return {
    bound,
    slots,
    steps,
    inputs,
    outputs,
    outputAt,
    initial,
    deferred,
    needed: inputs.flatMap((slot, i) =>
      read.has(slot) && !bound.constants.has(bound.graph.inputs[i].value) ? [i] : []
    ),
    isMade: outputs.map((slot, i) => results.has(slot) && outputAt[slot] === i)
  }
}

/** What a step reads, and what bodies of it capture. */
const slotsRead = (step: Step): number[] => [
  ...step.inputs,
  ...[...step.bodies.values()].flatMap(body => body.captures.map(({ from }) => from))
]

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
function neededItems(
  bound: BoundGraph,
  wanted: readonly ValueId[],
  folded: ReadonlyMap<ValueId, Tensor>
): { items: (Call | Unbound)[]; values: Set<ValueId> } {
  const values = new Set(wanted)
  const items: (Call | Unbound)[] = []
  for (let i = bound.items.length - 1; i >= 0; i--) {
    const item = bound.items[i]
    const { node } = item
    const isNeeded =
      node.outputs.some(id => id !== undefined && values.has(id) && !folded.has(id)) ||
      (isCall(item) && keepsState(item))
    if (!isNeeded) continue
    items.push(item)
    for (const id of [...node.inputs, ...node.captures]) if (id !== undefined) values.add(id)
  }
  return { items: items.reverse(), values }
}

const keepsState = (call: Call): boolean =>
  call.op.impure === 'state' ||
  [...call.bodies.values()].some(body => body.items.some(item => isCall(item) && keepsState(item)))

/** Throws the first fault that reading found in the needed part of a graph. */
function refuseFindings(bound: BoundGraph, items: readonly (Call | Unbound)[], values: ReadonlySet<ValueId>): void {
  const finding = bound.graph.findings.find(
    candidate => candidate.severity === 'error' && matters(candidate, items, values)
  )
  if (finding) throw new NodewiseError('invalid-graph', finding.message, finding.place, { finding: finding.code })
}

function refuseMissing(unbound: readonly Unbound[]): void {
  if (unbound.length === 0) return
  const other = unbound.find(({ error }) => error.code !== 'unsupported-op')
  if (other) throw other.error
  const types = [...new Set(unbound.map(({ node }) => nameOf(node)))]
  if (types.length === 1) throw unbound[0].error
  throw new NodewiseError(
    'unsupported-op',
    `${types.length} operators are not supported: ${types.join(', ')}`,
    unbound[0].error.place,
    { types }
  )
}

const nameOf = (node: Node): string =>
  node.dialect === 'onnx' ? `${node.domain}::${node.type}-${node.version}` : `${node.type} (${node.version})`

function matters({ onlyIfNeeded }: Finding, items: readonly (Call | Unbound)[], values: ReadonlySet<ValueId>): boolean {
  if (!onlyIfNeeded) return true
  if (onlyIfNeeded.value !== undefined && values.has(onlyIfNeeded.value)) return true
  return onlyIfNeeded.node !== undefined && items.some(({ node }) => node.index === onlyIfNeeded.node)
}

function stepOf(
  call: Call,
  result: Propagation,
  slotOf: (id: ValueId) => number,
  values: ReadonlySet<ValueId>,
  missing: Unbound[],
  depth: number
): Step {
  const bodies = new Map<BoundGraph, BodyPlan>()
  for (const body of call.bodies.values()) {
    const plan = planBody(body, result.bodies.get(body), missing, depth + 1)
    bodies.set(body, { plan, depth, captures: body.captures.map(id => ({ from: slotOf(id), id })) })
  }
  return {
    call,
    inputs: call.inputs.map(id => (id === undefined ? -1 : slotOf(id))),
    outputs: call.outputs.map(id => (id === undefined || !values.has(id) ? -1 : slotOf(id))),
    free: [],
    bodies,
    table: positionOf(call, call.op.rows?.table),
    memo: {}
  }
}

/**
 * A body that propagation never came to is a branch that is known not to be taken, or its node failed: then nothing is
 * folded.
 */
function planBody(bound: BoundGraph, result: Propagation | undefined, missing: Unbound[], depth: number): () => Plan {
  const wanted = bound.graph.outputs.map(output => output.value)
  if (result) {
    const plan = planInto(result, wanted, missing, depth)
    return () => plan
  }
  let plan: Plan | undefined
  return () => (plan ??= planGraph({ bound, facts: new Map(), failures: [], bodies: new Map() }, wanted))
}

function withFrees(steps: readonly Step[], isKept: (slot: number) => boolean): Step[] {
  const seen = new Set<number>()
  const result: Step[] = []
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i]
    const free: number[] = []
    for (const slot of [...slotsRead(step), ...step.outputs]) {
      if (slot < 0 || seen.has(slot)) continue
      seen.add(slot)
      if (!isKept(slot)) free.push(slot)
    }
    result.push({ ...step, free })
  }
  return result.reverse()
}
