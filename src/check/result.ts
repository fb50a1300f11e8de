import type { Finding, ValueId } from '../graph/graph.ts'

/** What `check` knows of a value. A dim is a number, or text: a name, an expression, an interval or `?`. */
export interface CheckedValue {
  readonly name: string
  /** Id of the value in its graph. */
  readonly id: ValueId
  /** Path of the graph, see `Graph.path`. */
  readonly graphPath: string
  /**
   * Inferred element type by its name in the format of the model (`f32`, `float32`), or the type of what is no tensor
   * (`seq(map(string,float32))`); absent where unknown.
   */
  readonly type?: string
  /** Inferred dims; absent where the rank is unknown, and for what is no tensor. */
  readonly dims?: readonly (number | string)[]
  /** Declared dims; absent where the file declares none. */
  readonly declaredDims?: readonly (number | string)[]
  /** Name of the node that makes it; absent for inputs and initializers. */
  readonly node?: string
  /** A remark: `only axis 1 fits the declared dims`. */
  readonly note?: string
}

/** Counts of a check: findings by severity, nodes and values. */
export interface CheckSummary {
  readonly errors: number
  readonly warnings: number
  readonly nodes: number
  readonly values: number
  /** Values of unknown rank. */
  readonly unknownShapes: number
  /** Values whose declaration is taken as true, since their operator is not supported or their node is faulty. */
  readonly unverified: number
}

/** What a check found. */
export interface CheckResult {
  /** Sorted by place. */
  readonly findings: readonly Finding[]
  readonly summary: CheckSummary
  readonly values: readonly CheckedValue[]
}
