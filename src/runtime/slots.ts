import type { Constant } from '../graph/graph.ts'
import type { Value } from '../tensor/tensor.ts'

/** What a slot holds: a constant until it has been read. */
export type Slot = Value | Constant | undefined

/** What the slots of a plan hold. */
export type Slots = Slot[]

export const isConstant = (held: Value | Constant): held is Constant => 'read' in held
