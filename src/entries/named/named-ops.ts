import type { Op } from '../../op-kit/define.ts'

/** The operators that a model may use. */
export interface NamedOps {
  /** Operators of `nodewise/ops` and of the caller's own; where two are of the same type, the later wins. */
  readonly ops: readonly Op[]
}
