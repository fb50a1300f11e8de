import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, Parameters, ValueOperands } from '../op-kit/define.ts'
import type { Plan } from '../plan/plan.ts'
import { copyArray, copyOfArray } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { areSameDims, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Arena } from '../wasm/arena.ts'
import type { FixedJob } from '../wasm/fixed-jobs.ts'
import type { CarriedInput } from './carried.ts'
import type { Budget, Region } from './memory.ts'
import type { RecordedCall } from './recorded-call.ts'
import type { RecordedInput } from './recorded-input.ts'
import { isConstant, type Slots } from './slots.ts'
import type { RunPart } from './tables.ts'

/** Steps between two yields. */
export const STEPS_PER_YIELD = 32

/** What is run again: a job, or a kernel with its operands. */
export class RecordedStep {
  readonly job: FixedJob | undefined
  readonly kernel: Kernel
  readonly operands: ValueOperands
  readonly parameters: Parameters
  readonly context: RecordedCall

  constructor(
    job: FixedJob | undefined,
    kernel: Kernel,
    operands: ValueOperands,
    parameters: Parameters,
    context: RecordedCall
  ) {
    this.job = job
    this.kernel = kernel
    this.operands = operands
    this.parameters = parameters
    this.context = context
  }
}

/** What a recording has made of the values of a run. */
export interface Repeated {
  /** The outputs of the plan; without them there are steps left to take. */
  readonly values?: Value[]
  readonly rest?: Plan
}

const LENT: Repeated = {}

/** What a step has left to do; undefined: a pause. */
type Begun = Paced<unknown> | undefined

/**
 * An output of the plan, or what other steps read of what is recorded; nobody changes its dims. Undefined where a body
 * passes on what it has from the start.
 */
export type Made = readonly [slot: number, value: Tensor | undefined]

/**
 * A run of a plan, or of its first steps, for inputs of some types and dims: every value has its place in memory, every
 * job is written, and what is left to do in a further run is to copy the inputs there and to call one kernel after the
 * other. It serves one run at a time.
 */
export class Recording {
  private readonly steps: readonly RecordedStep[]
  private readonly inputs: readonly RecordedInput[]
  private readonly made: readonly Made[]
  /** The steps that are not recorded. */
  private readonly rest: Plan | undefined
  private readonly arenas: readonly Arena[]
  private readonly isLent: boolean
  private readonly carried: CarriedInput | undefined
  /** Whether a run is under way here. */
  isRunning = false
  /** The call for which a body last ran here. */
  private call: object | undefined
  /** The step that comes next. */
  private next = 0

  /**
   * @param isLent whether others read what it has made where it lies
   * @param carried one of the inputs, where it is of a body
   */
  constructor(
    arenas: readonly Arena[],
    steps: readonly RecordedStep[],
    inputs: readonly RecordedInput[],
    made: readonly Made[],
    rest: Plan | undefined,
    isLent: boolean,
    carried: CarriedInput | undefined
  ) {
    this.carried = carried
    this.isLent = isLent
    this.arenas = arenas
    this.steps = steps
    this.inputs = inputs
    this.made = made
    this.rest = rest
  }

  /**
   * Runs it with other values.
   * @param slots hold the values that no recorded step makes, and get what steps that are left read
   * @param call where it is of a body: what that captures stays the same while it runs for this call, and the budget
   *   holds its outputs
   * @param passedOn inputs of the body, by position, that nobody reads after this run
   * @returns undefined where another run is under way here, and where a kernel fails, which the usual run then does
   *   with its place; what is left to do where that takes long
   */
  start(
    run: RunPart,
    slots: Slots,
    call?: object,
    passedOn?: readonly boolean[]
  ): Repeated | undefined | Paced<Repeated | undefined> {
    if (this.isRunning) return undefined
    this.isRunning = true
    let isOver = true
    try {
      if (!this.takeInputs(slots, call, passedOn)) return undefined
      this.next = 0
      const outcome = this.advance()
      if (typeof outcome === 'boolean') return outcome ? this.outcome(run, slots, call) : undefined
      isOver = false
      return this.goOn(outcome, run, slots, call)
    } catch {
      return undefined
    } finally {
      if (isOver) this.end()
    }
  }

  private *goOn(begun: Begun, run: RunPart, slots: Slots, call: object | undefined): Paced<Repeated | undefined> {
    try {
      for (let outcome: Begun | boolean = begun; ; outcome = this.advance()) {
        if (typeof outcome === 'boolean') return outcome ? this.outcome(run, slots, call) : undefined
        yield
        if (outcome && (yield* outcome) === false) return undefined
      }
    } catch {
      return undefined
    } finally {
      this.end()
    }
  }

