import { byOperand } from '../bind/operands.ts'
import { decisiveInputs, prepareRun, type RunPreparation } from '../infer/prepare.ts'
import { dimsOf } from '../infer/run.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, Packed, SelectKernel } from '../op-kit/define.ts'
import { isOfParameters, isSamePack } from '../op-kit/packs.ts'
import { alteredPlan, type Plan, slotsReadBy, type Step } from '../plan/plan.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { areSameDims, isTensor, product, Tensor, type Value } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'
import { Arena } from '../wasm/arena.ts'
import { watchingJobs } from '../wasm/job-watcher.ts'
import { CarriedInput, type Updated, updatedIn } from './carried.ts'
import { liesOnHeap } from './memory.ts'
import { countRecordable, type Limits } from './recordable.ts'
import { RecordedCall, Unrepeatable } from './recorded-call.ts'
import { readInPlace, RecordedInput } from './recorded-input.ts'
import { type Arenas, RecordedJobs } from './recorded-jobs.ts'
import { isPartOf, RecordedMemory } from './recorded-memory.ts'
import { type Made, RecordedStep, Recording, STEPS_PER_YIELD } from './recording.ts'
import { mayReread, rereading } from './reread.ts'
import { isConstant, type Slot, type Slots } from './slots.ts'
import { lazyTables, type RunPart } from './tables.ts'

const LIMITS: Limits = {
  live: 3 << 23,
  values: 1 << 25,
  jobs: 1 << 21,
  given: 5 << 20,
  chunk: 1 << 16,
  kind: 'run'
}
export const MAX_RECORDED_BYTES = LIMITS.values + LIMITS.jobs
/** Most bytes of values that live at once where several recordings of runs are held. */
const MAX_LIGHT = 1 << 20
/** The first steps of a plan are recorded alone where there are at least so many; segments are recorded whole. */
const MIN_STEPS = { run: 8, body: 4, segment: Infinity } as const

/** What recording needs of a run. */
export interface RecordedRun extends RunPart {
  readonly select: SelectKernel
}

/**
 * Takes a run, or its first steps, and records it.
 * @param plan whose steps have run before with inputs of the same types and dims
 * @param sources slots of what steps read that none of them makes
 * @param slots hold these values
 * @param staying of the sources those that are likely to stay the same while the runs of one call go on
 * @returns undefined where one of the first steps cannot be repeated, or fails; nothing is held then
 */
export function* record(
  plan: Plan,
  sources: readonly number[],
  slots: readonly Slot[],
  run: RecordedRun,
  limits = LIMITS,
  staying: ReadonlySet<number> = NOTHING
): Paced<Recording | undefined> {
  const given = givenBy(plan, sources, slots, staying)
  const updated = limits.kind === 'body' ? updatedIn(plan, given.values, staying, limits.given) : undefined
  const recorded = updated && (yield* recordGiven(updated.plan, withUpdated(given, updated), run, limits))
  return recorded ?? (yield* recordGiven(plan, given, run, limits))
}

function* recordGiven(plan: Plan, given: Given, run: RecordedRun, limits: Limits): Paced<Recording | undefined> {
  const count = countRecordable(plan, copiedOf(given), limits)
  if (!isWorthwhile(count, plan, limits, given)) return undefined
  const recorder = new Recorder(plan, given, run, limits)
  let recording: Recording | undefined
  try {
    recording = yield* recorder.record(count)
  } catch {
    // The run is taken in the usual way.
  } finally {
    for (const input of recorder.inputs) input.letGo()
    if (recording === undefined) for (const arena of Object.values(recorder.arenas)) arena.freeAll()
  }
  return recording
}

/** Whether few bytes live at once in a run that {@link record} would record. */
export const isLight = (plan: Plan, sources: readonly number[], slots: readonly Slot[]): boolean =>
  countRecordable(plan, copiedOf(givenBy(plan, sources, slots)), { ...LIMITS, live: MAX_LIGHT }) >= 0

/** What a run is given, by slot. */
interface Given {
  readonly values: ReadonlyMap<number, Value>
  /** Those that are not copied. */
  readonly inPlace: ReadonlySet<number>
  /** Those that are likely to stay the same while the runs of one call go on. */
  readonly staying: ReadonlySet<number>
  /** One that is copied and then updated where it lies, in a plan that is recorded as a whole. */
  readonly updated: Updated | undefined
}

