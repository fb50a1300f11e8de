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

  /** @param isForeign whether storage that no variable has belongs to somebody else, so that a copy is saved */
  save(assigned: ReadonlyMap<string, Value>, isForeign: (data: unknown) => boolean): void {
    const own = new Set<unknown>(this.storages())
    const before = this.onHeap()
    for (const [id, value] of assigned)
      this.saved.set(
        id,
        apartFrom(value, data => !own.has(data) && isForeign(data))
      )
    const after = this.onHeap()
    for (const data of after) if (!before.has(data)) this.blocks.keep(data)
    for (const data of before) if (!after.has(data)) this.blocks.giveUp(data)
  }

  clear(): void {
    for (const data of this.onHeap()) this.blocks.giveUp(data)
    this.saved.clear()
  }

  private storages(): readonly unknown[] {
    return [...this.saved.values()].flatMap(tensorsIn).map(storageOf)
  }

  private onHeap(): Set<ArrayBufferView> {
    return new Set<ArrayBufferView>(this.storages().filter(data => liesOnHeap(data)))
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

  /** Whether a variable has this storage, or gets it when the run ends. */
  holds(data: unknown): boolean {
    const { assigned, variables } = this
    if (variables.isEmpty && assigned === undefined) return false
    return holds(variables.values, data) || (assigned !== undefined && holds(assigned.values(), data))
  }

  /** Saves what has been assigned: as it is where the run has made it, else, as of an input or a target, a copy. */
  settle(): void {
    if (this.assigned !== undefined) this.variables.save(this.assigned, data => !this.budget.mayGive(data, true))
  }
}
