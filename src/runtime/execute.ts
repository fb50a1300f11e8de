import { factBody, isOptional, locate, propagate } from '../bind/propagate.ts'
import { runCall, type RunContext } from '../bind/run.ts'
import type { BoundGraph } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, Node, ValueId } from '../graph/graph.ts'
import type { Body, State } from '../ops/define.ts'
import { factOf } from '../shapes/fact.ts'
import type { Tensor, Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import type { BodyPlan, Plan, Step } from './plan.ts'

/** One node that has run, with its values in hand. */
export interface StepEvent {
  readonly node: Node
  /** By input position; undefined where left out. */
  readonly inputs: readonly (Value | undefined)[]
  readonly outputs: readonly (Value | undefined)[]
  /** Milliseconds from the start of the run. */
  readonly start: number
  readonly milliseconds: number
}

/** What one run shares over all its graphs. */
export interface Run {
  readonly budget: Budget
  readonly state: State
  readonly random: (seed?: number) => () => number
  readonly overrides: Readonly<Record<string, unknown>>
  /** Constants that have been read, kept for the session. */
  readonly constants: Map<Constant, Tensor>
  /** Data of constants that this run has read: outputs must not share it. */
  readonly shared: Set<unknown>
  readonly onStep?: (event: StepEvent) => void
  readonly started: number
}

/**
 * Runs a plan. A generator: it yields between nodes and inside heavy kernels, so that whoever drives it can stop.
 * @param given values by slot
 * @returns values of the plan's outputs, each held once against the budget
 * @throws NodewiseError with the place of the node that failed
 */
export function* executePlan(plan: Plan, given: ReadonlyMap<number, Value>, run: Run): Generator<void, Value[]> {
  const slots: (Value | undefined)[] = new Array<Value | undefined>(plan.slots.size).fill(undefined)
  for (const [slot, value] of given) slots[slot] = value
  const read = (slot: number): Value | undefined => {
    if (slot < 0) return undefined
    const constant = slots[slot] === undefined ? plan.constants.get(slot) : undefined
    if (constant) {
      const tensor = 'read' in constant ? readConstant(constant, run) : constant
      run.shared.add(tensor.data)
      slots[slot] = tensor
    }
    return slots[slot]
  }
  for (const step of plan.steps) {
    yield* executeStep(step, plan, slots, read, run)
    yield
  }
  const outputs = plan.outputs.map(slot => required(read(slot), plan, slot))
  for (const value of outputs) run.budget.hold(value)
  for (const slot of new Set(plan.outputs)) if (!given.has(slot) && !plan.constants.has(slot)) run.budget.release(slots[slot])
  return outputs
}

function readConstant(constant: Constant, run: Run): Tensor {
  let tensor = run.constants.get(constant)
  if (!tensor) {
    try {
      tensor = constant.read()
    } catch (error) {
      throw error instanceof NodewiseError ? error.at(constant.place) : error
    }
    run.constants.set(constant, tensor)
  }
  return tensor
}

function required(value: Value | undefined, plan: Plan, slot: number): Value {
  if (value !== undefined) return value
  const id = [...plan.slots].find(([, at]) => at === slot)?.[0] ?? ''
  const known = plan.bound.graph.values.get(id)
  throw new NodewiseError('invalid-graph', `nothing produces the value "${known?.name ?? id}"`, known?.place ?? {})
}

function* executeStep(step: Step, plan: Plan, slots: (Value | undefined)[], read: (slot: number) => Value | undefined, run: Run): Generator<void, void> {
  const { call } = step
  const held = new Holds(run.budget)
  const inputs = step.inputs.map(slot => slot < 0 ? undefined : required(read(slot), plan, slot))
  const context: RunContext = {
    allocate: (type, dims) => run.budget.allocate(type, dims),
    wanted: index => step.outputs[index] >= 0,
    body: bound => bodyOf(bound, step.bodies.get(bound)!, read, run, held),
    state: run.state,
    random: run.random,
    overrides: run.overrides
  }
  const start = performance.now()
  let outputs: (Value | undefined)[]
  try {
    outputs = yield* runCall(call, inputs, context)
  } catch (error) {
    throw locate(error, call, plan.bound)
  }
  step.outputs.forEach((slot, i) => {
    if (slot < 0) return
    slots[slot] = outputs[i]
    run.budget.hold(outputs[i])
  })
  held.releaseAll()
  run.onStep?.({ node: call.node, inputs, outputs, start: start - run.started, milliseconds: performance.now() - start })
  for (const slot of step.free) {
    run.budget.release(slots[slot])
    slots[slot] = undefined
  }
}

/** Outputs of bodies that their operator has not given up yet. */
class Holds {
  private readonly counts = new Map<Value, number>()
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  add(values: readonly Value[]): void {
    for (const value of values) this.counts.set(value, (this.counts.get(value) ?? 0) + 1)
  }

  release(values: readonly Value[]): void {
    for (const value of values) {
      const count = this.counts.get(value) ?? 0
      if (count === 0) continue
      this.budget.release(value)
      if (count > 1) this.counts.set(value, count - 1)
      else this.counts.delete(value)
    }
  }

  releaseAll(): void {
    for (const [value, count] of this.counts) for (let i = 0; i < count; i++) this.budget.release(value)
    this.counts.clear()
  }
}

function bodyOf(
  bound: BoundGraph, { plan, depth, captures }: BodyPlan, read: (slot: number) => Value | undefined, run: Run, held: Holds
): Body {
  const outer = new Map(captures.map(({ id, from }) => [id, from]))
  const capture = (id: ValueId): Value | undefined => read(outer.get(id) ?? -1)
  const facts = factBody(bound, depth, id => {
    const value = capture(id)
    return value && factOf(value)
  }, given => propagate(bound, { ...given, overrides: run.overrides, depth: depth + 1 }).facts)
  let captured: [number, Value][] | undefined
  return {
    ...facts,
    *run(inputs) {
      const { slots, inputs: places } = plan()
      captured ??= captures.flatMap(({ id }): [number, Value][] => {
        const value = slots.has(id) ? capture(id) : undefined
        return value === undefined ? [] : [[slots.get(id)!, value]]
      })
      const given = new Map(captured)
      places.forEach((slot, i) => {
        const value = inputs[i]
        if (value === undefined) return
        const becomesOptional = isOptional(bound.graph.inputs[i], bound) && value.type !== 'optional'
        given.set(slot, becomesOptional ? { type: 'optional', value } : value)
      })
      const outputs = yield* executePlan(plan(), given, run)
      held.add(outputs)
      return outputs
    },
    release: outputs => held.release(outputs)
  }
}
