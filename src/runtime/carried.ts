import { positionOf } from '../plan/graph.ts'
import { alsoFreeing, alteredPlan, freeing, type Plan, slotsReadBy, type Step } from '../plan/plan.ts'
import type { Storage } from '../tensor/dtype.ts'
import { isTensor, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'
import type { Budget } from './memory.ts'
import type { RecordedInput } from './recorded-input.ts'

/** Bytes from which on a value is worth the care. */
const MIN_BYTES = 1 << 12

/** An input of a body of which one step changes some elements, and makes an output that is handed on. */
export interface Updated {
  /** The body with this step as its last one: where another fails, the input is still what it was. */
  readonly plan: Plan
  readonly step: Step
  /** Slots. */
  readonly input: number
  readonly output: number
}

/**
 * The largest input of a body that a step may update where it lies, as ScatterND and ScatterElements do, which check
 * all indices before they write: nothing but the step's operator wants the input any more then, and nobody in the body
 * reads what becomes of it.
 * @param given what the body is given, by slot
 * @param staying slots that are to stay as they are
 * @param maxBytes of such an input
 */
export function updatedIn(
  plan: Plan,
  given: ReadonlyMap<number, Value>,
  staying: ReadonlySet<number>,
  maxBytes: number
): Updated | undefined {
  const read = new Set(plan.steps.flatMap(slotsReadBy))
  let best: Updated | undefined
  let most = MIN_BYTES - 1
  for (const step of plan.steps) {
    const input = inputUpdatedBy(step)
    const value = given.get(input)
    const [output] = step.outputs
    if (value === undefined || !isTensor(value) || !plan.inputs.includes(input) || staying.has(input)) continue
    const bytes = memoryBytes(value.type, value.size)
    const isHandedOn = plan.outputs.filter(slot => slot === output).length === 1 && !read.has(output)
    if (!isHandedOn || bytes <= most || bytes > maxBytes) continue
    most = bytes
    best = { ...takenLast(plan, step), input, output }
  }
  return best
}

/** The slot of the operand that a step may write over; -1: none. */
function inputUpdatedBy({ call, inputs, outputs }: Step): number {
  const { inPlace = [], moves = [] } = call.op
  const name = outputs.length === 1 ? inPlace.find(operand => moves.includes(operand)) : undefined
  const slot = name === undefined ? -1 : inputs[positionOf(call, name)]
  return inputs.filter(other => other === slot).length === 1 ? slot : -1
}

/** What the step reads is there until it runs. */
function takenLast(plan: Plan, step: Step): Pick<Updated, 'plan' | 'step'> {
  const read = new Set(slotsReadBy(step))
  const isLeft = (slot: number): boolean => !read.has(slot)
  const others = plan.steps.filter(other => other !== step)
  const freed = others.flatMap(({ free }) => free.filter(slot => read.has(slot)))
  const last = alsoFreeing(step, freed)
  const steps = [...others.map(other => freeing(other, other.free.filter(isLeft), other.inPlace)), last]
  return { plan: alteredPlan(plan, { steps }), step: last }
}

/**
 * An input of a recorded body that is updated where it lies. What has become of it is lent, not copied: an iteration of
 * a loop that hands it on finds it there.
 */
export class CarriedInput {
  readonly input: RecordedInput
  /** Positions among the inputs and outputs of the body. */
  readonly from: number
  readonly to: number
  private lent: Lent | undefined

  constructor(input: RecordedInput, from: number, to: number) {
    this.input = input
    this.from = from
    this.to = to
  }

  /**
   * Takes the value of a run; what was lent is copied before where somebody may want it after that.
   * @param isPassedOn whether nobody reads the value after the run
   */
  take(given: Tensor, isPassedOn: boolean): boolean {
    const { lent } = this
    const isThere = lent?.tensor === given
    if (!(isThere && isPassedOn)) lent?.read()
    return isThere || this.input.take(given)
  }

  /** The run has ended well. @returns what has become of the value */
  lend(budget: Budget): Tensor {
    this.lent?.forget()
    this.lent = new Lent(this.input.tensor, budget, () => {
      this.lent = undefined
    })
    return this.lent.tensor
  }
}

const NOTHING = new Uint8Array()

/** A value that is copied when somebody first asks for its elements. */
class Lent {
  readonly tensor: Tensor
  private readonly place: Tensor
  private readonly budget: Budget
  private readonly onRead: () => void
  private elements: Storage | undefined

  constructor(place: Tensor, budget: Budget, onRead: () => void) {
    this.place = place
    this.budget = budget
    this.onRead = onRead
    this.tensor = unreadTensor({ type: place.type, dims: place.dims }, () => this)
  }

  get data(): Storage {
    if (this.elements === undefined) {
      this.elements = this.budget.copy(this.place).data
      this.onRead()
    }
    return this.elements
  }

  read(): void {
    void this.data
  }

  /** Nobody wants it any more. */
  forget(): void {
    this.elements ??= NOTHING
  }
}
