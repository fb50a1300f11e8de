import type { Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'

/** Outputs of bodies that their operator has not given up yet. */
export class Holds {
  private readonly counts = new Map<Value, number>()
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  add(values: readonly Value[]): void {
    for (const value of values) this.counts.set(value, (this.counts.get(value) ?? 0) + 1)
  }

  release(values: readonly Value[]): void {
    for (const value of values) {
      const count = this.counts.get(value) ?? 0
      if (count === 0) continue
      this.budget.release(value)
      if (count > 1) this.counts.set(value, count - 1)
      else this.counts.delete(value)
    }
  }

  releaseAll(): void {
    for (const [value, count] of this.counts) for (let i = 0; i < count; i++) this.budget.release(value)
    this.counts.clear()
  }
}
