import type { State } from '../op-kit/define.ts'
import type { Value } from '../tensor/tensor.ts'
import { type Budget, liesOnHeap } from './memory.ts'
import { apartFrom, holds } from './outputs.ts'

/** The session's variables as one run sees them. What the run assigns is kept when it ends well. */
export class RunState implements State {
  private readonly saved: Map<string, Value>
  private readonly budget: Budget
  private assigned: Map<string, Value> | undefined

  constructor(saved: Map<string, Value>, budget: Budget) {
    this.saved = saved
    this.budget = budget
  }

  read(id: string): Value | undefined {
    return this.saved.get(id)
  }

  write(id: string, value: Value): void {
    this.budget.hold(value)
    this.assigned ??= new Map()
    this.assigned.set(id, value)
  }

  /** @param inputs of the run, which are the caller's and must not be kept */
  settle(inputs: readonly (Value | undefined)[]): void {
    for (const [id, value] of this.assigned ?? [])
      this.saved.set(
        id,
        apartFrom(value, data => holds(inputs, data) || liesOnHeap(data))
      )
  }
}
