import type { BoundGraph } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant } from '../graph/graph.ts'
import { clock } from '../host.ts'
import { ActiveCall, type CallEnvironment } from '../infer/run.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Body, Pack, Packed, Parameters, SelectKernel, State } from '../op-kit/define.ts'
import { isOfParameters, isSamePack } from '../op-kit/packs.ts'
import type { Plan, Step } from '../plan/plan.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Grown } from '../tensor/room.ts'
import { areSameDims, isTensor, type Tensor, type Value, zero } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'
import { ActiveBody } from './body.ts'
import { grow, hasParts, mayLieInRoom } from './growth.ts'
import { Holds } from './holds.ts'
import { settleStep } from './missing.ts'
import type { Delivery } from './outputs.ts'
import type { Run } from './run.ts'
import { isConstant, type Slot, type Slots } from './slots.ts'
import { type LazyTable, lazyTables, withTables } from './tables.ts'

/**
 * Runs a plan. It yields between steps and inside heavy kernels, so that whoever drives it can stop; a promise that it
 * yields is to be awaited before it goes on.
 * @param slots what the plan's slots hold from the start; it is changed
 * @param delivery for the main graph
 * @returns values of the plan's outputs, each held once against the budget
 * @throws NodewiseError with the place of the node that failed
 */
export function* executePlan(plan: Plan, slots: Slots, run: Run, delivery?: Delivery): Paced<Value[]> {
  const begun = start(new Frame(plan, slots, run, delivery, undefined))
  return 'next' in begun ? yield* begun : begun
}

/** @param passedOn as in {@link Body.start} */
const startBody = (plan: Plan, slots: Slots, run: Run, passedOn: readonly boolean[] | undefined) =>
  start(new Frame(plan, slots, run, undefined, passedOn))

/**
 * Runs a plan without a generator as far as nothing has to pause: that of a body whose steps are light would take as
 * long as one of them.
 * @returns the values, or what is left to do
 */
function start(frame: Frame): Value[] | Paced<Value[]> {
  const { plan, run } = frame
  const { steps } = plan
  for (let i = 0; i < steps.length; i++) {
    const active = new ActiveStep(steps[i], frame)
    try {
      const work = active.start()
      if (work) return goOn(frame, i, { active, work })
      active.finish()
    } catch (error) {
      return goOn(frame, i, { active, work: failing(error) })
    }
    if (run.steps.isDue() || run.onStep) return goOn(frame, i + 1, 'pause')
  }
  try {
    return frame.outputs()
  } catch {
    return goOn(frame, steps.length)
  }
}

/** A step that has begun, and what is left to do of it. */
interface Begun {
  readonly active: ActiveStep
  readonly work: Paced | undefined
}

// eslint-disable-next-line require-yield
function* failing(error: unknown): Paced {
  throw error
}

/** Runs a plan from a step on, which may have begun. */
function* goOn(frame: Frame, from: number, begun?: Begun | 'pause'): Paced<Value[]> {
  const { plan, slots, run } = frame
  const { steps } = plan
  if (begun === 'pause') yield
  let first = begun === 'pause' ? undefined : begun
  for (let i = from; i < steps.length; i++) {
    for (let isDone = false; !isDone;) {
      const active: ActiveStep = first?.active ?? new ActiveStep(steps[i], frame)
      try {
        const work = first ? first.work : active.start()
        first = undefined
        if (work) yield* work
        active.finish()
        isDone = true
      } catch (error) {
        yield* settleStep(error, active.mayBeginAnew, i, plan, slots, run)
      }
    }
    if (run.steps.isDue() || run.onStep) yield
  }
  for (;;) {
    try {
      return frame.outputs()
    } catch (error) {
      yield* settleStep(error, true, steps.length, plan, slots, run)
    }
  }
}

/** The values of one graph while it runs, by slot. */
class Frame {
  readonly plan: Plan
  readonly run: Run
  readonly slots: Slots
  readonly delivery: Delivery | undefined
  private readonly passedOn: readonly boolean[] | undefined

  /**
   * @param delivery of the main graph
   * @param passedOn of a body
   */
  constructor(
    plan: Plan,
    slots: Slots,
    run: Run,
    delivery: Delivery | undefined,
    passedOn: readonly boolean[] | undefined
  ) {
    this.plan = plan
    this.run = run
    this.slots = slots
    this.delivery = delivery
    this.passedOn = passedOn
  }

  /** The value of a slot, a constant read if need be. */
  require(slot: number): Value {
    const held = this.slots[slot]
    if (held === undefined) return this.failMissing(slot)
    return isConstant(held) ? this.readConstant(slot, held) : held
  }

  /** Whether what a slot holds, and no step reads any more, may be written over. */
  mayWriteOver(slot: number): boolean {
    return this.delivery !== undefined || this.passedOn?.[this.plan.inputs.indexOf(slot)] === true
  }

