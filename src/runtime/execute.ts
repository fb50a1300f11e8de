import type { BoundGraph } from '../bind/call.ts'
import { constantFact } from '../bind/declared.ts'
import { factBody, isOptional, locate, propagate } from '../bind/propagate.ts'
import { ActiveCall, type RunContext } from '../bind/run.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, Node, ValueId } from '../graph/graph.ts'
import type { Body, State } from '../ops/define.ts'
import { factOf } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Tensor, Value } from '../tensor/tensor.ts'
import { Holds } from './holds.ts'
import { type Budget, tensorsIn } from './memory.ts'
import type { BodyPlan, Plan, Step } from './plan.ts'
import { type LazyTable, lazyTable, withTable } from './tables.ts'
import type { Weights } from './weights.ts'

/** One node that has run, with its values in hand. */
export interface StepEvent {
  readonly node: Node
  /** By input position; undefined where left out. Of a table that was read by the row there are only the rows that the node read, ascending. */
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
  readonly weights: Weights
  /** Data of constants that this run has read: outputs must not share it. */
  readonly shared: Set<unknown>
  readonly onStep?: (event: StepEvent) => void
  readonly started: number
}

/** Light steps between two yields, unless every step is to be seen. */
const STEPS_PER_YIELD = 16

/**
 * Runs a plan. A generator: it yields between nodes and inside heavy kernels, so that whoever drives it can stop.
 * @param given values by slot; constants where they have not been read
 * @param targets for the main graph: the slots that the caller gets, each with the tensor to write into if the caller gave one
 * @returns values of the plan's outputs, each held once against the budget
 * @throws NodewiseError with the place of the node that failed
 */
export function* executePlan(
  plan: Plan, given: ReadonlyMap<number, Value | Constant>, run: Run, targets?: Targets
): Generator<void, Value[]> {
  const frame = new Frame(plan, given, run, targets)
  let steps = 0
  for (const step of plan.steps) {
    if (plan.deferred.has(step.outputs[0])) continue
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

export type Targets = ReadonlyMap<number, Tensor | undefined>

/** The values of one graph while it runs, by slot. */
class Frame {
  readonly plan: Plan
  readonly run: Run
  readonly slots: (Value | undefined)[]
  private readonly given: ReadonlyMap<number, Value | Constant>
  private readonly targets: Targets | undefined

  constructor(plan: Plan, given: ReadonlyMap<number, Value | Constant>, run: Run, targets: Targets | undefined) {
    this.plan = plan
    this.run = run
    this.given = given
    this.targets = targets
    this.slots = new Array<Value | undefined>(plan.slots.size).fill(undefined)
    for (const [slot, value] of given) if (!('read' in value)) this.slots[slot] = value
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

  /** What a slot holds; a constant that has not been read stays unread. */
  peek(slot: number): Value | Constant | undefined {
    return slot < 0 ? undefined : this.slots[slot] ?? this.unread(slot)
  }

  /**
   * Memory for what will be in a slot. What the caller gets is the caller's, bodies share values in ways that only they know, and events hand
   * values out: only what nobody else sees lies on the heap, where it is given back at once.
   */
  allocate(type: DType, dims: readonly number[], slot: number, isZeroed: boolean): Tensor {
    const { targets, run } = this
    const target = targets?.get(slot)
    if (target && target.type === type && isSameDims(target.dims, dims)) {
      if (isZeroed) target.data.fill(0 as never)
      return target
    }
    const isShared = targets === undefined || targets.has(slot) || run.onStep !== undefined
    return run.budget.allocate(type, dims, isShared ? 'array' : 'heap', isZeroed)
  }

  private unread(slot: number): Value | Constant | undefined {
    return this.given.get(slot) ?? this.plan.constants.get(slot)
  }

  private readConstant(slot: number): Value | undefined {
    const { run } = this
    const constant = this.unread(slot)
    if (constant === undefined) return undefined
    const value = 'read' in constant ? run.weights.read(constant, run.budget) : constant
    for (const { data } of tensorsIn(value)) run.shared.add(data)
    this.slots[slot] = value
    return value
  }

  private failMissing(slot: number): never {
    const { plan } = this
    const id = [...plan.slots].find(([, at]) => at === slot)?.[0] ?? ''
    const known = plan.bound.graph.values.get(id)
    throw new NodewiseError('invalid-graph', `nothing produces the value "${known?.name ?? id}"`, known?.place ?? {})
  }
}

const isSameDims = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((dim, i) => dim === b[i])

const NOTHING: readonly Value[] = []

/** One step on its way, and what surrounds its call. */
class ActiveStep implements RunContext {
  private readonly step: Step
  private readonly frame: Frame
  private readonly inputs: (Value | undefined)[] = []
  private active: ActiveCall | undefined
  private held: Holds | undefined
  /** What was made of a table for this call alone. */
  private made: readonly Value[] = NOTHING
  private began = 0

  constructor(step: Step, frame: Frame) {
    this.step = step
    this.frame = frame
  }

  start(): Generator<void> | undefined {
    const { step, frame } = this
    const table = step.call.op.rows && lazyTable(step, frame.plan, frame, frame.run)
    for (let i = 0; i < step.inputs.length; i++) {
      const slot = step.inputs[i]
      this.inputs.push(slot < 0 || i === table?.index ? undefined : frame.require(slot))
    }
    if (frame.run.onStep) this.began = performance.now()
    return table ? this.lookUp(table) : this.call(this.inputs)
  }

  private call(inputs: readonly (Value | undefined)[]): Generator<void> | undefined {
    this.active = new ActiveCall(this.step.call, inputs, this, this.step.memo)
    return this.active.start()
  }

  /** The call on the rows of a table that it needs. */
  private *lookUp(table: LazyTable): Generator<void> {
    const { step, frame } = this
    const { inputs, made } = yield* withTable(step, frame.plan, this.inputs, table, frame.run)
    this.made = made
    this.inputs[table.index] = inputs[table.index]
    const turns = this.call(inputs)
    if (turns) yield* turns
  }

  finish(): void {
    const { step, frame: { slots, run } } = this
    const outputs = this.active!.finish()
    for (let i = 0; i < outputs.length; i++) {
      const slot = step.outputs[i]
      if (slot >= 0) slots[slot] = outputs[i]
      run.budget.hold(outputs[i])
      if (slot < 0) run.budget.release(outputs[i])
    }
    this.held?.releaseAll()
    for (const value of this.made) run.budget.release(value)
    run.onStep?.({
      node: step.call.node, inputs: this.inputs, outputs, start: this.began - run.started, milliseconds: performance.now() - this.began
    })
    for (const slot of step.free) {
      run.budget.release(slots[slot])
      slots[slot] = undefined
    }
  }

  allocate(type: DType, dims: readonly number[], index: number, isZeroed: boolean): Tensor {
    return this.frame.allocate(type, dims, this.step.outputs[index] ?? -1, isZeroed)
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
  const capture = (id: ValueId): Value | Constant | undefined => frame.peek(outer.get(id) ?? -1)
  const facts = factBody(bound, depth, id => {
    const value = capture(id)
    return value && ('read' in value ? constantFact(value) : factOf(value))
  }, given => propagate(bound, { ...given, overrides: run.overrides, depth: depth + 1 }).facts)
  let captured: [number, Value | Constant][] | undefined
  return {
    ...facts,
    *run(inputs) {
      const { slots, inputs: places } = plan()
      captured ??= captures.flatMap(({ id }): [number, Value | Constant][] => {
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
