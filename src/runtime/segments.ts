import type { Call } from '../bind/call.ts'
import { constantFact } from '../infer/declared.ts'
import { inferCall } from '../infer/infer.ts'
import { decisiveInputs } from '../infer/prepare.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { alteredPlan, type Plan, slotsReadBy, type Step, withoutSpared } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { type Fact, factOf, knownValue, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { elementCount, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { HeldRecording } from './held-recording.ts'
import type { Limits } from './recordable.ts'
import { record, type RecordedRun } from './recorder.ts'
import { Recording } from './recording.ts'
import type { Signature } from './signature.ts'
import { isConstant, type Slots } from './slots.ts'
import { lazyTables } from './tables.ts'
import type { Weights } from './weights.ts'

/** What is recorded of a segment at most: one layer of a large decoder, for some tokens at once. */
const LIMITS: Limits = {
  live: 1 << 23,
  values: 1 << 24,
  jobs: 1 << 19,
  given: 1 << 18,
  chunk: 1 << 12,
  kind: 'segment'
}
/** Fewer steps in a row do not make up for copies of what they read. */
const MIN_STEPS = 3
/** Steps that are looked at between two yields. */
const STEPS_PER_YIELD = 256

/** Runs steps, by whose values it extends the slots of a run. */
export type Execute = (plan: Plan) => Paced<unknown>

/** A part of a plan, in the order of its steps: a segment, or steps that are taken in the usual way. */
export type Part = Segment | Plan

/** A plan in parts. */
export interface Parted {
  readonly parts: readonly Part[]
  /** Values that the dims that stay decide, which the parts read; no step makes them any more. */
  readonly values: ReadonlyMap<number, Tensor>
}

/** Steps in a row whose inputs have the same dims in every run, while other dims grow: they are recorded together. */
export class Segment {
  private readonly plan: Plan
  /** Slots that its steps read and none of them makes. */
  private readonly sources: readonly number[]
  /** Slots that its steps make and others read, or the caller gets. */
  private readonly made: readonly number[]
  /** Slots that nobody reads after it. */
  private readonly free: readonly number[]
  private readonly held: HeldRecording
  private isGivenUp = false

  constructor(plan: Plan, steps: readonly Step[], readAfter: ReadonlySet<number>, held: HeldRecording) {
    const made = new Set(steps.flatMap(({ outputs }) => outputs))
    const sources = new Set(steps.flatMap(slotsReadBy))
    this.plan = alteredPlan(plan, { steps, outputs: [] })
    this.sources = [...sources].filter(slot => !made.has(slot) && plan.initial[slot] === undefined)
    this.made = [...made].filter(slot => slot >= 0 && readAfter.has(slot))
    this.free = steps.flatMap(({ free }) => free).filter(slot => !made.has(slot))
    this.held = held
  }

  get steps(): readonly Step[] {
    return this.plan.steps
  }

  /**
   * Takes its steps as they were recorded; the first time they are recorded. What they make is lent: it lies in the
   * recording until they are taken again.
   * @returns what is left to do; undefined: nothing
   */
  take(run: RecordedRun, slots: Slots, execute: Execute): Paced<unknown> | undefined {
    const { recording, isReady } = this.held
    if (!isReady || this.isGivenUp) return execute(this.plan)
    if (!(recording instanceof Recording)) return this.record(run, slots, execute)
    const started = recording.start(run, slots)
    if (started === undefined) return execute(this.plan)
    if ('next' in started) return this.goOn(started, run, slots, execute)
    this.release(run, slots)
    return undefined
  }

  private *record(run: RecordedRun, slots: Slots, execute: Execute): Paced {
    const { plan, sources, made, held } = this
    const isDone = yield* held.made(
      function* () {
        const fits = run.budget.fits(LIMITS.values + LIMITS.jobs)
        return fits ? yield* record(alteredPlan(plan, { outputs: made }), sources, slots, run, LIMITS) : undefined
      },
      recording => recording.lend(slots),
      () => !this.isGivenUp
    )
    if (isDone) this.release(run, slots)
    else yield* execute(plan)
  }

  private *goOn(started: Paced<unknown>, run: RecordedRun, slots: Slots, execute: Execute): Paced {
    if ((yield* started) === undefined) yield* execute(this.plan)
    else this.release(run, slots)
  }

  private release({ budget }: RecordedRun, slots: Slots): void {
    for (const slot of this.free) {
      budget.release(slots[slot] as Value | undefined)
      slots[slot] = undefined
    }
  }

  /** Lets go of its recording for good. @returns bytes that it held */
  giveUp(): number {
    this.isGivenUp = true
    return this.held.letGo()
  }

  /** Lets go of its recording, which is made anew. */
  forget(): void {
    this.held.letGo()
  }
}

/**
 * Parts a plan by what inference knows of its values where some dims of the inputs are symbols: steps whose results
 * the other dims decide are spared, and those whose inputs and outputs have the same dims in each run make segments.
 * @param signature of the inputs, with symbols where dims change
 * @param slots what slots hold before the first step
 */
