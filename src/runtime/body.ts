import type { BoundGraph } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { constantFact } from '../infer/declared.ts'
import { factBody, isOptional, propagate } from '../infer/propagate.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Body } from '../op-kit/define.ts'
import type { BodyPlan, Plan } from '../plan/plan.ts'
import { type Fact, factOf } from '../shapes/fact.ts'
import type { Value } from '../tensor/tensor.ts'
import type { Holds } from './holds.ts'
import type { Repeated } from './recording.ts'
import type { RepeatedBody } from './repeated-bodies.ts'
import type { Run } from './run.ts'
import { isConstant, type Slot, type Slots } from './slots.ts'

/** Runs the steps of a plan: values, or what is left to do. */
type Execute = (
  plan: Plan,
  slots: Slots,
  run: Run,
  passedOn: readonly boolean[] | undefined
) => Value[] | Paced<Value[]>

/**
 * A body, for one call of its operator while the graph around it runs. What is captured is the same in all runs of the
 * body for this call.
 */
export class ActiveBody implements Body {
  readonly inputCount: number
  readonly outputCount: number
  readonly depth: number
  private readonly bound: BoundGraph
  private readonly body: BodyPlan
  private readonly outer: readonly Slot[]
  private readonly context: Run
  private readonly held: Holds
  private readonly execute: Execute
  private readonly repeated: RepeatedBody | undefined
  private readonly becomeOptional: readonly boolean[] | undefined
  private captured: Slots | undefined

  /** @param outer slots of the graph around it */
  constructor(bound: BoundGraph, body: BodyPlan, outer: readonly Slot[], context: Run, held: Holds, execute: Execute) {
    this.inputCount = bound.graph.inputs.length
    this.outputCount = bound.graph.outputs.length
    this.depth = body.depth
    this.bound = bound
    this.body = body
    this.outer = outer
    this.context = context
    this.held = held
    this.execute = execute
    this.repeated = context.repeatedBodies?.of(body)
    this.becomeOptional = optionalInputs(bound)
  }

  infer(given: readonly (Fact | undefined)[]): readonly Fact[] {
    return factsOf(this.bound, this.body, this.outer, this.context).infer(given)
  }

  *run(given: readonly (Value | undefined)[]): Paced<Value[]> {
    const begun = this.start(given)
    return 'next' in begun ? yield* begun : begun
  }

  start(given: readonly (Value | undefined)[], passedOn?: readonly boolean[]): Value[] | Paced<Value[]> {
    const plan = this.body.plan()
    const isFirst = this.captured === undefined
    this.captured ??= withCaptured(plan, this.body, this.outer)
    const slots = this.captured.slice()
    for (let i = 0; i < plan.inputs.length; i++) {
      const value = given[i]
      if (value === undefined) continue
      const isWrapped = this.becomeOptional?.[i] === true && value.type !== 'optional'
      slots[plan.inputs[i]] = isWrapped ? { type: 'optional', value } : value
    }
    if (this.context.steps.isDue()) return this.goOn(plan, slots, isFirst, passedOn)
    const taken = this.take(plan, slots, passedOn)
    if (taken && 'next' in taken) return this.goOn(plan, slots, isFirst, passedOn, taken)
    if (taken?.values) return this.hold(taken.values)
    const made = this.execute(taken?.rest ?? plan, slots, this.context, passedOn)
    return 'next' in made ? this.endOf(made, slots, isFirst) : this.made(made, slots, isFirst)
  }

  release(values: readonly Value[]): void {
    this.held.release(values)
  }

  /** The run as it has been recorded, or is recorded now. */
  private take(plan: Plan, slots: Slots, passedOn: readonly boolean[] | undefined): ReturnType<RepeatedBody['take']> {
    return this.repeated?.mayServe ? this.repeated.take(plan, slots, this.context, this, passedOn) : undefined
  }

  /** @param begun what {@link take} has begun; left out: it is asked after a pause */
  private *goOn(
    plan: Plan,
    slots: Slots,
    isFirst: boolean,
    passedOn: readonly boolean[] | undefined,
    begun?: Paced<Repeated | undefined>
  ): Paced<Value[]> {
    if (begun === undefined) yield
    const taken = begun ?? this.take(plan, slots, passedOn)
    const known = taken && 'next' in taken ? yield* taken : taken
    if (known?.values) return this.hold(known.values)
    const made = this.execute(known?.rest ?? plan, slots, this.context, passedOn)
    return this.made('next' in made ? yield* made : made, slots, isFirst)
  }

  private *endOf(steps: Paced<Value[]>, slots: Slots, isFirst: boolean): Paced<Value[]> {
    return this.made(yield* steps, slots, isFirst)
  }

  /** Of what steps have made; constants that they have read need not be looked for again. */
  private made(values: Value[], slots: Slots, isFirst: boolean): Value[] {
    if (isFirst) takeConstants(slots, this.captured!)
    return this.hold(values)
  }

  private hold(values: Value[]): Value[] {
    this.held.add(values)
    return values
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
  const factFor = (id: ValueId): Fact | undefined => {
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
