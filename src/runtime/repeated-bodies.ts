import type { Paced } from '../kernels/core/pace.ts'
import { type BodyPlan, type Plan, slotsReadBy } from '../plan/plan.ts'
import { isTensor, type Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { HeldRecording } from './held-recording.ts'
import type { Limits } from './recordable.ts'
import { record, type RecordedRun } from './recorder.ts'
import type { Recording, Repeated } from './recording.ts'
import { agrees, type Signature, signatureOf } from './signature.ts'
import { isConstant, type Slots } from './slots.ts'
import type { Spare, Weights } from './weights.ts'

/** By so many runs those that recordings of a body did not serve may be more than those that they served. */
const MAX_MISSES = 16
/** Runs of a body with the same types and dims in a row before one is recorded for the first time. */
const RUNS_BEFORE = 2
/**
 * Of values and jobs, as of a plan. Outputs are copied, and what is given, so bodies that carry much gain nothing; and
 * there may be many bodies.
 */
const LIMITS: Limits = {
  live: 1 << 22,
  values: 1 << 23,
  jobs: 1 << 19,
  given: 1 << 20,
  chunk: 1 << 12,
  kind: 'body'
}

/** The bodies of a session's models that run again and again for values of the same types and dims. */
export class RepeatedBodies implements Spare {
  private readonly weights: Weights
  private readonly blocks: Blocks
  private readonly bodies = new WeakMap<BodyPlan, RepeatedBody>()
  /** Those that have a recording. */
  private readonly recorded = new Set<RepeatedBody>()
  private isGivenUp = false

  /**
   * @param weights counts what is recorded, and lets go of it where memory is needed
   * @param blocks where recordings are kept
   */
  constructor(weights: Weights, blocks: Blocks) {
    this.weights = weights
    this.blocks = blocks
    weights.others.add(this)
  }

  /** Undefined once memory was needed. */
  of(body: BodyPlan): RepeatedBody | undefined {
    if (this.isGivenUp) return undefined
    let repeated = this.bodies.get(body)
    if (repeated === undefined) {
      repeated = new RepeatedBody(body, new HeldRecording(this.weights, this.blocks), this.recorded)
      this.bodies.set(body, repeated)
    }
    return repeated
  }

  giveUp(): number {
    this.isGivenUp = true
    return this.letGo()
  }

  forget(): void {
    this.letGo()
  }

  private letGo(): number {
    let bytes = 0
    for (const body of this.recorded) bytes += body.letGo()
    this.recorded.clear()
    return bytes
  }
}

/**
 * Runs of one body. Those of the same types and dims in a row are recorded, as runs of a plan are: iterations then cost
 * what the kernels cost. Bodies without a recording have nothing on the heap, since their operators hand values round,
 * so what a recording makes is copied.
 */
export class RepeatedBody {
  private readonly body: BodyPlan
  private readonly held: HeldRecording
  private readonly recorded: Set<RepeatedBody>
  private sources: readonly number[] | undefined
  private readonly captured = new Set<number>()
  private last: Signature | undefined
  private count = 0
  /** Where dims come and go it is recorded less and less often. */
  private runsBefore = RUNS_BEFORE
  /** Runs that its recordings did not serve, less those that they served; at least 0. */
  private misses = 0

  /** @param recorded gets it when it has a recording */
  constructor(body: BodyPlan, held: HeldRecording, recorded: Set<RepeatedBody>) {
    this.body = body
    this.held = held
    this.recorded = recorded
  }

  /** Whether it has been recorded, or may be. */
  get mayServe(): boolean {
    return this.held.recording !== 'none'
  }

  /**
   * Takes a run, or its first steps, as it was recorded; the first one is recorded.
   * @param slots hold what the body reads, and get what steps that are left read
   * @param call of the operator for which the body runs: what is captured is the same for all its runs
   * @param passedOn inputs that nobody reads after this run
   * @returns its outputs, which the budget holds, or the steps that are left; undefined where the run has to be taken
   *   in the usual way; what is left to do where that takes long
   */
  take(
    plan: Plan,
    slots: Slots,
    run: RecordedRun,
    call: object,
    passedOn: readonly boolean[] | undefined
  ): Repeated | undefined | Paced<Repeated | undefined> {
    const { recording, isReady } = this.held
    if (!isReady || recording === 'none') return undefined
    if (recording?.fits(slots)) {
      const started = recording.start(run, slots, call, passedOn)
      return started && 'next' in started ? this.endOf(started) : this.noted(started)
    }
    recording?.leaveCall()
    return this.isDue(plan, slots) ? this.record(plan, slots, run) : undefined
  }

  private *endOf(started: Paced<Repeated | undefined>): Paced<Repeated | undefined> {
    return this.noted(yield* started)
  }

  /** A body whose values often decide dims otherwise than they did when it was recorded is not tried any more. */
  private noted(repeated: Repeated | undefined): Repeated | undefined {
    this.misses = Math.max(0, this.misses + (repeated ? -1 : 1))
    if (this.misses < MAX_MISSES) return repeated
    this.letGo()
    this.recorded.delete(this)
    this.held.recording = 'none'
    return undefined
  }

  private *record(plan: Plan, slots: Slots, run: RecordedRun): Paced<Repeated | undefined> {
    this.letGo()
    this.runsBefore *= 2
    this.recorded.add(this)
    const repeated = yield* this.held.made(
      () => this.recordedRun(plan, slots, run),
      made => made.ofBody(run, slots)
    )
    if (!this.held.recording || this.held.recording === 'none') this.recorded.delete(this)
    return repeated
  }

  /** @returns bytes that it held */
  letGo(): number {
    return this.held.letGo()
  }

  private *recordedRun(plan: Plan, slots: Slots, run: RecordedRun): Paced<Recording | undefined> {
    const isWorthwhile = plan.steps.length > 0 && run.budget.fits(LIMITS.values + LIMITS.jobs)
    if (!isWorthwhile) return undefined
    const sources = this.sourcesOf(plan)
    const staying = new Set([...this.captured, ...plan.outputs])
    return yield* record(plan, sources, slots, run, LIMITS, staying)
  }

  /** Counts a run that no recording serves. @returns whether it is to be recorded */
  private isDue(plan: Plan, slots: Slots): boolean {
    const values = this.sourcesOf(plan).map(slot => slots[slot])
    if (!values.every(value => value === undefined || (!isConstant(value) && isTensor(value)))) return false
    const given = values as (Value | undefined)[]
    const isSame = this.last !== undefined && agrees(this.last, given)
    if (!isSame) this.last = signatureOf(given)
    this.count = isSame ? this.count + 1 : 0
    return this.count >= this.runsBefore
  }

  /** Slots of inputs and of what the body captures, of values that steps read and that are no constants. */
  private sourcesOf(plan: Plan): readonly number[] {
    if (this.sources) return this.sources
    for (const { id } of this.body.captures) {
      const slot = plan.slots.get(id)
      if (slot !== undefined && plan.initial[slot] === undefined) this.captured.add(slot)
    }
    const read = new Set(plan.steps.flatMap(slotsReadBy))
    const sources = new Set([...plan.inputs, ...this.captured])
    return (this.sources = [...sources].filter(slot => read.has(slot)))
  }
}