export function* partedBy(
  signature: Signature,
  plan: Plan,
  run: RecordedRun,
  slots: Slots,
  weights: Weights,
  blocks: Blocks
): Paced<Parted> {
  const facts = yield* inferredFacts(signature, plan, run)
  const spared = new Map<number, Tensor>()
  const steps = withoutSpared(plan.steps, step => {
    const known = valuesOf(step, plan, facts)
    for (const [slot, value] of known ?? []) spared.set(slot, value)
    return known !== undefined
  })
  const read = new Set(steps.flatMap(slotsReadBy))
  const values = new Map([...spared].filter(([slot]) => read.has(slot)))
  const initial = plan.initial.map((held, slot) => held ?? values.get(slot))
  const rest = alteredPlan(plan, { steps, initial })
  const stays = steps.map(step => isStaying(step, rest, facts) && lazyTables(step, rest, slots, run).length === 0)
  const parts = groupsOf(rest, stays, facts).map(([from, to, isSegment]): Part => {
    const own = steps.slice(from, to)
    if (!isSegment) return alteredPlan(rest, { steps: own, outputs: [] })
    const readAfter = new Set([...steps.slice(to).flatMap(slotsReadBy), ...plan.outputs])
    return new Segment(rest, own, readAfter, new HeldRecording(weights, blocks))
  })
  return { parts, values }
}

type Facts = readonly (Fact | undefined)[]

/** What is known of the value of each slot. */
function* inferredFacts(signature: Signature, plan: Plan, { overrides }: RecordedRun): Paced<Facts> {
  const facts = plan.initial.map(
    (held): Fact | undefined => held && (isConstant(held) ? constantFact(held) : factOf(held))
  )
  const always = new Map([...plan.slots].map(([id, slot]) => [slot, plan.facts.get(id)]))
  plan.inputs.forEach((slot, i) => (facts[slot] = signature[i] ?? facts[slot]))
  for (const [i, { call, convert, inputs, outputs }] of plan.steps.entries()) {
    if (i % STEPS_PER_YIELD === STEPS_PER_YIELD - 1) yield
    const given = inputs.map(slot => (slot < 0 ? undefined : (facts[slot] ?? UNKNOWN_TENSOR)))
    const made = inferredOf(call, given, overrides)
    const results = convert && made ? inferredOf(convert, made, overrides) : made
    outputs.forEach((slot, at) => {
      if (slot >= 0) facts[slot] = results?.[at] ?? always.get(slot)
    })
  }
  return facts
}

/** Undefined where nothing is known; what fails will fail when it runs. */
function inferredOf(call: Call, inputs: Facts, overrides: RecordedRun['overrides']): readonly Fact[] | undefined {
  if (!isPlain(call)) return undefined
  try {
    return inferCall(call, inputs, refuseBody, { overrides })
  } catch {
    return undefined
  }
}

const refuseBody = (): never => {
  throw new Error('a call with bodies is not looked at')
}

/** Whether a call makes the same of the same values, by a kernel of this package. */
const isPlain = ({ op, bodies }: Call): boolean => !op.impure && bodies.size === 0 && isBuiltIn(op)

/** The values of a step that nobody needs to run; undefined where one is not known, or an output. */
function valuesOf({ call, outputs }: Step, plan: Plan, facts: Facts): readonly [number, Tensor][] | undefined {
  const wanted = outputs.filter(slot => slot >= 0)
  if (!isPlain(call) || wanted.length === 0) return undefined
  const values: [number, Tensor][] = []
  for (const slot of wanted) {
    const fact = facts[slot]
    const value = fact?.kind === 'tensor' && plan.outputAt[slot] < 0 ? knownValue(fact) : undefined
    if (value === undefined) return undefined
    values.push([slot, value])
  }
  return values
}

/** Whether a step has run, and does the same for the same dims in each run, whatever grows. */
function isStaying({ call, inputs, outputs, memo }: Step, { initial }: Plan, facts: Facts): boolean {
  const isConstant = (slot: number): boolean => slot < 0 || initial[slot] !== undefined
  return (
    isPlain(call) &&
    call.op.dynamic !== true &&
    memo.kept !== undefined &&
    decisiveInputs(memo).every(i => isConstant(inputs[i])) &&
    inputs.every(slot => isConstant(slot) || bytesOf(facts[slot]) !== undefined) &&
    outputs.every(slot => slot < 0 || bytesOf(facts[slot]) !== undefined)
  )
}

/** Undefined where it is no tensor of numbers, or its dims may change. */
function bytesOf(fact: Fact | undefined): number | undefined {
  if (fact?.kind !== 'tensor' || fact.type === undefined || fact.shape === undefined) return undefined
  if (DTYPES[fact.type].array === undefined || !isConcrete(fact.shape)) return undefined
  return memoryBytes(fact.type, elementCount(fact.shape))
}

type Group = readonly [from: number, to: number, isSegment: boolean]

/** Steps in a row that make a segment, or none. */
function groupsOf({ steps, initial }: Plan, stays: readonly boolean[], facts: Facts): readonly Group[] {
  const groups: Group[] = []
  const add = (from: number, to: number, isSegment: boolean): void => {
    const last = groups.at(-1)
    if (from === to) return
    if (last && !last[2] && !isSegment) groups[groups.length - 1] = [last[0], to, false]
    else groups.push([from, to, isSegment])
  }
  let from = 0
  /** Slots that the segment has made, or reads. */
  let seen = new Set<number>()
  let given = 0
  const end = (to: number): void => {
    add(from, to, to - from >= MIN_STEPS)
    from = to
    seen = new Set()
    given = 0
  }
  for (const [i, step] of steps.entries()) {
    const read = new Set(slotsReadBy(step).filter(slot => initial[slot] === undefined && !seen.has(slot)))
    for (const slot of read) given += bytesOf(facts[slot]) ?? 0
    if (stays[i] && given <= LIMITS.given) for (const slot of [...read, ...step.outputs]) seen.add(slot)
    else {
      end(i)
      add(i, i + 1, false)
      from = i + 1
    }
  }
  end(steps.length)
  return groups
}