  outputs(): Value[] {
    const {
      plan: { outputs, isMade },
      run
    } = this
    const values = outputs.map(slot => this.require(slot))
    // What a step made has been held since then.
    for (let i = 0; i < values.length; i++) if (!isMade[i]) run.budget.hold(values[i])
    return values
  }

  /**
   * Memory for a result. A block of the heap is freed when its count of holders is 0, so only values lie there whose
   * holders all count: not outputs, which are the caller's, not values of bodies, which their operator hands round, and
   * not those that events hand out.
   */
  allocate(type: DType, dims: readonly number[], slot: number, isZeroed: boolean): Tensor {
    const { delivery, run } = this
    const at = slot < 0 || delivery === undefined ? -1 : this.plan.outputAt[slot]
    const target = at < 0 ? undefined : delivery?.writable[at]
    if (target && target.type === type && areSameDims(target.dims, dims)) {
      if (isZeroed) zero(target)
      return target
    }
    if (run.onStep !== undefined) return run.budget.allocate(type, dims, 'array', isZeroed)
    if (delivery === undefined) {
      const isResult = slot >= 0 && this.plan.outputAt[slot] >= 0
      return run.budget.allocate(type, dims, isResult ? 'result' : 'body', isZeroed)
    }
    return run.budget.allocate(type, dims, at >= 0 && !delivery.asViews ? 'output' : 'heap', isZeroed)
  }

  /** Memory for a result that `from` begins, with room for more; undefined where it is the caller's. */
  extend(from: Tensor, axis: number, rows: number, slot: number, isApart: boolean): Grown | undefined {
    const { delivery, run } = this
    const at = slot < 0 ? -1 : this.plan.outputAt[slot]
    if (run.onStep || !(delivery ? mayLieInRoom(delivery, at) : hasParts(from, axis))) return undefined
    const mayExtend = (data: unknown): boolean =>
      !isApart && (delivery ? delivery.mayExtend(data) : run.budget.mayGive(data, true))
    return grow(from, axis, rows, run.budget, mayExtend)
  }

  private readConstant(slot: number, constant: Constant): Value {
    const { run } = this
    const value = run.weights.read(constant, run.budget)
    this.slots[slot] = value
    return value
  }

  private failMissing(slot: number): never {
    const id = [...this.plan.slots].find(([, at]) => at === slot)?.[0] ?? ''
    const known = this.plan.bound.graph.values.get(id)
    throw new NodewiseError('invalid-graph', `nothing produces the value "${known?.name ?? id}"`, known?.place ?? {})
  }
}

const unreadAtHand = (held: Slot) => (held && isConstant(held) && !held.raw?.source.remote ? held : undefined)

const NOTHING: readonly Value[] = []

/** A step that is running, and what surrounds its call. */
class ActiveStep implements CallEnvironment {
  private readonly step: Step
  private readonly frame: Frame
  private readonly inputs: (Value | undefined)[]
  private active: ActiveCall | undefined
  private held: Holds | undefined
  /** Tensors that were made of tables for this call alone. */
  private made: readonly Value[] = NOTHING
  private isLookup = false
  private began = 0
  /** Whether nothing has been written over, so that the step may be run once more. */
  mayBeginAnew = true
  /** What has been packed of the step's constants. */
  packed: Packed | undefined = undefined

  constructor(step: Step, frame: Frame) {
    this.step = step
    this.frame = frame
    this.inputs = new Array<undefined>(step.inputs.length)
  }

  start(): Paced | undefined {
    const { step, frame } = this
    const tables = lazyTables(step, frame.plan, frame.slots, frame.run)
    for (let i = 0; i < step.inputs.length; i++) {
      const slot = step.inputs[i]
      const isLeftOut = slot < 0 || (tables.length > 0 && tables.some(({ index }) => index === i))
      this.inputs[i] = isLeftOut ? undefined : (this.unread(i) ?? frame.require(slot))
    }
    if (frame.run.onStep) this.began = clock()
    this.isLookup = tables.length > 0
    return this.isLookup ? this.lookUp(tables) : this.call(this.inputs)
  }

  private call(inputs: readonly (Value | undefined)[]): Paced | undefined {
    this.active = new ActiveCall(this.step.call, inputs, this, this.step.memo)
    return this.active.start()
  }

  /** Runs the call with its tables, or with the rows of them that the call needs. */
  private *lookUp(tables: readonly LazyTable[]): Paced {
    const { step, frame } = this
    const { inputs, made } = yield* withTables(step, frame.plan, this.inputs, tables, frame.run)
    this.made = made
    for (const { index } of tables) this.inputs[index] = inputs[index]
    const work = this.call(inputs)
    if (work) yield* work
  }

