import type { Call } from '../bind/call.ts'
import type { Made, NewAttributes, NewNode, Writer } from '../op-kit/conversion.ts'

/** A writer that also tells how a new node was bound. */
export interface NodeWriter extends Writer {
  /** Adds a node; also returns it as a call, so that its parameters can be compared. */
  add(
    type: string,
    inputs: readonly (Made | undefined)[],
    attributes: NewAttributes,
    how: NewNode
  ): { readonly values: readonly Made[]; readonly call: Call }
}
