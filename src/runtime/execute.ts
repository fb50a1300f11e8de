import type { BoundGraph } from '../bind/call.ts'
import { factBody, isOptional, locate, propagate } from '../bind/propagate.ts'
import { ActiveCall, type RunContext } from '../bind/run.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, Node, ValueId } from '../graph/graph.ts'
import type { Body, State } from '../ops/define.ts'
import { factOf } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Tensor, Value } from '../tensor/tensor.ts'
import { Holds } from './holds.ts'
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
  readonly threads: number
  /** Constants that have been read, kept for the session. */
  readonly constants: Map<Constant, Tensor>
  /** Data of constants that this run has read: outputs must not share it. */
  readonly shared: Set<unknown>
  readonly onStep?: (event: StepEvent) => void
  readonly started: number
}

/** Light steps between two yields, unless every step is to be seen. */
const STEPS_PER_YIELD = 16

/**
 * Runs a plan. A generator: it yields between nodes and inside heavy kernels, so that whoever drives it can stop.
 * @param given values by slot
 * @returns values of the plan's outputs, each held once against the budget
 * @throws NodewiseError with the place of the node that failed
 */
export function* executePlan(plan: Plan, given: ReadonlyMap<number, Value>, run: Run): Generator<void, Value[]> {
  const frame = new Frame(plan, given, run)
  let steps = 0
  for (const step of plan.steps) {
    const active = new ActiveStep(step, frame)
    try {
      const turns = active.start()
      if (turns) yield* turns
      active.finish()
    } catch (error) {
      throw locate(error, step.call, plan.bound)
    }
    if (run.onStep || ++steps % STEPS_PER_YIELD === 0) yield
  }
  return frame.outputs()
}

/** The values of one graph while it runs, by slot. */
class Frame {
  readonly plan: Plan
  readonly run: Run
  readonly slots: (Value | undefined)[]
  private readonly given: ReadonlyMap<number, Value>

  constructor(plan: Plan, given: ReadonlyMap<number, Value>, run: Run) {
    this.plan = plan
    this.run = run
    this.given = given
    this.slots = new Array<Value | undefined>(plan.slots.size).fill(undefined)
    for (const [slot, value] of given) this.slots[slot] = value
  }

  /** The value of a slot, a constant read if need be; undefined for no slot. */
  read(slot: number): Value | undefined {
    if (slot < 0) return undefined
    return this.slots[slot] ?? this.readConstant(slot)
  }

  require(slot: number): Value {
    return this.read(slot) ?? this.failMissing(slot)
  }

  outputs(): Value[] {
    const { plan, run, slots, given } = this
    const outputs = plan.outputs.map(slot => this.require(slot))
    for (const value of outputs) run.budget.hold(value)
    for (const slot of new Set(plan.outputs)) if (!given.has(slot) && !plan.constants.has(slot)) run.budget.release(slots[slot])
    return outputs
  }

  private readConstant(slot: number): Tensor | undefined {
    const constant = this.plan.constants.get(slot)
    if (constant === undefined) return undefined
    const tensor = 'read' in constant ? readOnce(constant, this.run) : constant
    this.run.shared.add(tensor.data)
    this.slots[slot] = tensor
    return tensor
  }

  private failMissing(slot: number): never {
    const { plan } = this
    const id = [...plan.slots].find(([, at]) => at === slot)?.[0] ?? ''
    const known = plan.bound.graph.values.get(id)
    throw new NodewiseError('invalid-graph', `nothing produces the value "${known?.name ?? id}"`, known?.place ?? {})
  }
}

function readOnce(constant: Constant, run: Run): Tensor {
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

/** One step on its way, and what surrounds its call. */
class ActiveStep implements RunContext {
  private readonly step: Step
  private readonly frame: Frame
  private readonly inputs: (Value | undefined)[] = []
  private active: ActiveCall | undefined
  private held: Holds | undefined
  private began = 0

  constructor(step: Step, frame: Frame) {
    this.step = step
    this.frame = frame
  }

  start(): Generator<void> | undefined {
    const { step: { inputs, call, memo }, frame } = this
    for (const slot of inputs) this.inputs.push(slot < 0 ? undefined : frame.require(slot))
    if (frame.run.onStep) this.began = performance.now()
    this.active = new ActiveCall(call, this.inputs, this, memo)
    return this.active.start()
  }

  finish(): void {
    const { step, frame: { slots, run } } = this
    const outputs = this.active!.finish()
    for (let i = 0; i < outputs.length; i++) {
      const slot = step.outputs[i]
      if (slot < 0) continue
      slots[slot] = outputs[i]
      run.budget.hold(outputs[i])
    }
    this.held?.releaseAll()
    run.onStep?.({
      node: step.call.node, inputs: this.inputs, outputs, start: this.began - run.started, milliseconds: performance.now() - this.began
    })
    for (const slot of step.free) {
      run.budget.release(slots[slot])
      slots[slot] = undefined
    }
  }

  allocate(type: DType, dims: readonly number[]): Tensor {
    return this.frame.run.budget.allocate(type, dims)
  }

  wanted(index: number): boolean {
    return this.step.outputs[index] >= 0
  }

  body(bound: BoundGraph): Body {
    this.held ??= new Holds(this.frame.run.budget)
    return bodyOf(bound, this.step.bodies.get(bound)!, this.frame, this.held)
  }

  random(seed?: number): () => number {
    return this.frame.run.random(seed)
  }

  get state(): State {
    return this.frame.run.state
  }

  get overrides(): Readonly<Record<string, unknown>> {
    return this.frame.run.overrides
  }

  get threads(): number {
    return this.frame.run.threads
  }
}

function bodyOf(bound: BoundGraph, { plan, depth, captures }: BodyPlan, frame: Frame, held: Holds): Body {
  const { run } = frame
  const outer = new Map(captures.map(({ id, from }) => [id, from]))
  const capture = (id: ValueId): Value | undefined => frame.read(outer.get(id) ?? -1)
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
