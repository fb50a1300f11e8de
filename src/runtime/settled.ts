import { type Call, isCall } from '../bind/call.ts'
import { prepareCall } from '../infer/prepare.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { alteredPlan, type Plan, slotsReadBy, type Step, withoutSpared } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { factOf, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { isSym } from '../shapes/sym.ts'
import { liesInRoom } from '../tensor/room.ts'
import { isTensor, memoryBytes, Tensor, type Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { type GrowingCourse, GrowingRuns } from './growing.ts'
import { HeldRecording } from './held-recording.ts'
import { lookupsFirst, type Parted, releaseMade, slotsMadeBy } from './lookups-first.ts'
import { type Budget, liesOnHeap, onHeap } from './memory.ts'
import { MAX_RECORDED_BYTES, record, type RecordedRun } from './recorder.ts'
import { Recording, type Repeated } from './recording.ts'
import { agrees, type Signature, signatureOf } from './signature.ts'
import type { Slots } from './slots.ts'
import type { Spare, Weights } from './weights.ts'

/** Larger values are computed anew in each run: projections of the relative positions of a large encoder have 2 MiB. */
const MAX_VALUE_BYTES = 1 << 22
/** Bytes that are kept for a plan at most. */
const MAX_KEPT_BYTES = 1 << 26

/** The steps that a run takes, and who watches them. */
export interface Course {
  readonly plan: Plan
  readonly watch: Watch | undefined
  /** What is kept for runs of this signature; not in the first two of them. */
  readonly kept?: Kept | undefined
  /** How a run is taken whose inputs have other dims than those of the run before. */
  readonly growing?: GrowingCourse | undefined
}

/** What is kept for runs of one signature: the steps that are left, and the values with which they start. */
export interface Kept extends SparedPlan {
  readonly signature: Signature
  /** A run of these steps. */
  readonly held: HeldRecording
  /** The steps before those that are recorded, and these; made when a run is first to be recorded. */
  parted?: Parted
}

/** A plan without the steps that are spared, and what it holds instead. */
interface SparedPlan {
  readonly plan: Plan
  readonly bytes: number
  /** Values on the heap. */
  readonly blocks: readonly ArrayBufferView[]
}

/** Nothing is known of any input. */
const ANY: Signature = []

/**
 * Spares runs what comes out the same whenever their inputs have the same types and dims: many a model spends most of
 * its steps on dims, positions and masks. The second such run in a row is watched, and values that depend on no element
 * of its inputs are kept; later ones start with these, and without the steps that made them. The first run of all is
 * watched for what constants alone decide, which all others are spared.
 */
export class Settled implements Spare {
  private readonly planned: Plan
  /** The plan without what constants alone decide, once that has been found out. */
  private whole: Plan
  /** What `whole` holds of that. */
  private ofConstants: SparedPlan | undefined
  private isBegun = false
  private readonly weights: Weights
  private readonly blocks: Blocks
  private readonly growing: GrowingRuns
  private last: Signature | undefined
  private kept: Kept | undefined
  /** It does not come and go: once memory was needed, it is done without. */
  private isGivenUp = false

  /**
   * @param weights counts what is kept, and lets go of it where memory is needed
   * @param blocks where values on the heap are kept
   */
  constructor(plan: Plan, weights: Weights, blocks: Blocks) {
    this.planned = plan
    this.whole = plan
    this.weights = weights
    this.blocks = blocks
    this.growing = new GrowingRuns(weights, blocks)
    weights.others.add(this)
  }

  /** @param given values of the inputs, by position */
  courseFor(given: readonly (Value | undefined)[], overrides: Readonly<Record<string, unknown>>): Course {
    const { whole, kept, last } = this
    if (kept && agrees(kept.signature, given)) {
      this.last = undefined
      return { plan: kept.plan, watch: undefined, kept }
    }
    if (last && agrees(last, given)) return { plan: whole, watch: new Watch(whole, last, overrides) }
    const growing = this.growing.courseFor(given, last, whole)
    this.last = this.isGivenUp ? undefined : signatureOf(given)
    if (!this.isBegun && !this.isGivenUp) {
      this.isBegun = true
      if (whole.steps.some(step => readsConstants(step, whole)))
        return { plan: whole, watch: new Watch(whole, ANY, overrides) }
    }
    return { plan: growing?.plan ?? whole, watch: undefined, growing }
  }

  /** The plan of what is left of runs with inputs of these types and dims, where that has been found out. */
  keptFor(given: readonly (Value | undefined)[]): Plan | undefined {
    return this.kept && agrees(this.kept.signature, given) ? this.kept.plan : undefined
  }

  /** Keeps what has been seen of a run that ended well, where there is room. */
  keep(watch: Watch, budget: Budget): void {
    if (this.isGivenUp) return
    const spared = this.sparedBy(watch, budget)
    if (watch.signature === ANY) {
      this.ofConstants = spared
      this.whole = spared?.plan ?? this.planned
      return
    }
    this.letGo()
    const { signature, plan } = watch
    const held = new HeldRecording(this.weights, this.blocks)
    this.kept = { signature, held, ...(spared ?? { plan, bytes: 0, blocks: [] }) }
  }

  /** The plan that was watched without what is spared; undefined where there is nothing, or no room for it. */
  private sparedBy(watch: Watch, budget: Budget): SparedPlan | undefined {
    const { plan } = watch
    const { steps, values, bytes } = watch.rest()
    if (steps.length === plan.steps.length || !budget.fits(bytes)) return undefined
    const initial = plan.initial.slice()
    for (const [slot, value] of values) initial[slot] = this.placed(value)
    const blocks = initial.flatMap((value, slot) =>
      values.has(slot) && liesOnHeap((value as Tensor).data) ? [(value as Tensor).data as ArrayBufferView] : []
    )
    this.weights.otherBytes += bytes
    return { plan: alteredPlan(plan, { steps, initial }), bytes, blocks }
  }

  /**
   * Takes a run of what is kept, or of its first steps, as it was recorded; the first one is recorded.
   * @param slots get the values that the first steps have made
   * @param execute runs steps, by whose values it extends `slots`
   * @returns undefined where the run has to be taken in the usual way
   */
  *repeated(
    kept: Kept,
    given: readonly (Value | undefined)[],
    run: RecordedRun,
    slots: Slots,
    execute: (plan: Plan) => Paced<unknown>
  ): Paced<Repeated | undefined> {
    if (!this.mayRepeat(kept)) return undefined
    const { first } = (kept.parted ??= lookupsFirst(kept.plan, slots, run))
    if (first) yield* execute(first)
    const repeated = this.mayRepeat(kept) ? yield* this.recorded(kept, given, run, slots) : undefined
    if (first && repeated?.rest === undefined) releaseMade(first, slots, run.budget)
    return repeated
  }

  private mayRepeat(kept: Kept): boolean {
    return this.kept === kept && kept.held.isReady
  }

  private *recorded(
    kept: Kept,
    given: readonly (Value | undefined)[],
    run: RecordedRun,
    slots: Slots
  ): Paced<Repeated | undefined> {
    const { first, others } = kept.parted!
    const { held } = kept
    if (held.recording instanceof Recording) {
      const started = held.recording.start(run, slots)
      return started && 'next' in started ? yield* started : started
    }
    const sources = [...kept.plan.inputs.filter((_, i) => given[i] !== undefined), ...(first ? slotsMadeBy(first) : [])]
    return yield* held.made(
      function* () {
        return run.budget.fits(MAX_RECORDED_BYTES) ? yield* record(others, sources, slots, run) : undefined
      },
      recording => recording.results(run.budget, slots),
      () => this.kept === kept
    )
  }

  giveUp(): number {
    this.isGivenUp = true
    this.last = undefined
    this.whole = this.planned
    const bytes = this.letGoOf(this.ofConstants)
    this.ofConstants = undefined
    return bytes + this.letGo()
  }

  forget(): void {
    this.kept?.held.letGo()
  }

  private letGo(): number {
    const { kept } = this
    this.kept = undefined
    return this.letGoOf(kept) + (kept?.held.letGo() ?? 0)
  }

  /** @returns bytes that it held */
  private letGoOf(spared: SparedPlan | undefined): number {
    if (spared === undefined) return 0
    for (const block of spared.blocks) this.blocks.giveUp(block)
    this.weights.otherBytes -= spared.bytes
    return spared.bytes
  }

  /** A value where kernels are fastest. */
  private placed(value: Tensor): Tensor {
    const tensor = onHeap(value.type, value.dims, false)
    if (tensor === undefined) return value
    ;(tensor.data as Uint8Array).set(value.data as Uint8Array)
    this.blocks.keep(tensor.data as Uint8Array)
    return tensor
  }
}

/** Finds out in a run which values do not depend on elements of the inputs. */
export class Watch {
  readonly signature: Signature
  readonly plan: Plan
  private readonly overrides: Readonly<Record<string, unknown>>
  /** By slot what the signature says of it: dims, and its value where that too; nothing of constants. */
  private readonly facts: (TensorFact | undefined)[]
  /** Slots whose values the signature decides; copies of those that only spared steps read have been let go. */
  private readonly known = new Set<number>()
  /** Slots that steps read which are not spared. */
  private readonly needed = new Set<number>()
  /** Of the copies. */
  private bytes = 0

  constructor(plan: Plan, signature: Signature, overrides: Readonly<Record<string, unknown>>) {
    this.plan = plan
    this.signature = signature
    this.overrides = overrides
    this.facts = plan.initial.map(() => undefined)
    plan.inputs.forEach((slot, i) => (this.facts[slot] = signature[i]))
  }

  /**
   * A step has run; what it frees has not been freed yet.
   * @param inputs of tables of which the step looked up rows, those rows
   */
  note(
    step: Step,
    inputs: readonly (Value | undefined)[],
    outputs: readonly (Value | undefined)[],
    isLookup: boolean
  ): void {
    const results = this.resultsOf(step, inputs, outputs, isLookup)
    for (const [i, slot] of step.outputs.entries()) {
      if (slot < 0) continue
      this.facts[slot] = results?.[i]
      if (results?.[i]?.value !== undefined) this.known.add(slot)
    }
    if (!this.isSettled(step)) for (const slot of slotsReadBy(step)) this.needed.add(slot)
    for (const slot of step.free) if (!this.needed.has(slot)) this.letGo(slot)
  }

  /** What the signature says of what a step made; undefined where it says nothing. */
  private resultsOf(
    step: Step,
    inputs: readonly (Value | undefined)[],
    outputs: readonly (Value | undefined)[],
    isLookup: boolean
  ): readonly (TensorFact | undefined)[] | undefined {
    if (!isRepeatable(step.call)) return undefined
    const facts: (TensorFact | undefined)[] = []
    for (const [i, slot] of step.inputs.entries()) {
      const fact = slot < 0 ? undefined : this.factOf(slot, inputs[i])
      if (slot >= 0 && fact === undefined) return undefined
      facts.push(fact)
    }
    const isKnown = facts.every(fact => fact === undefined || fact.value !== undefined)
    // What a body makes of other values is not inferred: only elements that are all known decide it.
    const isDynamic = step.call.op.dynamic === true || step.bodies.size > 0
    if (isDynamic && !(isKnown && this.knowsCaptures(step))) return undefined
    if (isKnown) return outputs.map(value => value && this.factWithValue(value))
    return this.inferred(step, isLookup ? this.withWholeTables(step, facts) : facts, outputs)
  }

  /** Facts of the inputs of a step that has read rows of tables: dims of rows would not be those of the tables. */
  private withWholeTables(
    { inputs, tables }: Step,
    facts: readonly (TensorFact | undefined)[]
  ): readonly (TensorFact | undefined)[] {
    return facts.map((fact, i) => {
      const table = tables.includes(i) ? this.plan.initial[inputs[i]] : undefined
      return fact && table && 'dims' in table ? tensorFact(fact.type, table.dims) : fact
    })
  }

  private letGo(slot: number): void {
    const value = this.known.has(slot) ? this.facts[slot]?.value : undefined
    if (value === undefined) return
    this.bytes -= memoryBytes(value.type, (value as Tensor).size)
    this.facts[slot] = undefined
  }

  /** What is left of the plan, and the values that it reads of what is not. */
  rest(): { steps: readonly Step[]; values: ReadonlyMap<number, Tensor>; bytes: number } {
    const steps = withoutSpared(this.plan.steps, step => this.isSettled(step))
    const values = new Map<number, Tensor>()
    let bytes = 0
    for (const step of steps) {
      for (const slot of slotsReadBy(step)) {
        const value = values.has(slot) ? undefined : this.facts[slot]?.value
        if (value === undefined) continue
        values.set(slot, value as Tensor)
        bytes += memoryBytes(value.type, value.data.length)
      }
    }
    return { steps, values, bytes }
  }

  /** Whether all that a step is there for is known: it does nothing but make values of which none is an output. */
  private isSettled({ call, outputs }: Step): boolean {
    const wanted = outputs.filter(slot => slot >= 0)
    const isKnown = (slot: number): boolean => this.known.has(slot) && this.plan.outputAt[slot] < 0
    return wanted.length > 0 && !call.op.impure && wanted.every(isKnown)
  }

  private knowsCaptures({ bodies }: Step): boolean {
    return [...bodies.values()].every(({ captures }) =>
      captures.every(({ from }) => this.facts[from]?.value !== undefined || this.plan.initial[from] !== undefined)
    )
  }

  private factOf(slot: number, value: Value | undefined): TensorFact | undefined {
    const fact = this.facts[slot]
    if (fact || this.plan.initial[slot] === undefined || value === undefined || !isTensor(value)) return fact
    return factOf(value) as TensorFact
  }

  /** Where elements of inputs may decide: dims as the shape rule gives them, and values that depend on dims alone. */
  private inferred(
    { call }: Step,
    facts: readonly (TensorFact | undefined)[],
    outputs: readonly (Value | undefined)[]
  ): (TensorFact | undefined)[] {
    const prepared = prepareCall(call, facts, { overrides: this.overrides })
    const elements = call.op.value?.(prepared.operands, prepared.parameters, call)
    const isFirstKnown = elements !== undefined && !elements.some(isSym)
    return outputs.map((value, i) => {
      const fact = prepared.outputs[i]
      if (value === undefined || fact?.kind !== 'tensor' || !fact.shape || !isConcrete(fact.shape)) return undefined
      return i === 0 && isFirstKnown ? this.factWithValue(value) : tensorFact(fact.type, fact.shape)
    })
  }

  /** The fact of a value that the signature decides; without the value where it is too large to be kept. */
  private factWithValue(value: Value): TensorFact | undefined {
    if (!isTensor(value) || value.type === 'string' || liesInRoom(value)) return undefined
    const bytes = memoryBytes(value.type, value.size)
    const isTooLarge = bytes > MAX_VALUE_BYTES || this.bytes + bytes > MAX_KEPT_BYTES
    if (isTooLarge) return tensorFact(value.type, value.dims)
    this.bytes += bytes
    const copy = new Tensor(value.type, value.data.slice(), value.dims)
    return tensorFact(copy.type, copy.dims, copy)
  }
}

/** Whether a step reads constants of the plan and nothing else. */
const readsConstants = (step: Step, { initial }: Plan): boolean =>
  isRepeatable(step.call) && slotsReadBy(step).every(slot => initial[slot] !== undefined)

/** Whether a call, with its bodies, makes the same of the same values. */
const isRepeatable = ({ op, bodies }: Call): boolean =>
  !op.impure &&
  isBuiltIn(op) &&
  [...bodies.values()].every(({ items }) => items.every(item => isCall(item) && isRepeatable(item)))