  finish(): void {
    const {
      step,
      frame: { slots, run, delivery }
    } = this
    const outputs = this.active!.finish()
    delivery?.watch?.note(step, this.inputs, outputs, this.isLookup)
    for (let i = 0; i < outputs.length; i++) {
      const slot = step.outputs[i]
      if (slot >= 0) slots[slot] = outputs[i]
      run.budget.hold(outputs[i])
      if (slot < 0) run.budget.release(outputs[i])
    }
    this.held?.releaseAll()
    for (const value of this.made) run.budget.release(value)
    run.onStep?.({
      node: step.call.node,
      inputs: this.inputs,
      outputs,
      replace: (output, value) => this.replace(output, value),
      start: this.began - run.started,
      milliseconds: clock() - this.began
    })
    for (const slot of step.free) {
      run.budget.release(slots[slot] as Value | undefined)
      slots[slot] = undefined
    }
  }

  /** What nobody reads is gone already. */
  private replace(output: number, value: Value): void {
    const {
      frame: { slots, run },
      step
    } = this
    const slot = step.outputs[output] ?? -1
    const held = slots[slot]
    if (held === undefined) return
    run.budget.hold(value)
    run.budget.release(held as Value)
    slots[slot] = value
  }

  allocate(type: DType, dims: readonly number[], index: number, isZeroed: boolean): Tensor {
    if (index === 0 && !isZeroed) {
      const input = this.reusableInput(type, dims)
      if (input) {
        this.mayBeginAnew = false
        return input
      }
    }
    return this.frame.allocate(type, dims, this.step.outputs[index] ?? -1, isZeroed)
  }

  extend(index: number, from: Tensor, axis: number, rows: number, isApart: boolean): Grown | undefined {
    return this.frame.extend(from, axis, rows, this.step.outputs[index] ?? -1, isApart)
  }

  /** An input of these dims that nobody reads after this step and that the kernel may write over. */
  private reusableInput(type: DType, dims: readonly number[]): Tensor | undefined {
    const { inPlace } = this.step
    for (let i = 0; i < inPlace.length; i++) {
      const input = this.inputs[inPlace[i]]
      if (input === undefined || input.type !== type || !isTensor(input) || !areSameDims(input.dims, dims)) continue
      if (!this.frame.mayWriteOver(this.step.inputs[inPlace[i]])) continue
      if (this.frame.run.budget.isHeldOnce(input.data)) return input
    }
    return undefined
  }

  /** Packs this step's constants or parameters when it first runs; later runs find what was packed. */
  pack(pack: Pack, parameters: Parameters): Paced | undefined {
    const { constants, memo } = this.step
    if (constants.length === 0 && !isOfParameters(pack)) return undefined
    if (!memo.packs || !isSamePack(memo.packs.pack, pack)) return this.packNow(pack, parameters)
    this.packed = memo.packs.entry.packed
    return undefined
  }

  private *packNow(pack: Pack, parameters: Parameters): Paced {
    const { step, frame } = this
    const { weights, budget, threads } = frame.run
    const operands = step.call.operands.filter(({ index }) => step.constants.includes(index))
    const constants = new Map(operands.map(({ name, index }) => [name, frame.plan.initial[step.inputs[index]]!]))
    const isUnread = (constant: Constant | Tensor): boolean =>
      isConstant(constant) && weights.held(constant) === undefined
    const unseen = new Set([...constants.values()].filter(isUnread))
    const entry = yield* weights.packs.entryFor({ pack, parameters, constants }, budget, weights, threads)
    const unread = new Map<number, Constant>()
    for (const { name, index } of operands) {
      const constant = constants.get(name)!
      if (!entry.read.has(name) || !isConstant(constant)) continue
      weights.letGoOfPacked(constant, unseen.has(constant))
      unread.set(index, constant)
    }
    step.memo.packs = { pack, entry, unread }
    this.packed = entry.packed
  }

  /** A constant that is left in its file: its packed form stands for it, or may do so, as the first run will tell. */
  private unread(position: number): Value | undefined {
    const { packs, kept } = this.step.memo
    const { slots, run } = this.frame
    const mayBePacked = !packs && !kept && this.step.constants.includes(position)
    const unpacked = mayBePacked ? unreadAtHand(slots[this.step.inputs[position]]) : undefined
    const constant = packs?.entry.packed ? packs.unread.get(position) : unpacked
    return constant && unreadTensor(constant, () => run.weights.read(constant, run.budget))
  }

  wanted(index: number): boolean {
    return this.step.outputs[index] >= 0
  }

  body(bound: BoundGraph): Body {
    this.held ??= new Holds(this.frame.run.budget)
    const { slots, run } = this.frame
    return new ActiveBody(bound, this.step.bodies.get(bound)!, slots, run, this.held, startBody)
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

  get select(): SelectKernel {
    return this.frame.run.select
  }
}
