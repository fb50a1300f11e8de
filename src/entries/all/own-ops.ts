import type { Op } from '../../op-kit/define.ts'

/** Operators of the caller's own. */
export interface OwnOps {
  /** Operators beside the built-in ones; they win over built-in ones of the same type. */
  readonly ops?: readonly Op[]
}