  private takeInputs(slots: Slots, call: object | undefined, passedOn: readonly boolean[] | undefined): boolean {
    const { carried } = this
    const isSame = call !== undefined && call === this.call
    this.call = undefined
    for (const input of this.inputs) {
      const given = slots[input.slot] as Tensor
      const isTaken =
        input === carried?.input ? carried.take(given, passedOn?.[carried.from] === true) : input.take(given, isSame)
      if (!isTaken) return false
    }
    this.call = call
    return true
  }

  private end(): void {
    for (const input of this.inputs) input.letGo()
    this.isRunning = false
  }

  /** The next run for the same call is taken in the usual way, which may write over what has been taken here. */
  leaveCall(): void {
    this.call = undefined
  }

  /** Whether slots hold tensors of the types and dims for which it was made. */
  fits(slots: Slots): boolean {
    for (const { slot, tensor } of this.inputs) {
      const value = slots[slot]
      if (value === undefined || isConstant(value) || !isTensor(value)) return false
      if (value.type !== tensor.type || !areSameDims(value.dims, tensor.dims)) return false
    }
    return true
  }

  /** Its memory on the heap, which has to be held while it is used. */
  get blocks(): readonly Uint8Array[] {
    return this.arenas.flatMap(({ blocks }) => blocks)
  }

  get bytes(): number {
    return this.arenas.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /**
   * Copies of what it has made: outputs in memory that the caller has given back, where there is some.
   * @param slots get what steps that are left read
   */
  results(budget: Budget, slots: Slots): Repeated {
    const { made, rest } = this
    if (rest) return this.handOn(rest, budget, slots, 'heap', 'output')
    const { spares } = budget
    const values = made.map(([, value]) => {
      const { type, data, dims } = value!
      const array = data as NumericArray
      return new Tensor(type, copyOfArray(array, spares?.take(array.byteLength)), dims)
    })
    return { values }
  }

  /**
   * Gives the steps that are left copies of what they read.
   * @param region where these lie, and where those lie that are outputs of the plan, too
   */
  private handOn(rest: Plan, budget: Budget, slots: Slots, region: Region, ofOutputs: Region): Repeated {
    for (const [slot, value] of this.made)
      slots[slot] = held(value!, budget, rest.outputAt[slot] < 0 ? region : ofOutputs)
    return { rest }
  }

  /**
   * What it has made, where it lies: nobody holds it, and it is there until the next run of it.
   * @param slots get it
   */
  lend(slots: Slots): Repeated {
    for (const [slot, value] of this.made) slots[slot] = value
    return LENT
  }

  /** The outputs of a body, held by the budget: copies of what steps have made; one may be lent. */
  ofBody({ budget, weights }: RunPart, slots: Slots): Repeated {
    if (this.rest) return this.handOn(this.rest, budget, slots, 'body', 'result')
    const { carried } = this
    const values = this.made.map(([slot, made], at) => {
      if (carried?.to === at) return carried.lend(budget)
      if (made) return budget.copy(made)
      const passed = slots[slot]!
      const value = isConstant(passed) ? weights.read(passed, budget) : passed
      budget.hold(value)
      return value
    })
    return { values }
  }

  private outcome(run: RunPart, slots: Slots, call: object | undefined): Repeated {
    if (call) return this.ofBody(run, slots)
    return this.isLent ? this.lend(slots) : this.results(run.budget, slots)
  }

  /**
   * Takes steps until all are done, or one fails.
   * @returns whether all are done; before that, what a step has left to do, and undefined where it is time to pause
   */
  private advance(): boolean | Begun {
    const { steps } = this
    while (this.next < steps.length) {
      const { job, kernel, operands, parameters, context } = steps[this.next++]
      const outcome = job ? job.run() : kernel(operands, parameters, context)
      if (outcome === false) return false
      if (typeof outcome === 'object') {
        // Most have done their work by then.
        const { done, value } = outcome.next()
        if (!done) return outcome
        if (value === false) return false
      }
      if (this.next % STEPS_PER_YIELD === 0 && this.next < steps.length) return undefined
    }
    return true
  }
}

/** A copy that a run holds as if a step of it had made it. */
function held({ type, dims, data }: Tensor, budget: Budget, region: Region): Tensor {
  const copy = budget.allocate(type, dims, region, false)
  copyArray(data as NumericArray, copy.data as NumericArray)
  budget.hold(copy)
  return copy
}
