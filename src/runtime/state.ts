import type { State } from '../op-kit/define.ts'
import { storageOf } from '../tensor/room.ts'
import type { Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { type Budget, liesOnHeap, tensorsIn } from './memory.ts'
import { apartFrom, holds } from './outputs.ts'

/** The variables of a session, from run to run. What runs have made of them stays where it is, on the heap too. */
export class Variables {
  private readonly blocks: Blocks
  private readonly saved = new Map<string, Value>()

  constructor(blocks: Blocks) {
    this.blocks = blocks
  }

  /** Most models have none, and a run is to cost nothing for them. */
  get isEmpty(): boolean {
    return this.saved.size === 0
  }

  get values(): Iterable<Value> {
    return this.saved.values()
  }

  read(id: string): Value | undefined {
    return this.saved.get(id)
  }

  /** @param isForeign whether storage belongs to somebody else, so that a copy is saved */
  save(assigned: ReadonlyMap<string, Value>, isForeign: (data: unknown) => boolean): void {
    const before = this.onHeap()
    for (const [id, value] of assigned)
      this.saved.set(
        id,
        apartFrom(value, data => !(ArrayBuffer.isView(data) && before.has(data)) && isForeign(data))
      )
    const after = this.onHeap()
    for (const data of after) if (!before.has(data)) this.blocks.keep(data)
    for (const data of before) if (!after.has(data)) this.blocks.giveUp(data)
  }

  clear(): void {
    for (const data of this.onHeap()) this.blocks.giveUp(data)
    this.saved.clear()
  }

  private onHeap(): Set<ArrayBufferView> {
    const storages = [...this.saved.values()].flatMap(tensorsIn).map(storageOf)
    return new Set<ArrayBufferView>(storages.filter(data => liesOnHeap(data)))
  }
}

/** The session's variables as one run sees them. What the run assigns is kept when it ends well. */
export class RunState implements State {
  private readonly variables: Variables
  private readonly budget: Budget
  private assigned: Map<string, Value> | undefined

  constructor(variables: Variables, budget: Budget) {
    this.variables = variables
    this.budget = budget
  }

  read(id: string): Value | undefined {
    return this.variables.read(id)
  }

  write(id: string, value: Value): void {
    this.budget.hold(value)
    this.assigned ??= new Map()
    this.assigned.set(id, value)
  }

  /** @param inputs of the run, which are the caller's and must not be kept */
  settle(inputs: readonly (Value | undefined)[]): void {
    if (this.assigned === undefined) return
    // Other storage on the heap is that of constants.
    this.variables.save(
      this.assigned,
      data => holds(inputs, data) || (liesOnHeap(data) && !this.budget.mayGive(data, true))
    )
  }
}
