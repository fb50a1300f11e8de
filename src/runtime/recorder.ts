import { byOperand } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { decisiveInputs, prepareRun, type RunPreparation } from '../infer/prepare.ts'
import { isBuiltIn, type Kernel, type Packed, type SelectKernel } from '../op-kit/define.ts'
import { type Plan, slotsReadBy, type Step } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { type DType, DTYPES, type NumericArray } from '../tensor/dtype.ts'
import { elementCount, isTensor, memoryBytes, product, Tensor, type Value } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'
import { Arena, type FixedJob, fixJob, liesIn } from '../wasm/fixed-jobs.ts'
import { type JobWatcher, type WatchedJob, watchingJobs } from '../wasm/job-watcher.ts'
import { liesOnHeap } from './memory.ts'
import { RecordedCall, Unrepeatable } from './recorded-call.ts'
import { RecordedStep, Recording } from './recording.ts'
import { lazyTables, type RunPart } from './tables.ts'

/** Most bytes of a recording, and of the values that it makes. */
export const MAX_RECORDED_BYTES = 1 << 23
const MAX_VALUE_BYTES = 1 << 22
/** The first steps of a plan are recorded alone where there are at least so many. */
const MIN_STEPS = 8

/** What recording needs of a run. */
export interface RecordedRun extends RunPart {
  readonly select: SelectKernel
}

/**
 * Takes a run, or its first steps, and records it.
 * @param plan whose steps have run before with inputs of the same types and dims
 * @param sources slots of what steps read that none of them makes
 * @param slots hold these values
 * @returns undefined where one of the first steps cannot be repeated, or fails; nothing is held then
 */
export function record(
  plan: Plan,
  sources: readonly number[],
  slots: readonly (Value | Constant | undefined)[],
  run: RecordedRun
): Recording | undefined {
  const given = new Map(sources.map(slot => [slot, slots[slot] as Value]))
  const count = countRecordable(plan, given.values())
  if (!isWorthwhile(count, plan)) return undefined
  const recorder = new Recorder(plan, given, run)
  try {
    return recorder.record(count)
  } catch {
    recorder.arena.free()
    return undefined
  }
}

const isWorthwhile = (count: number, { steps }: Plan): boolean => count === steps.length || count >= MIN_STEPS

/**
 * The number of steps, from the first one on, that may be recorded by what is known before they run; -1 where there are
 * large values.
 */
function countRecordable({ steps }: Plan, given: Iterable<Value>): number {
  let bytes = 0
  const isCounted = (type: DType, dims: readonly number[]): boolean => {
    if (DTYPES[type].array === undefined) return false
    bytes += memoryBytes(type, elementCount(dims))
    return bytes <= MAX_VALUE_BYTES
  }
  for (const value of given) if (!isTensor(value) || !isCounted(value.type, value.dims)) return -1
  for (const [i, { call, bodies, memo }] of steps.entries()) {
    const { op } = call
    if (op.impure || op.dynamic || bodies.size > 0 || !isBuiltIn(op) || memo.kept === undefined) return i
    for (const fact of memo.kept.outputs) {
      if (fact.kind !== 'tensor' || fact.shape === undefined || !isConcrete(fact.shape)) return i
      if (fact.type === undefined || fact.type === 'string') return i
      if (!isCounted(fact.type, fact.shape)) return -1
    }
  }
  return steps.length
}

/** A recording while it is made. */
class Recorder {
  readonly arena = new Arena(MAX_RECORDED_BYTES)
  private readonly plan: Plan
  private readonly run: RecordedRun
  private readonly given: ReadonlyMap<number, Value>
  private readonly slots: (Value | Constant | undefined)[]
  private readonly isConstant: boolean[]
  private readonly steps: RecordedStep[] = []

  constructor(plan: Plan, given: ReadonlyMap<number, Value>, run: RecordedRun) {
    this.plan = plan
    this.run = run
    this.given = given
    this.slots = plan.initial.slice()
    this.isConstant = plan.initial.map(value => value !== undefined)
  }

