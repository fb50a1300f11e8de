import { type AsyncBytes, type Part, reading, type Remote, unlessAborted } from '../files/remote.ts'
import type { Constant } from '../graph/graph.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { heapFree } from '../wasm/heap.ts'
import { liesOnHeap, onHeap } from './memory.ts'

/** Constants that are being read together, for all runs that need one of them. */
interface Batch {
  readonly done: Promise<void>
  readonly controller: AbortController
  readonly constants: readonly Constant[]
  waiting: number
}

/**
 * Constants on their way from files whose bytes come asynchronously. Runs of a session share what is on its way; it is
 * stopped when no run waits for it any more.
 */
export class Fetching {
  private readonly batches = new Map<Constant, Batch>()
  private readonly arrived: (constant: Constant, tensor: Tensor) => void
  private readonly lost: (constant: Constant) => void

  /**
   * @param arrived takes a constant that has come; what of it lies on the heap is its own from then on
   * @param lost is called for a constant that will not come
   */
  constructor(arrived: (constant: Constant, tensor: Tensor) => void, lost: (constant: Constant) => void) {
    this.arrived = arrived
    this.lost = lost
  }

  has(constant: Constant): boolean {
    return this.batches.has(constant)
  }

  /** Starts to read constants, none of which is on its way. */
  begin(constants: readonly Constant[]): void {
    const controller = new AbortController()
    const done = this.readAll(constants, controller).finally(() => this.forget(batch))
    // `wait` throws the failure: without this handler, Node would end the process where nobody waits.
    done.catch(() => undefined)
    const batch: Batch = { done, controller, constants, waiting: 0 }
    for (const constant of constants) this.batches.set(constant, batch)
  }

  /** Waits until constants have come that are on their way. */
  async wait(constants: readonly Constant[], signal: AbortSignal | undefined): Promise<void> {
    const batches = new Set(constants.flatMap(constant => this.batches.get(constant) ?? []))
    for (const batch of batches) batch.waiting++
    try {
      await unlessAborted(Promise.all([...batches].map(({ done }) => done)), signal)
    } finally {
      for (const batch of batches) if (--batch.waiting === 0) this.forget(batch)
    }
  }

  /**
   * Stops a batch for which no run waits any more; a run that needs its constants later begins anew. What has not come
   * is lost at once: that run must not be taken for the one that has been waiting, when reading ends.
   */
  private forget(batch: Batch): void {
    for (const constant of batch.constants) {
      if (this.batches.get(constant) !== batch) continue
      this.batches.delete(constant)
      this.lost(constant)
    }
    batch.controller.abort()
  }

  private async readAll(constants: readonly Constant[], controller: AbortController): Promise<void> {
    const targets = new Map<Constant, Target>()
    const parts = new Map<Remote, Part[]>()
    const { signal } = controller
    try {
      for (const constant of constants) {
        const remote = constant.raw?.source.remote
        // Others are read by themselves: elements that are not in the file as they are in memory.
        if (remote === undefined || constant.raw?.layout !== undefined) continue
        constant.verify?.()
        const target = targetOf(constant)
        targets.set(constant, target)
        parts.set(remote, [...(parts.get(remote) ?? []), { offset: constant.raw!.offset, target: target.bytes }])
      }
      await allSettled([...parts].map(([remote, wanted]) => (remote as Pick<AsyncBytes, 'fill'>).fill(wanted, signal)))
      for (const constant of constants) {
        const target = targets.get(constant)
        const tensor = target ? target.tensor() : await reading(() => constant.read(), signal)
        if (this.batches.get(constant)?.controller !== controller) continue
        targets.delete(constant)
        this.batches.delete(constant)
        this.arrived(constant, tensor)
      }
    } finally {
      for (const { bytes, isOnHeap } of targets.values()) if (isOnHeap) heapFree(bytes)
    }
  }
}

/** Memory that takes the bytes of a constant, and the tensor that they are. */
interface Target {
  readonly bytes: Uint8Array
  readonly isOnHeap: boolean
  readonly tensor: () => Tensor
}

function targetOf({ raw, type, dims }: Constant): Target {
  const tensor = onHeap(type, dims, false)
  if (tensor && liesOnHeap(tensor.data)) return { bytes: bytesOf(tensor.data), isOnHeap: true, tensor: () => tensor }
  const bytes = new Uint8Array(raw!.length)
  return { bytes, isOnHeap: false, tensor: () => tensorOfBytes(type, dims, bytes, 'onnx') }
}

/** Waits for all, since memory that one of them writes into may be freed after it; then the first failure counts. */
async function allSettled(promises: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(promises)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
