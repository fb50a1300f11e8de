import { type Plan, slotsReadBy } from '../plan/plan.ts'
import { copyArray } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { areSameDims, isTensor, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'
import { unreadTensor } from '../tensor/unread.ts'

/** Bytes from which on a copy takes longer than a kernel does to ask each time where an operand lies. */
const MIN_IN_PLACE = 1 << 14

const NOTHING = new Uint8Array()

/** A value that each run of a recording gives: copied to a place of its own, or read where it lies. */
export class RecordedInput {
  readonly slot: number
  /** What steps read. */
  readonly tensor: Tensor
  /** Elements of a value that is read where it lies, while a run is under way. */
  data: Tensor['data'] = NOTHING
  private readonly place: Tensor | undefined
  private readonly stays: boolean
  /** What lies in its place, where that stays. */
  private taken: Tensor | undefined

  /**
   * @param place where it is copied to; left out: steps read it where it lies
   * @param stays whether it is still there when a run has ended
   */
  constructor(slot: number, given: Tensor, place?: Tensor, stays = false) {
    this.slot = slot
    this.place = place
    this.stays = stays
    this.tensor = place ?? unreadTensor({ type: given.type, dims: given.dims.slice() }, () => this)
    this.take(given)
  }

  /**
   * Takes the value of a run.
   * @param isSameCall whether the run before was for the same call, while which no tensor changes
   * @returns false where it has other dims
   */
  take(given: Tensor, isSameCall = false): boolean {
    if (isSameCall && this.taken === given) return true
    const { place, tensor } = this
    const { data, dims } = given
    if (!areSameDims(dims, tensor.dims)) return false
    if (place) copyArray(data as NumericArray, place.data as NumericArray)
    else this.data = data
    if (this.stays) this.taken = given
    return true
  }

  /** The run has ended: the value is the caller's. */
  letGo(): void {
    this.data = NOTHING
  }
}

/**
 * Slots of given values that need no place of their own: one step reads them, by the kernel of its operator, which does
 * not ask where they lie. Caches that a decoder extends are such.
 */
export function readInPlace({ steps, outputs }: Plan, given: ReadonlyMap<number, Value>): ReadonlySet<number> {
  const readers = new Map<number, number>()
  const isBySelection = new Set<number>()
  for (const step of steps)
    for (const slot of slotsReadBy(step)) {
      readers.set(slot, (readers.get(slot) ?? 0) + 1)
      if (step.memo.kept?.selection) isBySelection.add(slot)
    }
  const isInPlace = ([slot, value]: readonly [number, Value]): boolean =>
    isTensor(value) &&
    memoryBytes(value.type, value.size) >= MIN_IN_PLACE &&
    readers.get(slot) === 1 &&
    !isBySelection.has(slot) &&
    !outputs.includes(slot)
  return new Set([...given].filter(isInPlace).map(([slot]) => slot))
}
