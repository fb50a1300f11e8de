import { storageOf } from '../tensor/room.ts'
import type { Value } from '../tensor/tensor.ts'
import type { Blocks } from './blocks.ts'
import { liesOnHeap, tensorsIn } from './memory.ts'
import { overlap, type Targets } from './outputs.ts'

/**
 * Sessions by memory that they have lent: a session is not collected while such memory is in use, since its memory
 * would go with it.
 */
export const owners = new WeakMap<object, object>()

/** Outputs that lie on the heap and that the caller reads there, until the session's next run with views begins. */
export class LentViews {
  private readonly owner: object
  private readonly blocks: Blocks
  private storages: readonly ArrayBufferView[] = []

  /**
   * @param owner the session
   * @param blocks where the memory of views is kept
   */
  constructor(owner: object, blocks: Blocks) {
    this.owner = owner
    this.blocks = blocks
  }

  /** @param values that the caller gets and that lie in no memory of his own */
  lend(values: readonly Value[]): void {
    const lent = values
      .flatMap(tensorsIn)
      .map(storageOf)
      .filter(data => liesOnHeap(data))
    for (const data of lent) {
      this.blocks.keep(data)
      owners.set(data, this.owner)
    }
    this.storages = [...this.storages, ...lent]
  }

  /**
   * They are void, and their memory is free once no run is under way. Those that the caller gives to write into stay
   * his until the next time.
   * @returns memory of those that are void
   */
  takeBack(targets: Targets): ReadonlySet<unknown> {
    const isTarget = (data: unknown): boolean => targets.some(target => target && overlap(target.tensor.data, data))
    const kept = targets.length === 0 ? [] : this.storages.filter(isTarget)
    const taken = new Set(kept.length === 0 ? this.storages : this.storages.filter(data => !kept.includes(data)))
    for (const data of taken) this.blocks.giveUp(data)
    this.storages = kept
    return taken
  }

  /** The caller gives memory back: it may soon be somebody else's, from whom {@link takeBack} must not take it. */
  forget({ byteOffset }: ArrayBufferView): void {
    this.storages = this.storages.filter(data => data.byteOffset !== byteOffset)
  }
}