function givenBy(plan: Plan, sources: readonly number[], slots: readonly Slot[], staying = NOTHING): Given {
  const values = new Map(sources.flatMap(slot => (slots[slot] ? [[slot, slots[slot] as Value]] : [])))
  return { values, inPlace: readInPlace(plan, values), staying, updated: undefined }
}

const withUpdated = ({ values, inPlace, staying }: Given, updated: Updated): Given => ({
  values,
  inPlace: new Set([...inPlace].filter(slot => slot !== updated.input)),
  staying,
  updated
})

const copiedOf = ({ values, inPlace }: Given): ReadonlyMap<number, Value> =>
  new Map([...values].filter(([slot]) => !inPlace.has(slot)))

const NOTHING: ReadonlySet<number> = new Set()

const isWorthwhile = (count: number, { steps }: Plan, { kind }: Limits, { updated }: Given): boolean =>
  count === steps.length || (updated === undefined && count >= MIN_STEPS[kind])

/** A recording while it is made. */
class Recorder {
  readonly arenas: Arenas
  private readonly limits: Limits
  private readonly plan: Plan
  private readonly run: RecordedRun
  inputs: readonly RecordedInput[] = []
  private readonly given: Given
  private readonly slots: Slots
  private readonly isConstant: boolean[]
  private readonly steps: RecordedStep[] = []
  private readonly memory: RecordedMemory

  constructor(plan: Plan, given: Given, run: RecordedRun, limits: Limits) {
    this.plan = plan
    this.run = run
    this.given = given
    this.limits = limits
    this.arenas = { values: new Arena(limits.values, limits.chunk), jobs: new Arena(limits.jobs, limits.chunk) }
    this.memory = new RecordedMemory(this.arenas.values)
    this.slots = plan.initial.slice()
    this.isConstant = plan.initial.map(value => value !== undefined)
  }

  /** @param most steps that may be recorded */
  *record(most: number): Paced<Recording> {
    const { plan, given } = this
    const { kind } = this.limits
    const isBody = kind === 'body'
    const read = readBy(plan, most, isBody)
    this.inputs = [...given.values]
      .filter(([slot]) => read.has(slot))
      .map(([slot, value]) => this.inputOf(slot, value as Tensor))
    const count = yield* this.recordSteps(most)
    if (!isWorthwhile(count, plan, this.limits, given)) throw new Unrepeatable()
    const isWhole = count === plan.steps.length
    const still = readBy(plan, count, isBody)
    const made = (isWhole ? plan.outputs : crossing(plan, count)).map((slot): Made => {
      if (isBody && !plan.steps.some(({ outputs }) => outputs.includes(slot))) return [slot, undefined]
      const { type, data, dims } = this.require(slot)
      // Texts, of a constant, would be no copy of their memory.
      if (DTYPES[type].array === undefined) throw new Unrepeatable()
      return [slot, new Tensor(type, data, Object.freeze(dims.slice()))]
    })
    const rest = isWhole ? undefined : alteredPlan(plan, { steps: plan.steps.slice(count) })
    return new Recording(
      Object.values(this.arenas),
      this.steps,
      this.inputs.filter(({ slot }) => still.has(slot)),
      made,
      rest,
      kind === 'segment',
      this.carried(made)
    )
  }

  /**
   * The input that is updated where it lies, if that has come about.
   * @throws Unrepeatable where another output is a part of it, as one that is reshaped: it would be updated, too
   */
  private carried(made: readonly Made[]): CarriedInput | undefined {
    const { plan, slots, given, inputs } = this
    if (given.updated === undefined) return undefined
    const { input, output } = given.updated
    const carried = inputs.find(({ slot }) => slot === input)!
    const { data } = carried.tensor
    if ((slots[output] as Tensor).data !== data) return undefined
    if (made.some(([slot, value]) => slot !== output && value && isPartOf(value.data, data))) throw new Unrepeatable()
    return new CarriedInput(carried, plan.inputs.indexOf(input), plan.outputs.indexOf(output))
  }

