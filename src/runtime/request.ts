import type { ValueId } from '../graph/graph.ts'
import type { Plan } from '../plan/plan.ts'
import type { Value } from '../tensor/tensor.ts'
import type { Forecast } from './forecast.ts'
import type { Settled } from './settled.ts'

/** What a run is asked for: one plan serves all runs that ask for the same. */
export interface Asked {
  readonly names: readonly string[]
  readonly outOfRange: 'error' | 'zero' | undefined
  /** Somebody sees the values of every node. */
  readonly isObserved: boolean
  /**
   * Inputs with initializers that are given all the same, in the model's order; others are constants. Undefined where
   * no input has an initializer.
   */
  readonly replaced: readonly ValueId[] | undefined
  /** Inputs of branches that are given without elements, see `absentAmong`. */
  readonly absent?: readonly ValueId[] | undefined
}

/** What is made once for all runs that ask for the same. Its names are a copy: the caller may change its own list. */
export interface Request extends Asked {
  readonly overrides: Readonly<Record<string, unknown>>
  readonly plan: Plan
  readonly forecast: Forecast
  /** Undefined where the caller sees the values of every node. */
  readonly settled: Settled | undefined
  /** Plans for elements of inputs that decide which branches are taken, and plans for dims that may do so. */
  readonly byValues: SpecialRequests | undefined
  readonly byDims: SpecialRequests | undefined
}

/** Requests for inputs of which more is known than the file says. */
export interface SpecialRequests {
  /** Those that have been made. */
  all(): readonly Request[]
  /**
   * @param given values of the inputs, by position
   * @param settled of the request that these are an alternative to
   * @returns undefined where there is none for these inputs
   */
  requestFor(given: readonly (Value | undefined)[], settled: Settled): Generator<void, Request | undefined>
}

/** Whether what serves one run serves another. */
export const asksFor = (known: Asked, { names, outOfRange, isObserved, replaced, absent }: Asked): boolean =>
  known.outOfRange === outOfRange &&
  known.isObserved === isObserved &&
  (known.replaced === replaced || areSame(known.replaced ?? [], replaced ?? [])) &&
  (known.absent === absent || areSame(known.absent ?? [], absent ?? [])) &&
  areSame(known.names, names)

const areSame = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i])
