import { fail } from '../errors.ts'
import type { DType } from '../tensor/dtype.ts'
import { allocate, elementCount, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'

/** Bytes that a run holds, counted by storage: tensors that share it count once. */
export class Budget {
  readonly limit: number
  private used = 0
  private readonly holders = new Map<unknown, { bytes: number; count: number }>()

  constructor(limit: number) {
    this.limit = limit
  }

  /** @throws NodewiseError `limit-exceeded` before memory is taken */
  allocate(type: DType, dims: readonly number[]): Tensor {
    const bytes = memoryBytes(type, elementCount(dims))
    if (this.used + bytes > this.limit) {
      fail('limit-exceeded', `a ${type} tensor of dims [${dims.join(', ')}] takes ${bytes} bytes; ${this.used} of ${this.limit} are in use`)
    }
    const tensor = allocate(type, dims)
    this.used += bytes
    this.holders.set(tensor.data, { bytes, count: 0 })
    return tensor
  }

  hold(value: Value | undefined): void {
    const holder = this.holderOf(value)
    if (holder) holder.count++
  }

  release(value: Value | undefined): void {
    const holder = this.holderOf(value)
    if (holder && --holder.count <= 0) {
      this.used -= holder.bytes
      this.holders.delete((value as Tensor).data)
    }
  }

  private holderOf(value: Value | undefined): { bytes: number; count: number } | undefined {
    return value !== undefined && 'data' in value ? this.holders.get(value.data) : undefined
  }
}

/** What the process may still take, in bytes; 4 GiB where that cannot be asked. */
export function defaultMemory(): number {
  const available = typeof process === 'object' ? (process as { availableMemory?: () => number }).availableMemory?.() : undefined
  return available !== undefined && available > 0 ? available : 4 * 2 ** 30
}
