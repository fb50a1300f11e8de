import { type Call, isCall } from '../bind/call.ts'
import { prepareCall } from '../infer/prepare.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import { type Plan, slotsReadBy, type Step, withoutSpared } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { factOf, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { isSym } from '../shapes/sym.ts'
import { liesInRoom } from '../tensor/room.ts'
import { isTensor, memoryBytes, Tensor, type Value } from '../tensor/tensor.ts'
import type { Signature } from './signature.ts'

/** Larger values are computed anew in each run: projections of the relative positions of a large encoder have 2 MiB. */
const MAX_VALUE_BYTES = 1 << 22
/** Bytes that are kept for a plan at most. */
const MAX_KEPT_BYTES = 1 << 26

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

/** Whether a call, with its bodies, makes the same of the same values. */
export const isRepeatable = ({ op, bodies }: Call): boolean =>
  !op.impure &&
  isBuiltIn(op) &&
  [...bodies.values()].every(({ items }) => items.every(item => isCall(item) && isRepeatable(item)))
