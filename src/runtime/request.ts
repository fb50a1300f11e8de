import type { Plan } from '../plan/plan.ts'
import type { Forecast } from './forecast.ts'
import type { Settled } from './settled.ts'

/** What a run is asked for: one plan serves all runs that ask for the same. */
export interface Asked {
  readonly names: readonly string[]
  readonly outOfRange: 'error' | 'zero' | undefined
  /** Somebody sees the values of every node. */
  readonly isObserved: boolean
}

/** What is made once for all runs that ask for the same. Its names are a copy: the caller may change its own list. */
export interface Request extends Asked {
  readonly overrides: Readonly<Record<string, unknown>>
  readonly plan: Plan
  readonly forecast: Forecast
  /** Not where somebody sees the values of every node. */
  readonly settled: Settled | undefined
}

/** Whether what serves one run serves another. */
export const asksFor = (known: Asked, { names, outOfRange, isObserved }: Asked): boolean =>
  known.outOfRange === outOfRange && known.isObserved === isObserved && areSameNames(known.names, names)

const areSameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, i) => name === b[i])
