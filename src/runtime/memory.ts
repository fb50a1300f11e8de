import { fail } from '../errors.ts'
import type { DType } from '../tensor/dtype.ts'
import { allocate, elementCount, isTensor, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'

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
