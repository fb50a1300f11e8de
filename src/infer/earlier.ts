import type { Storage } from '../tensor/dtype.ts'
import type { Value } from '../tensor/tensor.ts'

/** What of an input a preparation depended on. */
export interface Seen {
  readonly type: string
  readonly dims: readonly number[]
  /** Set where its value was looked at. */
  readonly elements: Storage | undefined
}

/** Larger values are not compared: preparing again costs as much. */
export const MAX_ELEMENTS = 64

type Inputs = readonly (Value | undefined)[]
type SeenOfAll = readonly (Seen | undefined)[]

/**
 * What a call has been prepared for before, by dims and by the elements that were looked at: texts come in the same
 * lengths again, and iterations of a loop have the same dims whenever the loop runs.
 */
export class Earlier<T extends { readonly seen: SeenOfAll }> {
  private readonly most: number
  /** By hash, of which each has the last one; what has been here longest comes first. */
  private byHash: Map<number, T> | undefined

  /** @param most that are held */
  constructor(most: number) {
    this.most = most
  }

  /**
   * What was prepared for such inputs, if that is the one with their hash.
   * @param current says of which inputs elements are looked at
   */
  find(inputs: Inputs, current: T): T | undefined {
    return this.byHash?.get(hashOf(inputs, current.seen))
  }

  /** @param current the one before, which is not held yet where it was the only one */
  add(added: T, current: T): void {
    const byHash = (this.byHash ??= new Map([[hashOf(current.seen, current.seen), current]]))
    byHash.set(hashOf(added.seen, added.seen), added)
    if (byHash.size > this.most) byHash.delete(byHash.keys().next().value!)
  }
}

/** @param looked has elements where those of the input count */
function hashOf(inputs: Inputs | SeenOfAll, looked: SeenOfAll): number {
  let hash = inputs.length
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i]
    if (input === undefined || !('dims' in input)) {
      hash = mixed(hash, -1)
      continue
    }
    const { dims } = input
    hash = mixed(hash, dims.length)
    for (let axis = 0; axis < dims.length; axis++) hash = mixed(hash, dims[axis])
    if (looked[i]?.elements === undefined) continue
    const elements = 'elements' in input ? input.elements : input.data
    if (elements === undefined || elements.length > MAX_ELEMENTS) continue
    for (let k = 0; k < elements.length; k++) hash = mixed(hash, wholeOf(elements[k]))
  }
  return hash
}

/** Some whole number for an element, the same for the same one. */
function wholeOf(element: number | bigint | string): number {
  if (typeof element === 'bigint') return Number(BigInt.asIntN(32, element))
  return typeof element === 'string' ? element.length : Math.trunc(element * 65_536) | 0
}

/** One step of a multiplicative hash, by 2^32 over the golden ratio. */
function mixed(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e3779b1)
  return product ^ (product >>> 15)
}
