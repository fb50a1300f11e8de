import { locate } from '../bind/propagate.ts'
import { runCall, type RunContext } from '../bind/run.ts'
import type { BoundGraph } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, Node } from '../graph/graph.ts'
import type { Body } from '../ops/define.ts'
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
  readonly state: Map<string, Value>
  readonly random: (seed?: number) => () => number
  readonly overrides: Readonly<Record<string, unknown>>
  /** Constants that have been read, kept for the session. */
  readonly constants: Map<Constant, Tensor>
  readonly onStep?: (event: StepEvent) => void
  readonly started: number
}

/**
 * Runs a plan. A generator: it yields between nodes and inside heavy kernels, so that whoever drives it can stop.
 * @param given values by slot
 * @returns values of the plan's outputs
 * @throws NodewiseError with the place of the node that failed
 */
export function* executePlan(plan: Plan, given: ReadonlyMap<number, Value>, run: Run): Generator<void, Value[]> {
  const slots: (Value | undefined)[] = new Array<Value | undefined>(plan.slots.size).fill(undefined)
  for (const [slot, value] of given) slots[slot] = value
  const read = (slot: number): Value | undefined => {
    if (slot < 0) return undefined
    const constant = slots[slot] === undefined ? plan.constants.get(slot) : undefined
    if (constant) slots[slot] = 'read' in constant ? readConstant(constant, run) : constant
    return slots[slot]
  }
  for (const step of plan.steps) {
    yield* executeStep(step, plan, slots, read, run)
    yield
  }
  return plan.outputs.map(slot => required(read(slot), plan, slot))
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
  const inputs = step.inputs.map(slot => slot < 0 ? undefined : required(read(slot), plan, slot))
  const context: RunContext = {
    allocate: (type, dims) => run.budget.allocate(type, dims),
    wanted: index => step.outputs[index] >= 0,
    body: bound => bodyOf(bound, step.bodies.get(bound)!, read, run),
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
  run.onStep?.({ node: call.node, inputs, outputs, start: start - run.started, milliseconds: performance.now() - start })
  for (const slot of step.free) {
    run.budget.release(slots[slot])
    slots[slot] = undefined
  }
}

function bodyOf(bound: BoundGraph, { plan, captures }: BodyPlan, read: (slot: number) => Value | undefined, run: Run): Body {
  return {
    inputCount: plan.inputs.length,
    outputCount: plan.outputs.length,
    infer: () => [],
    *run(inputs) {
      const given = new Map<number, Value>()
      for (const { from, to } of captures) {
        const value = read(from)
        if (value !== undefined) given.set(to, value)
      }
      plan.inputs.forEach((slot, i) => {
        if (inputs[i] !== undefined) given.set(slot, inputs[i])
      })
      if (inputs.length > plan.inputs.length) throw new NodewiseError('invalid-graph', `the body "${bound.graph.name}" takes ${plan.inputs.length} inputs; ${inputs.length} are given`)
      return yield* executePlan(plan, given, run)
    }
  }
}
