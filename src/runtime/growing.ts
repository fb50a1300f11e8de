import type { Paced } from '../kernels/core/pace.ts'
import { alteredPlan, type Plan } from '../plan/plan.ts'
import { type Dim, unknownDim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { isTensor, memoryBytes, type Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import type { RecordedRun } from './recorder.ts'
import { type Part, partedBy, Segment } from './segments.ts'
import { agrees, areSame, type Given, type Signature } from './signature.ts'
import type { Slots } from './slots.ts'
import type { Spare, Weights } from './weights.ts'

/** Of so many steps one is recorded at least where that helps more than to keep what is prepared for each dim. */
const RECORDED_SHARE = 4

/**
 * Runs in which some dims of the inputs change from one to the next, as those of the caches do that a decoder extends
 * by a token. What the other dims decide is spared, and steps whose dims stay are recorded, see {@link partedBy}.
 */
export class GrowingRuns implements Spare {
  private readonly weights: Weights
  private readonly blocks: Blocks
  /** What the last two runs have in common: symbols where dims have changed. */
  private common: Signature | undefined
  /** Further runs that have it in common. */
  private count = 0
  /** Runs that are to have it in common; more and more where it comes and goes. */
  private countBefore = 1
  private made: GrowingCourse | undefined
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

  /**
   * How a run is taken whose inputs have other dims than those of the run before; undefined: in the usual way.
   * @param last signature of the run before
   * @param plan all steps that such a run takes
   */
  courseFor(given: Given, last: Signature | undefined, plan: Plan): GrowingCourse | undefined {
    const { made, weights, blocks } = this
    if (made && agrees(made.signature, given)) return made
    const common = last && !this.isGivenUp ? commonOf(last, given, plan) : undefined
    const isSame = common !== undefined && this.common !== undefined && areSame(common, this.common)
    this.count = isSame ? this.count + 1 : 0
    this.common = common
    if (common === undefined || this.count < this.countBefore) return undefined
    this.countBefore *= 2
    this.letGo()
    return (this.made = new GrowingCourse(common, plan, weights, blocks))
  }

  giveUp(): number {
    this.isGivenUp = true
    return this.letGo()
  }

  forget(): void {
    this.made?.forget()
  }

  private letGo(): number {
    const bytes = this.made?.giveUp() ?? 0
    this.made = undefined
    return bytes
  }
}

/** How runs are taken that have some dims in common. It serves one run at a time. */
export class GrowingCourse {
  readonly signature: Signature
  /** What slots hold from the start is what parts read, once it is in parts. */
  plan: Plan
  /** No steps, and the outputs. */
  private readonly end: Plan
  private parts: readonly Part[] | undefined
  private readonly weights: Weights
  private readonly blocks: Blocks
  private isRunning = false
  private isGivenUp = false
  /** Bytes of what the plan holds from the start and the file does not. */
  private bytes = 0

  constructor(signature: Signature, plan: Plan, weights: Weights, blocks: Blocks) {
    this.signature = signature
    this.plan = plan
    this.end = alteredPlan(plan, { steps: [] })
    this.weights = weights
    this.blocks = blocks
  }

  /** Whether many steps are recorded, as those of a decoder are; true until that has been found out. */
  get isRecorded(): boolean {
    const { parts } = this
    if (parts === undefined) return true
    const recorded = parts.reduce((sum, part) => (part instanceof Segment ? sum + part.steps.length : sum), 0)
    return recorded * RECORDED_SHARE >= this.plan.steps.length
  }

  /**
   * @param slots hold constants and the values of the inputs
   * @param execute runs steps, by whose values it extends `slots`
   * @returns the outputs, which are no one else's only where the run's budget holds them
   */
  *take(run: RecordedRun, slots: Slots, execute: (plan: Plan) => Paced<Value[]>): Paced<Value[]> {
    if (this.isRunning) return yield* execute(this.plan)
    this.isRunning = true
    try {
      this.parts ??= yield* this.parted(run, slots)
      for (const part of this.parts) {
        const work = part instanceof Segment ? part.take(run, slots, execute) : execute(part)
        if (work) yield* work
      }
      return yield* execute(this.end)
    } finally {
      this.isRunning = false
    }
  }

  private *parted(run: RecordedRun, slots: Slots): Paced<readonly Part[]> {
    const { signature, plan, weights, blocks } = this
    const { parts, values } = yield* partedBy(signature, plan, run, slots, weights, blocks)
    if (this.isGivenUp) return [alteredPlan(plan, { outputs: [] })]
    for (const [slot, value] of values) {
      slots[slot] = value
      this.bytes += memoryBytes(value.type, value.size)
    }
    weights.otherBytes += this.bytes
    this.plan = alteredPlan(plan, { initial: plan.initial.map((held, slot) => held ?? values.get(slot)) })
    return parts
  }

  /** Lets go of what it holds for good. @returns bytes of it */
  giveUp(): number {
    let { bytes } = this
    this.isGivenUp = true
    this.weights.otherBytes -= bytes
    for (const part of this.parts ?? []) if (part instanceof Segment) bytes += part.giveUp()
    return bytes
  }

  /** Lets go of recordings, which are made anew. */
  forget(): void {
    for (const part of this.parts ?? []) if (part instanceof Segment) part.forget()
  }
}

/**
 * What a signature and values have in common; undefined where types or ranks differ. Dims that differ are the symbols
 * that the file has there: it may say of two that they are the same.
 */
function commonOf(last: Signature, given: Given, { bound, facts }: Plan): Signature | undefined {
  const common: (TensorFact | undefined)[] = []
  for (const [i, fact] of last.entries()) {
    const value = given[i]
    if (fact === undefined || value === undefined) {
      if (fact !== value) return undefined
      common.push(undefined)
      continue
    }
    if (!isTensor(value) || value.type !== fact.type || value.dims.length !== fact.shape!.length) return undefined
    const declared = facts.get(bound.graph.inputs[i].value)
    const shape = value.dims.map((dim, axis): Dim => {
      if (dim === fact.shape![axis]) return dim
      const own = declared?.kind === 'tensor' ? declared.shape?.[axis] : undefined
      return own === undefined || typeof own === 'number' ? unknownDim() : own
    })
    common.push(tensorFact(value.type, shape))
  }
  return common
}
