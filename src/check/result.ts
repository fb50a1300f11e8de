import type { Finding, ValueId } from '../graph/graph.ts'

/** What `check` knows of one value. Dims as text: a number, a name, an expression, an interval or `?`. */
export interface CheckedValue {
  readonly name: string
  /** Which value of which graph it is, see `Graph.path`. */
  readonly id: ValueId
  readonly graphPath: string
  /** Element type as the dialect writes it (`f32`, `float32`); absent when unknown. */
  readonly type?: string
  /** Inferred dims; absent when the rank is unknown. */
  readonly dims?: readonly (number | string)[]
  /** Dims that the file declares, where it does. */
  readonly declaredDims?: readonly (number | string)[]
  /** Name of the node that makes it; absent for inputs and initializers. */
  readonly node?: string
  /** What else can be said: `only axis 1 fits the declared dims`. */
  readonly note?: string
}

export interface CheckSummary {
  readonly errors: number
  readonly warnings: number
  readonly nodes: number
  readonly values: number
  /** Values of unknown rank. */
  readonly unknownShapes: number
  /** Values whose declaration is believed, since their operator is not supported here or its call is faulty. */
  readonly unverified: number
}

export interface CheckResult {
  /** Sorted by place. */
  readonly findings: readonly Finding[]
  readonly summary: CheckSummary
  readonly values: readonly CheckedValue[]
}
