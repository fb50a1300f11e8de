import type { Paced } from '../kernels/core/pace.ts'
import { alteredPlan, type Plan, slotsReadBy, type Step, withOwnMemo } from '../plan/plan.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { type GrowingCourse, GrowingRuns } from './growing.ts'
import { HeldRecording } from './held-recording.ts'
import { type Kept, KeptRuns, type SparedPlan } from './kept-runs.ts'
import { lookupsFirst, releaseMade, slotsMadeBy } from './lookups-first.ts'
import { type Budget, liesOnHeap, onHeap } from './memory.ts'
import { isLight, MAX_RECORDED_BYTES, record, type RecordedRun } from './recorder.ts'
import { Recording, type Repeated } from './recording.ts'
import { agrees, type Given, type Signature, signatureOf } from './signature.ts'
import type { Slots } from './slots.ts'
import { isRepeatable, Watch } from './watch.ts'
import type { Spare, Weights } from './weights.ts'

/** The steps that a run takes, and who watches them. */
export interface Course {
  readonly plan: Plan
  readonly watch: Watch | undefined
  /** What is kept for runs of this signature; not in the first two of them. */
  readonly kept?: Kept | undefined
  /** How a run is taken whose inputs have other dims than those of the run before. */
  readonly growing?: GrowingCourse | undefined
}

/** Nothing is known of any input. */
const ANY: Signature = []

/**
 * Spares runs what comes out the same whenever their inputs have the same types and dims: many a model spends most of
 * its steps on dims, positions and masks. The second such run is watched, and values that depend on no element of its
 * inputs are kept; later ones start with these, and without the steps that made them, and prepare nothing anew. Runs
 * that follow each other are recorded. The first run of all is watched for what constants alone decide, which all
 * others are spared.
 */
export class Settled implements Spare {
  private readonly planned: Plan
  /** The plan without what constants alone decide, once that has been found out. */
  private whole: Plan
  /** What `whole` holds of that. */
  private ofConstants: SparedPlan | undefined
  /** Whether that has been found out, by a run that ended well. */
  private isSeen = false
  private readonly weights: Weights
  private readonly blocks: Blocks
  private readonly growing: GrowingRuns
  private last: Signature | undefined
  private readonly keptRuns = new KeptRuns()
  /** What is kept for runs that follow each other. */
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
  courseFor(given: Given, overrides: Readonly<Record<string, unknown>>): Course {
    const { whole, kept, last, keptRuns } = this
    if (kept && agrees(kept.signature, given)) {
      this.last = undefined
      return { plan: kept.plan, watch: undefined, kept }
    }
    const known = keptRuns.of(given)
    if (known) this.use(known)
    if (last && agrees(last, given)) {
      if (known === undefined) return { plan: whole, watch: new Watch(whole, last, overrides) }
      if (this.kept?.isLight === false) this.kept.held.letGo()
      this.kept = known
      this.last = undefined
      return { plan: known.plan, watch: undefined, kept: known }
    }
    const growing = this.growing.courseFor(given, last, whole)
    const signature = this.isGivenUp ? undefined : signatureOf(given)
    this.last = signature
    if (!this.isSeen && !this.isGivenUp) {
      if (whole.steps.some(step => readsConstants(step, whole)))
        return { plan: whole, watch: new Watch(whole, ANY, overrides) }
      this.isSeen = true
    }
    const mayRecur = signature !== undefined && growing?.isRecorded !== true
    if (mayRecur && known) {
      known.uses++
      return { plan: known.plan, watch: undefined, kept: known }
    }
    if (mayRecur && keptRuns.sees(signature)) return { plan: whole, watch: new Watch(whole, signature, overrides) }
    return { plan: growing?.plan ?? whole, watch: undefined, growing }
  }

  /** The plan of what is left of runs with inputs of these types and dims, where that has been found out. */
  keptFor(given: Given): Plan | undefined {
    return this.keptRuns.of(given)?.plan
  }

