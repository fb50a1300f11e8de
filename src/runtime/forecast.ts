import { isStateful } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import { locate } from '../infer/propagate.ts'
import type { Plan, Step } from '../plan/plan.ts'
import type { Dim } from '../shapes/dim.ts'
import { evaluateDim, type Sizes } from '../shapes/evaluate.ts'
import type { Fact } from '../shapes/fact.ts'
import { isSym } from '../shapes/sym.ts'
import type { DType } from '../tensor/dtype.ts'
import { memoryBytes, type Value } from '../tensor/tensor.ts'
import type { MemoryLimit } from './memory-limit.ts'
import { tensorsIn } from './memory.ts'

/** A tensor whose size follows from dims of the inputs. */
interface Sized {
  readonly type: DType
  readonly shape: readonly Dim[]
}

/** An axis of an input whose size is a symbol. */
interface Axis {
  readonly input: number
  readonly axis: number
  readonly key: string
}

/** Where a run would hold too much. */
interface Excess {
  readonly step: Step
  readonly bytes: number
}

/** What is known of the values in the slots of a plan. */
function factsBySlot({ slots, facts }: Plan): readonly (Fact | undefined)[] {
  const bySlot = new Array<Fact | undefined>(slots.size).fill(undefined)
  for (const [id, slot] of slots) bySlot[slot] = facts.get(id)
  return bySlot
}

/** By slot, the results that steps make anew and whose sizes follow from the inputs. */
function resultsOf({ steps }: Plan, facts: readonly (Fact | undefined)[]): ReadonlyMap<number, Sized> {
  const results = new Map<number, Sized>()
  for (const { call, inputs, outputs } of steps) {
    // What bodies give, variables, and parts of sequences may be anything that has been made before.
    if (call.bodies.size > 0 || isStateful(call) || !areTensors(inputs, facts)) continue
    for (const slot of outputs) {
      const sized = slot < 0 ? undefined : sizedOf(facts[slot])
      if (sized) results.set(slot, sized)
    }
  }
  return results
}

function areTensors(slots: readonly number[], facts: readonly (Fact | undefined)[]): boolean {
  for (const slot of slots) if (slot >= 0 && facts[slot]?.kind !== 'tensor') return false
  return true
}

/**
 * Tells from the dims of the inputs that a run cannot end, since its results take more memory than it may hold, before
 * anything is computed.
 *
 * What it adds up is a lower bound. Results that may share memory (the same elements under other dims, one written over
 * another) have as many bytes each, so of the results that are needed at once those of one size count once. Those that
 * are as large as an input, a constant or a variable may be that memory and do not count at all.
 */
export class Forecast {
  private readonly plan: Plan
  private readonly limit: MemoryLimit
  private readonly axes: readonly Axis[]
  private readonly outside: readonly (Sized | undefined)[]
  private readonly results: ReadonlyMap<number, Sized>
  /** Sizes of `axes` up to which runs are known to fit, as far as more elements take more memory. */
  private fitting: readonly number[] | undefined

  constructor(plan: Plan, limit: MemoryLimit) {
    const facts = factsBySlot(plan)
    this.plan = plan
    this.limit = limit
    this.axes = plan.inputs.flatMap((slot, input) => axesOf(facts[slot], input))
    const inputs = new Set(plan.inputs)
    const outside: (Sized | undefined)[] = []
    for (const [slot, constant] of plan.initial.entries())
      outside.push(constant !== undefined || inputs.has(slot) ? sizedOf(facts[slot]) : undefined)
    this.outside = outside
    this.results = resultsOf(plan, facts)
  }