  /**
   * What a step updates, as an output of these dims; undefined where it makes one of its own: also where another
   * operand is a part of the input, which would change while it is read.
   */
  private updatedBy(step: Step, type: DType, dims: readonly number[]): Tensor | undefined {
    const { updated } = this.given
    if (step !== updated?.step) return undefined
    const input = this.slots[updated.input] as Tensor
    const isRead = step.inputs.some(
      slot => slot >= 0 && slot !== updated.input && isPartOf((this.slots[slot] as Tensor).data, input.data)
    )
    return input.type === type && areSameDims(input.dims, dims) && !isRead ? input : undefined
  }

  private inputOf(slot: number, given: Tensor): RecordedInput {
    const isCopied = !this.given.inPlace.has(slot)
    const place = isCopied ? this.tensor(given.type, given.dims.slice()) : undefined
    // What a body captures, or gives back as it is, later runs for the same call find there.
    const stays = isCopied && this.given.staying.has(slot)
    const input = new RecordedInput(slot, given, place, stays)
    this.slots[slot] = input.tensor
    this.isConstant[slot] = false
    if (isCopied) this.hold(slot)
    if (stays) this.hold(slot)
    return input
  }

  /** Records steps until one cannot be repeated, or fails. @returns their number */
  private *recordSteps(most: number): Paced<number> {
    for (let i = 0; i < most; i++) {
      try {
        yield* this.recordStep(this.plan.steps[i])
      } catch {
        return i
      }
      if (i % STEPS_PER_YIELD === STEPS_PER_YIELD - 1) yield
    }
    return most
  }

  private *recordStep(step: Step): Paced {
    const { call, memo } = step
    if (lazyTables(step, this.plan, this.slots, this.run).length > 0) throw new Unrepeatable()
    const inputs = step.inputs.map((slot, i) => (slot < 0 ? undefined : this.operandOf(step, i)))
    const operands = byOperand(call, inputs)
    const prepared = prepareRun(call, inputs, operands, this.run, memo)
    const isFixed = decisiveInputs(memo).every(i => this.isFixed(step, i))
    const isReread = !isFixed && this.limits.kind === 'body' && mayReread(call)
    if (prepared !== memo.kept || !(isFixed || isReread)) throw new Unrepeatable()
    const { parameters, outputs, selection } = prepared
    const context = new RecordedCall(
      call,
      step.outputs,
      outputs,
      packedOf(step, prepared),
      this.run.threads,
      (type, dims) => this.updatedBy(step, type, dims) ?? this.tensor(type, dims)
    )
    const kernel: Kernel = isReread
      ? rereading(call, inputs, dimsOf(outputs[0]), this.run.overrides)
      : (prepared.kernel ?? call.op.run.bind(call.op))
    const recorded = new RecordedStep(undefined, kernel, operands, parameters, context)
    const isOfJobs = isFixed && selection?.looksAt?.every(name => this.isFixedOperand(step, name)) === true
    const jobs = isOfJobs
      ? new RecordedJobs(this.arenas, knownArrays(inputs, context.packed), this.run.threads)
      : undefined
    yield* runThrough(recorded, jobs)
    const isDone = this.takeOver(step, context)
    context.seal()
    jobs?.giveBack()
    for (const slot of step.outputs) if (slot >= 0) this.hold(slot)
    for (const slot of step.free) this.release(slot)
    if (isDone) return
    if (context.given.size > 0 || jobs === undefined || jobs.made.length === 0) this.steps.push(recorded)
    else for (const job of jobs.made) this.steps.push(new RecordedStep(job, kernel, operands, parameters, context))
  }

  private hold(slot: number): void {
    this.memory.hold((this.slots[slot] as Tensor).data)
  }

  /** Nobody reads a slot any more: later steps may have its memory, where no other slot holds it. */
  private release(slot: number): void {
    const value = this.slots[slot]
    if (value && !isConstant(value) && isTensor(value)) this.memory.release(value.data)
  }

