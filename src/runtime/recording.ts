import type { Constant } from '../graph/graph.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, Parameters, ValueOperands } from '../op-kit/define.ts'
import type { Plan } from '../plan/plan.ts'
import { copyArray, copyOfArray } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { Tensor, type Value } from '../tensor/tensor.ts'
import type { Arena } from '../wasm/arena.ts'
import type { FixedJob } from '../wasm/fixed-jobs.ts'
import type { Budget, Region } from './memory.ts'
import type { RecordedCall } from './recorded-call.ts'
import type { RecordedInput } from './recorded-input.ts'

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
  /** The outputs of the plan, which are the caller's; without them there are steps left to take. */
  readonly values?: readonly Tensor[]
  readonly rest?: Plan
}

/** What slots hold: a constant until it has been read. */
export type Slots = (Value | Constant | undefined)[]

/**
 * A run of a plan, or of its first steps, for inputs of some types and dims: every value has its place in memory, every
 * job is written, and what is left to do in a further run is to copy the inputs there and to call one kernel after the
 * other. It serves one run at a time.
 */
export class Recording {
  private readonly steps: readonly RecordedStep[]
  private readonly inputs: readonly RecordedInput[]
  /** By slot: the outputs of the plan, or what other steps read of what these make. Nobody changes their dims. */
  private readonly made: readonly (readonly [slot: number, value: Tensor])[]
  /** The steps that are not recorded. */
  private readonly rest: Plan | undefined
  private readonly arenas: readonly Arena[]
  /** Whether a run is under way here. */
  isRunning = false

  constructor(
    arenas: readonly Arena[],
    steps: readonly RecordedStep[],
    inputs: readonly RecordedInput[],
    made: readonly (readonly [number, Tensor])[],
    rest: Plan | undefined
  ) {
    this.arenas = arenas
    this.steps = steps
    this.inputs = inputs
    this.made = made
    this.rest = rest
  }

  /**
   * Runs it with other values.
   * @param slots hold the values that no recorded step makes, and get what steps that are left read
   * @returns undefined where another run is under way here, and where a kernel fails, which the usual run then does
   *   with its place
   */
  *run(budget: Budget, slots: Slots): Paced<Repeated | undefined> {
    if (this.isRunning) return undefined
    this.isRunning = true
    try {
      for (const input of this.inputs) if (!input.take(slots[input.slot] as Tensor)) return undefined
      return (yield* this.take()) ? this.results(budget, slots) : undefined
    } catch {
      return undefined
    } finally {
      for (const input of this.inputs) input.letGo()
      this.isRunning = false
    }
  }

  /** Lets go of its memory, where nobody else holds it. */
  free(): void {
    for (const arena of this.arenas) arena.freeAll()
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
    if (rest) {
      for (const [slot, value] of made) slots[slot] = held(value, budget, rest.outputAt[slot] < 0 ? 'heap' : 'output')
      return { rest }
    }
    const { spares } = budget
    const values = made.map(([, { type, data, dims }]) => {
      const array = data as NumericArray
      return new Tensor(type, copyOfArray(array, spares?.take(array.byteLength)), dims)
    })
    return { values }
  }

  private *take(): Paced<boolean> {
    const { steps } = this
    for (let i = 0; i < steps.length; i++) {
      const { job, kernel, operands, parameters, context } = steps[i]
      if (job === undefined) {
        const work = kernel(operands, parameters, context)
        if (work) yield* work
      } else {
        const outcome = job.run()
        if (!(typeof outcome === 'boolean' ? outcome : yield* outcome)) return false
      }
      if (i % STEPS_PER_YIELD === STEPS_PER_YIELD - 1) yield
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
