import type { BoundGraph } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { constantFact } from '../infer/declared.ts'
import { factBody, isOptional, propagate } from '../infer/propagate.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Body } from '../op-kit/define.ts'
import type { BodyPlan, Plan } from '../plan/plan.ts'
import { factOf } from '../shapes/fact.ts'
import type { Value } from '../tensor/tensor.ts'
import type { Holds } from './holds.ts'
import type { Run } from './run.ts'
import { isConstant, type Slot, type Slots } from './slots.ts'

/** Runs the steps of a plan. */
type Execute = (plan: Plan, slots: Slots, run: Run) => Paced<Value[]>

/**
 * A body, for one call of its operator while the graph around it runs.
 * @param outer slots of the graph around it
 */
export function bodyOf(
  bound: BoundGraph,
  body: BodyPlan,
  outer: readonly Slot[],
  run: Run,
  held: Holds,
  execute: Execute
): Body {
  const { inputs, outputs } = bound.graph
  const becomeOptional = optionalInputs(bound)
  const repeated = run.repeatedBodies?.of(body)
  // What is captured is the same in all runs of the body for this call, which this stands for.
  const call = {}
  let captured: Slots | undefined
  return {
    inputCount: inputs.length,
    outputCount: outputs.length,
    depth: body.depth,
    infer: given => factsOf(bound, body, outer, run).infer(given),
    *run(given) {
      const plan = body.plan()
      const isFirst = captured === undefined
      captured ??= withCaptured(plan, body, outer)
      const slots = captured.slice()
      for (let i = 0; i < plan.inputs.length; i++) {
        const value = given[i]
        if (value === undefined) continue
        slots[plan.inputs[i]] = becomeOptional?.[i] && value.type !== 'optional' ? { type: 'optional', value } : value
      }
      if (run.steps.isDue()) yield
      const taken = repeated?.mayServe ? repeated.take(plan, slots, run, call) : undefined
      const known = taken && 'next' in taken ? yield* taken : taken
      const values = known ?? (yield* execute(plan, slots, run))
      // Constants that have been read need not be looked for again.
      if (isFirst && known === undefined) takeConstants(slots, captured)
      held.add(values)
      return values
    },
    release: values => held.release(values)
  }
}

/** By body the inputs that it declares to be optionals; undefined where there are none. */
const optionals = new WeakMap<BoundGraph, readonly boolean[] | undefined>()

function optionalInputs(bound: BoundGraph): readonly boolean[] | undefined {
  if (!optionals.has(bound)) {
    const are = bound.graph.inputs.map(input => isOptional(input, bound))
    optionals.set(bound, are.includes(true) ? are : undefined)
  }
  return optionals.get(bound)
}

function takeConstants(from: Slots, to: Slots): void {
  for (let i = 0; i < to.length; i++) {
    const held = to[i]
    if (held && isConstant(held)) to[i] = from[i] ?? held
  }
}

function withCaptured(plan: Plan, { captures }: BodyPlan, outer: readonly Slot[]): Slots {
  const slots: Slots = plan.initial.slice()
  for (const { id, from } of captures) {
    const slot = plan.slots.get(id)
    if (slot !== undefined) slots[slot] = outer[from]
  }
  return slots
}

/** The body while facts are worked out of what there is around it. */
function factsOf(bound: BoundGraph, { depth, captures }: BodyPlan, outer: readonly Slot[], run: Run): Body {
  const from = new Map(captures.map(capture => [capture.id, capture.from]))
  const factFor = (id: ValueId): ReturnType<typeof factOf> | undefined => {
    const value = outer[from.get(id) ?? -1]
    return value && (isConstant(value) ? constantFact(value) : factOf(value))
  }
  return factBody(
    bound,
    depth,
    factFor,
    given => propagate(bound, { ...given, overrides: run.overrides, depth: depth + 1 }).facts
  )
}
