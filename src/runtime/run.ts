import type { Node } from '../graph/graph.ts'
import type { SelectKernel, State } from '../op-kit/define.ts'
import type { Value } from '../tensor/tensor.ts'
import type { StepCounter } from './drive.ts'
import type { Budget } from './memory.ts'
import type { RepeatedBodies } from './repeated-bodies.ts'
import type { Weights } from './weights.ts'

/** A node that has run, and its values. */
export interface StepEvent {
  readonly node: Node
  /**
   * By input position; undefined where left out. Of a table that was read by the row there are only the rows that the
   * node read, ascending.
   */
  readonly inputs: readonly (Value | undefined)[]
  readonly outputs: readonly (Value | undefined)[]
  /**
   * Puts a value of the same type and dims in place of an output, for all that reads it from now on. The next node must
   * not have run.
   */
  replace(output: number, value: Value): void
  /** Milliseconds from the start of the run. */
  readonly start: number
  readonly milliseconds: number
}

/** What one run shares over all its graphs. */
export interface Run {
  readonly budget: Budget
  readonly state: State
  readonly random: (seed?: number) => () => number
  readonly overrides: Readonly<Record<string, unknown>>
  readonly threads: number
  /** Picks accelerated kernels. */
  readonly select: SelectKernel
  /** Constants that have been read, kept for the session. */
  readonly weights: Weights
  /** Bodies that have been recorded; left out where somebody watches the steps. */
  readonly repeatedBodies: RepeatedBodies | undefined
  readonly onStep: ((event: StepEvent) => void) | undefined
  /** For what the run waits for: says when the run is given up. */
  readonly signal: () => AbortSignal | undefined
  /** When the run started, in milliseconds, where somebody wants to know. */
  readonly started: number
  readonly steps: StepCounter
}