  /** @param most steps that may be recorded */
  record(most: number): Recording | undefined {
    const { plan, given, slots } = this
    const read = new Set([...plan.outputs, ...plan.steps.flatMap(({ inputs }) => inputs)])
    const inputs = [...given]
      .filter(([slot]) => read.has(slot))
      .map(([slot, value]): readonly [number, Tensor] => {
        const { type, dims, data } = value as Tensor
        const tensor = this.tensor(type, dims.slice())
        ;(tensor.data as Uint8Array).set(data as Uint8Array)
        slots[slot] = tensor
        this.isConstant[slot] = false
        return [slot, tensor]
      })
    const count = this.recordSteps(most)
    if (!isWorthwhile(count, plan)) throw new Unrepeatable()
    const isWhole = count === plan.steps.length
    const made = (isWhole ? plan.outputs : crossing(plan, count)).map((slot): readonly [number, Tensor] => {
      const { type, data, dims } = this.require(slot)
      return [slot, new Tensor(type, data, Object.freeze(dims.slice()))]
    })
    const rest = isWhole ? undefined : { ...plan, steps: plan.steps.slice(count) }
    return new Recording(this.arena, this.steps, inputs, made, rest)
  }

  /** Records steps until one cannot be repeated, or fails. @returns their number */
  private recordSteps(most: number): number {
    for (let i = 0; i < most; i++) {
      try {
        this.recordStep(this.plan.steps[i])
      } catch {
        return i
      }
    }
    return most
  }

  private recordStep(step: Step): void {
    const { call, memo } = step
    if (lazyTables(step, this.plan, this.slots, this.run).length > 0) throw new Unrepeatable()
    const inputs = step.inputs.map((slot, i) => (slot < 0 ? undefined : this.operandOf(step, i)))
    const operands = byOperand(call, inputs)
    const prepared = prepareRun(call, inputs, operands, this.run, memo)
    const isFixed = decisiveInputs(memo).every(i => this.isFixed(step, i))
    if (prepared !== memo.kept || !isFixed) throw new Unrepeatable()
    const { parameters, outputs, selection } = prepared
    const context = new RecordedCall(
      call,
      step.outputs,
      outputs,
      packedOf(step, prepared),
      this.run.threads,
      (type, dims) => this.tensor(type, dims)
    )
    const kernel: Kernel = selection?.kernel ?? call.op.run.bind(call.op)
    const recorded = new RecordedStep(undefined, kernel, operands, parameters, context)
    const isOfJobs = selection?.looksAt?.every(name => this.isFixedOperand(step, name)) === true
    const jobs = new Jobs(this.arena, knownArrays(inputs, context.packed))
    if (isOfJobs) watchingJobs(jobs, () => runThrough(recorded))
    else runThrough(recorded)
    const isDone = this.takeOver(step, context)
    context.seal()
    if (isDone) return
    if (context.given.size > 0 || jobs.made.length === 0) this.steps.push(recorded)
    else for (const job of jobs.made) this.steps.push(new RecordedStep(job, kernel, operands, parameters, context))
  }

  /** Gives slots the outputs of a step that has run. @returns whether it need not run again */
  private takeOver(step: Step, context: RecordedCall): boolean {
    const { op, operands } = step.call
    // Where the outputs of this run share memory with an operand of an operator that only moves elements, and its other
    // operands are constants, they share it in later runs, too.
    const isMoved = (index: number): boolean =>
      operands.some(operand => operand.index === index && op.moves?.includes(operand.name))
    const isSame =
      op.moves !== undefined &&
      context.outputs.every(output => output === undefined) &&
      step.inputs.every((slot, i) => slot < 0 || isMoved(i) || this.isConstant[slot])
    const arrays = new Set(step.inputs.map(slot => (slot < 0 ? undefined : (this.slots[slot] as Tensor).data)))
    const isShared = isSame && [...context.given.values()].every(({ data }) => arrays.has(data))
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
    const operand = step.call.operands.find(other => other.name === name)
    return operand === undefined || step.inputs[operand.index] === undefined || this.isFixed(step, operand.index)
  }