  /** Gives slots the outputs of a step that has run. @returns whether it need not run again */
  private takeOver(step: Step, context: RecordedCall): boolean {
    const { op, operands } = step.call
    // Where the outputs of this run lie in an operand of an operator that only moves elements, and its other operands
    // are constants, they lie there in later runs, too, unless each run gives other memory.
    const isMoved = (index: number): boolean =>
      !this.given.inPlace.has(step.inputs[index]) &&
      operands.some(operand => operand.index === index && op.moves?.includes(operand.name))
    const isSame =
      op.moves !== undefined &&
      context.outputs.every(output => output === undefined) &&
      step.inputs.every((slot, i) => slot < 0 || isMoved(i) || this.isConstant[slot])
    const arrays = step.inputs.flatMap(slot => (slot < 0 ? [] : [(this.slots[slot] as Tensor).data]))
    const isShared =
      isSame && [...context.given.values()].every(({ data }) => arrays.some(array => isPartOf(data, array)))
    for (const [index, value] of context.given) {
      if (!isShared) context.keep(index, value)
      else if (step.outputs[index] >= 0) this.slots[step.outputs[index]] = value
    }
    if (isShared) return true
    step.outputs.forEach((slot, i) => {
      if (slot >= 0) this.slots[slot] = context.outputs[i]
    })
    return false
  }

  private isFixed({ inputs }: Step, position: number): boolean {
    return inputs[position] < 0 || this.isConstant[inputs[position]]
  }

  private isFixedOperand(step: Step, name: string): boolean {
    const [own, place = 0] = name.split(' ')
    const operand = step.call.operands.find(other => other.name === own)
    if (operand === undefined) return true
    const position = operand.index + Number(place)
    return step.inputs[position] === undefined || this.isFixed(step, position)
  }

  private operandOf({ inputs, memo: { packs } }: Step, position: number): Tensor {
    const { weights, budget } = this.run
    const unread = packs?.entry.packed && packs.unread.get(position)
    return unread ? unreadTensor(unread, () => weights.read(unread, budget)) : this.require(inputs[position])
  }

  private require(slot: number): Tensor {
    const held = this.slots[slot]
    const value = held && isConstant(held) ? this.run.weights.read(held, this.run.budget) : held
    if (value === undefined || !isTensor(value)) throw new Unrepeatable()
    this.slots[slot] = value
    return value
  }

  private tensor(type: DType, dims: readonly number[]): Tensor {
    const { array, slots } = DTYPES[type]
    const count = product(dims) * slots
    const memory = array && this.memory.take(count * array.BYTES_PER_ELEMENT)
    if (array === undefined || memory === undefined) throw new Unrepeatable()
    return new Tensor(type, new array(memory.buffer, memory.byteOffset, count), dims)
  }
}

/** Slots that the first steps of a plan read, and, where they are all of it, those of its outputs. */
const readBy = ({ steps, outputs }: Plan, count: number, isBody: boolean): ReadonlySet<number> =>
  new Set([...steps.slice(0, count).flatMap(slotsReadBy), ...(count === steps.length && !isBody ? outputs : [])])

/** Slots of what the first steps of a plan make and others read, or the caller gets. */
function crossing({ steps, outputs }: Plan, count: number): number[] {
  const made = new Set(steps.slice(0, count).flatMap(step => step.outputs))
  const read = steps.slice(count).flatMap(slotsReadBy)
  return [...new Set([...read, ...outputs])].filter(slot => slot >= 0 && made.has(slot))
}

/** What has been packed for a step; it has to have been, where the kernel wants it. */
function packedOf({ constants, memo: { packs } }: Step, { pack }: RunPreparation): Packed | undefined {
  if (pack === undefined || (constants.length === 0 && !isOfParameters(pack))) return undefined
  if (packs === undefined || !isSamePack(packs.pack, pack)) throw new Unrepeatable()
  return packs.entry.packed
}

/** Runs a kernel to its end; jobs of other runs, which may go on while it pauses, are not reported to `jobs`. */
function* runThrough({ kernel, operands, parameters, context }: RecordedStep, jobs: RecordedJobs | undefined): Paced {
  const watched = <R>(act: () => R): R => (jobs ? watchingJobs(jobs, act) : act())
  const work = watched(() => kernel(operands, parameters, context))
  if (!work) return
  for (let step = watched(() => work.next()); !step.done; step = watched(() => work.next())) {
    if (step.value) throw new Unrepeatable()
    yield
  }
}

/** The arrays of constants that lie on the heap, as far as they have been read. */
function knownArrays(inputs: readonly (Tensor | undefined)[], packed: Packed | undefined): readonly ArrayBufferView[] {
  const read = inputs.filter(tensor => tensor !== undefined && Object.hasOwn(tensor, 'data')) as Tensor[]
  return [...read, ...Object.values(packed ?? {})].flatMap(({ data }) => (liesOnHeap(data) ? [data] : []))
}