  /**
   * @param given values of the inputs, by position
   * @param others other values that may become results: variables, tensors to write into
   * @throws NodewiseError `limit-exceeded`, with the place of the first node at which more must be held
   */
  refuse(given: readonly (Value | undefined)[], others: () => Iterable<Value>): void {
    const sizes = this.sizesIn(given)
    if (sizes === undefined || this.isFitting(sizes)) return
    const outside = new Set<number>()
    for (const value of [...given, ...others()])
      for (const { type, size } of tensorsIn(value)) outside.add(memoryBytes(type, size))
    // Dims mostly grow by little from run to run, so more is tried at once.
    const more = sizes.map((size, i) => Math.max(roundedUp(size), this.fitting?.[i] ?? 0))
    const fits = (tried: readonly number[]): boolean => this.excessAt(tried, outside) === undefined
    if (fits(more)) {
      this.fitting = more
      return
    }
    const excess = this.excessAt(sizes, outside)
    if (excess === undefined) this.fitting = sizes
    else this.fail(excess)
  }

  /** The sizes of `axes`; undefined where an input is not what its fact says. */
  private sizesIn(given: readonly (Value | undefined)[]): readonly number[] | undefined {
    const sizes: number[] = []
    for (const { input, axis } of this.axes) {
      const value = given[input]
      const size = value && 'dims' in value ? value.dims[axis] : undefined
      if (size === undefined) return undefined
      sizes.push(size)
    }
    return sizes
  }

  private isFitting(sizes: readonly number[]): boolean {
    if (this.fitting === undefined) return false
    for (let i = 0; i < sizes.length; i++) if (sizes[i] > this.fitting[i]) return false
    return true
  }

  private excessAt(sizes: readonly number[], others: ReadonlySet<number>): Excess | undefined {
    const known = new Map(this.axes.map(({ key }, i) => [key, sizes[i]]))
    const outside = new Set(others)
    for (const sized of this.outside) {
      const bytes = sized && bytesOf(sized, known)
      if (bytes !== undefined) outside.add(bytes)
    }
    /** By bytes, how many values of this size are needed. */
    const held = new Map<number, number>()
    const bytesAt = new Map<number, number>()
    let total = 0
    for (const step of this.plan.steps) {
      for (const slot of step.outputs) {
        const sized = this.results.get(slot)
        const bytes = sized && bytesOf(sized, known)
        if (bytes === undefined || outside.has(bytes)) continue
        bytesAt.set(slot, bytes)
        const count = held.get(bytes) ?? 0
        if (count === 0) total += bytes
        held.set(bytes, count + 1)
      }
      if (!this.limit.allows(total)) return { step, bytes: total }
      for (const slot of step.free) {
        const bytes = bytesAt.get(slot)
        if (bytes === undefined) continue
        bytesAt.delete(slot)
        const count = held.get(bytes)! - 1
        held.set(bytes, count)
        if (count === 0) total -= bytes
      }
    }
    return undefined
  }

  private fail({ step, bytes }: Excess): never {
    const needed = `the result and what is still needed beside it take ${bytes} bytes or more`
    const message = `${needed}; a run may hold ${this.limit.bytes}`
    throw locate(new NodewiseError('limit-exceeded', message), step.call, this.plan.bound)
  }
}

function axesOf(fact: Fact | undefined, input: number): Axis[] {
  if (fact?.kind !== 'tensor') return []
  return (fact.shape ?? []).flatMap((dim, axis) => {
    if (!isSym(dim) || dim.terms.length !== 1) return []
    const [{ coefficient, atoms }] = dim.terms
    return coefficient === 1n && atoms.length === 1 ? [{ input, axis, key: atoms[0].key }] : []
  })
}

const sizedOf = (fact: Fact | undefined): Sized | undefined =>
  fact?.kind === 'tensor' && fact.type !== undefined && fact.shape !== undefined
    ? { type: fact.type, shape: fact.shape }
    : undefined

/** Undefined where that does not follow from sizes of inputs. */
function bytesOf({ type, shape }: Sized, sizes: Sizes): number | undefined {
  let count = 1
  for (const dim of shape) {
    const size = evaluateDim(dim, sizes)
    if (size === undefined || size < 0) return undefined
    count *= size
  }
  return memoryBytes(type, count)
}

const roundedUp = (size: number): number => (size <= 1 ? size : 2 ** Math.ceil(Math.log2(size)))
