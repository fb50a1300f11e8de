import { fail } from '../errors.ts'
import type { DType } from '../tensor/dtype.ts'
import { allocate, elementCount, isTensor, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'

/** What all runs of a session hold together. */
export interface CommonMemory {
  readonly bytes: number
  /** Lets go of so many bytes, if that many need not be held. */
  giveUp(bytes: number): boolean
}

/** Bytes that a run holds, counted by storage: tensors that share it count once. What it shares with other runs counts too. */
export class Budget {
  readonly limit: number
  private used = 0
  private readonly common: CommonMemory
  private readonly holders = new Map<unknown, { bytes: number; count: number }>()

  constructor(limit: number, common: CommonMemory) {
    this.limit = limit
    this.common = common
  }

  /** Whether so many bytes more may be held. */
  fits(bytes: number): boolean {
    return this.inUse + bytes <= this.limit
  }

  /**
   * Makes room, if it can.
   * @throws NodewiseError `limit-exceeded` where so many bytes more may not be held
   */
  require(bytes: number, what: () => string): void {
    if (this.fits(bytes) || this.common.giveUp(this.inUse + bytes - this.limit)) return
    fail('limit-exceeded', `${what()} takes ${bytes} bytes; ${this.inUse} of ${this.limit} are in use`)
  }

  private get inUse(): number {
    return this.used + this.common.bytes
  }

  /** @throws NodewiseError `limit-exceeded` before memory is taken */
  allocate(type: DType, dims: readonly number[]): Tensor {
    const bytes = memoryBytes(type, elementCount(dims))
    this.require(bytes, () => `a ${type} tensor of dims [${dims.join(', ')}]`)
    const tensor = allocate(type, dims)
    this.used += bytes
    this.holders.set(tensor.data, { bytes, count: 0 })
    return tensor
  }

  hold(value: Value | undefined): void {
    for (const { data } of tensorsIn(value)) {
      const holder = this.holders.get(data)
      if (holder) holder.count++
    }
  }

  release(value: Value | undefined): void {
    for (const { data } of tensorsIn(value)) {
      const holder = this.holders.get(data)
      if (holder && --holder.count <= 0) {
        this.used -= holder.bytes
        this.holders.delete(data)
      }
    }
  }
}

/** The tensors that a value is made of. */
export function tensorsIn(value: Value | undefined): readonly Tensor[] {
  if (value === undefined) return []
  if (isTensor(value)) return [value]
  return value.type === 'sequence' ? value.values.flatMap(tensorsIn) : tensorsIn(value.value)
}

/** What the process may still take, in bytes; 4 GiB where that cannot be asked. */
export function defaultMemory(): number {
  const available = typeof process === 'object' ? (process as { availableMemory?: () => number }).availableMemory?.() : undefined
  return available !== undefined && available > 0 ? available : 4 * 2 ** 30
}