  /** Keeps what has been seen of a run that ended well, where there is room. */
  keep(watch: Watch, budget: Budget): void {
    // Of several runs at once the first to end has been enough.
    if (this.isGivenUp || (watch.signature === ANY && this.isSeen)) return
    const spared = this.sparedBy(watch, budget)
    if (watch.signature === ANY) {
      this.isSeen = true
      this.ofConstants = spared
      this.whole = spared?.plan ?? this.planned
      return
    }
    const { plan, bytes, blocks } = spared ?? { plan: watch.plan, bytes: 0, blocks: [] }
    // Runs of other signatures prepare their steps for other dims.
    const own = alteredPlan(plan, { steps: plan.steps.map(withOwnMemo) })
    const held = new HeldRecording(this.weights, this.blocks)
    this.use({ signature: watch.signature, plan: own, bytes, blocks, held, uses: 0 })
  }

  private use(kept: Kept): void {
    for (const gone of this.keptRuns.use(kept)) this.forgo(gone)
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
   * @returns undefined where the run has to be taken in the usual way; what is left to do where that takes long
   */
  repeated(
    kept: Kept,
    given: Given,
    run: RecordedRun,
    slots: Slots,
    execute: (plan: Plan) => Paced<unknown>
  ): Repeated | Paced<Repeated | undefined> | undefined {
    if (!this.mayRepeat(kept)) return undefined
    const { recording } = kept.held
    if (recording instanceof Recording && kept.parted?.first === undefined) return recording.start(run, slots)
    return this.repeatedInParts(kept, given, run, slots, execute)
  }

  private *repeatedInParts(
    kept: Kept,
    given: Given,
    run: RecordedRun,
    slots: Slots,
    execute: (plan: Plan) => Paced<unknown>
  ): Paced<Repeated | undefined> {
    const { first } = (kept.parted ??= lookupsFirst(kept.plan, slots, run))
    if (first) yield* execute(first)
    const repeated = this.mayRepeat(kept) ? yield* this.recorded(kept, given, run, slots) : undefined
    if (first && repeated?.rest === undefined) releaseMade(first, slots, run.budget)
    return repeated
  }

  private mayRepeat(kept: Kept): boolean {
    return this.kept === kept ? kept.held.isReady : this.keptRuns.mayRepeat(kept)
  }

  private *recorded(kept: Kept, given: Given, run: RecordedRun, slots: Slots): Paced<Repeated | undefined> {
    const { first, others } = kept.parted!
    const { held } = kept
    if (held.recording instanceof Recording) {
      const started = held.recording.start(run, slots)
      return started && 'next' in started ? yield* started : started
    }
    const sources = [...kept.plan.inputs.filter((_, i) => given[i] !== undefined), ...(first ? slotsMadeBy(first) : [])]
    kept.isLight ??= isLight(others, sources, slots)
    if (!kept.isLight && this.kept !== kept) return undefined
    return yield* held.made(
      function* () {
        return run.budget.fits(MAX_RECORDED_BYTES) ? yield* record(others, sources, slots, run) : undefined
      },
      recording => recording.results(run.budget, slots),
      () => this.keptRuns.has(kept)
    )
  }

  giveUp(): number {
    this.isGivenUp = true
    this.last = undefined
    this.whole = this.planned
    let bytes = this.letGoOf(this.ofConstants)
    this.ofConstants = undefined
    for (const kept of this.keptRuns.clear()) bytes += this.forgo(kept)
    return bytes
  }

  /** Lets go of all, for good: no further run asks for its plan. */
  drop(): void {
    for (const spare of [this, this.growing]) {
      spare.giveUp()
      this.weights.others.delete(spare)
    }
  }

  forget(): void {
    this.keptRuns.forgetRecordings()
  }

  private forgo(kept: Kept): number {
    if (this.kept === kept) this.kept = undefined
    return this.letGoOf(kept) + kept.held.letGo()
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

/** Whether a step reads constants of the plan and nothing else. */
const readsConstants = (step: Step, { initial }: Plan): boolean =>
  isRepeatable(step.call) && slotsReadBy(step).every(slot => initial[slot] !== undefined)