  private operandOf({ inputs, memo: { packs } }: Step, position: number): Tensor {
    const { weights, budget } = this.run
    const unread = packs?.entry.packed && packs.unread.get(position)
    return unread ? unreadTensor(unread, () => weights.read(unread, budget)) : this.require(inputs[position])
  }

  private require(slot: number): Tensor {
    const held = this.slots[slot]
    const value = held && 'read' in held ? this.run.weights.read(held, this.run.budget) : held
    if (value === undefined || !isTensor(value)) throw new Unrepeatable()
    this.slots[slot] = value
    return value
  }

  private tensor(type: DType, dims: readonly number[]): Tensor {
    const { array, slots } = DTYPES[type]
    const count = product(dims) * slots
    const memory = array && this.arena.take(count * array.BYTES_PER_ELEMENT)
    if (array === undefined || memory === undefined) throw new Unrepeatable()
    return new Tensor(type, new array(memory.buffer, memory.byteOffset, count), dims)
  }
}

/** Slots of what the first steps of a plan make and others read, or the caller gets. */
function crossing({ steps, outputs }: Plan, count: number): number[] {
  const made = new Set(steps.slice(0, count).flatMap(step => step.outputs))
  const read = steps.slice(count).flatMap(slotsReadBy)
  return [...new Set([...read, ...outputs])].filter(slot => slot >= 0 && made.has(slot))
}

/** What has been packed for a step; it has to have been, where the kernel wants it. */
function packedOf({ call, constants, memo: { packs } }: Step, { selection }: RunPreparation): Packed | undefined {
  const pack = selection?.kernel ? selection.pack : call.op.pack
  if (pack === undefined || constants.length === 0) return undefined
  if (packs?.pack !== pack) throw new Unrepeatable()
  return packs.entry.packed
}

/** Runs a kernel to its end. */
function runThrough({ kernel, operands, parameters, context }: RecordedStep): void {
  const work = kernel(operands, parameters, context)
  if (work) for (const wait of work) if (wait) throw new Unrepeatable()
}

/** The arrays of constants that lie on the heap, as far as they have been read. */
function knownArrays(inputs: readonly (Tensor | undefined)[], packed: Packed | undefined): readonly ArrayBufferView[] {
  const read = inputs.filter(tensor => tensor !== undefined && Object.hasOwn(tensor, 'data')) as Tensor[]
  return [...read, ...Object.values(packed ?? {})].flatMap(({ data }) => (liesOnHeap(data) ? [data] : []))
}

/** Writes the jobs of a step. */
class Jobs implements JobWatcher {
  made: readonly FixedJob[] = []
  private readonly arena: Arena
  private readonly constants: readonly ArrayBufferView[]
  private isWhole = true

  constructor(arena: Arena, constants: readonly ArrayBufferView[]) {
    this.arena = arena
    this.constants = constants
  }

  ran(job: WatchedJob, tile: number, inputs: readonly NumericArray[], out: NumericArray): void {
    // Memory that a kernel takes for itself is another one each time.
    const isKnown =
      this.arena.holds(out) &&
      inputs.every(input => !liesOnHeap(input) || this.arena.holds(input) || this.isOfConstant(input))
    const fixed = this.isWhole && isKnown ? fixJob(job, tile, inputs, out, this.arena) : undefined
    if (fixed) this.made = [...this.made, fixed]
    else this.missed()
  }

  missed(): void {
    this.isWhole = false
    this.made = []
  }

  private isOfConstant(input: NumericArray): boolean {
    return this.constants.some(other => liesIn(input, other))
  }
}
