import type { DType } from 'nodewise'
import type { PlainRefusal } from '../refusal.ts'
import type { PlainTensor } from '../tensors/datatypes.ts'

/** How an instance of a model is made. */
export interface EngineOptions {
  /** The file of the model. */
  readonly path: string
  /** Threads of a run, its own included. */
  readonly threads: number
  /** Bytes that the tensors of a run may take. */
  readonly maxMemory?: number
  readonly precision?: 'fast' | 'exact'
}

/** An input or output that is a tensor. */
export interface ModelPort {
  readonly name: string
  /** Absent where nothing says it. */
  readonly type?: DType
  /** Sizes of the axes, -1 where a size is open; absent where the rank is not known. */
  readonly shape?: readonly number[]
  /** An input that has a default. */
  readonly isOptional?: true
}

/** What an instance tells of its model. */
export interface ModelInfo {
  readonly dialect: 'onnx' | 'openvino'
  readonly inputs: readonly ModelPort[]
  readonly outputs: readonly ModelPort[]
  /** Bytes of its weights in the file. */
  readonly weightBytes: number
  /** Why requests may not be joined along the first dim; absent where that is proven to change no answer. */
  readonly notBatched?: string
}

/** Inputs by name. */
export type PlainFeeds = Readonly<Record<string, PlainTensor>>

/** One request of a run. */
export interface Item {
  readonly feeds: PlainFeeds
  /** Names of outputs. */
  readonly fetches: readonly string[]
}

export type ItemResult =
  | { readonly outputs: Readonly<Record<string, PlainTensor>> }
  | { readonly refusal: PlainRefusal }

/** Milliseconds that a run took. */
export interface RunTimes {
  readonly input: number
  readonly infer: number
  readonly output: number
}

/** What a run gave. */
export interface Done {
  readonly results: readonly ItemResult[]
  readonly times: RunTimes
}

/** A run, and what stops it. */
export interface RunUnderWay {
  readonly done: Promise<Done>
  readonly stop: () => void
}

/** What runs a model: a thread, or this one. */
export interface Runner {
  /** Runs that it has been given and not answered. */
  readonly load: number
  run(items: readonly Item[], joined: boolean): RunUnderWay
}

/** What an engine is told. */
export type ToEngine =
  | { readonly kind: 'load'; readonly options: EngineOptions }
  /** Runs items, joined along their first dim where `joined`. */
  | { readonly kind: 'run'; readonly id: number; readonly items: readonly Item[]; readonly joined: boolean }
  | { readonly kind: 'abort'; readonly id: number }

/** What an engine answers. */
export type FromEngine =
  | { readonly kind: 'loaded'; readonly info: ModelInfo }
  | { readonly kind: 'failed'; readonly refusal: PlainRefusal }
  | { readonly kind: 'done'; readonly id: number; readonly results: readonly ItemResult[]; readonly times: RunTimes }

/** Either end of the way between the server and an engine. */
export interface Port<Sent, Received> {
  postMessage(message: Sent, transfer: ArrayBuffer[]): void
  on(event: 'message', listener: (message: Received) => void): unknown
}

/** Buffers of fewer bytes are copied: to hand one over takes longer. */
const WORTH_MOVING = 32 * 1024

/** Memory of tensors that the receiver may have; the sender must not use it any more. */
export function memoryOf(tensors: Iterable<PlainTensor>): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  for (const { data } of tensors) {
    if (Array.isArray(data) || !(data.buffer instanceof ArrayBuffer)) continue
    // A view of a part is copied: the rest may belong to another.
    if (data.byteLength === data.buffer.byteLength && data.byteLength >= WORTH_MOVING) buffers.add(data.buffer)
  }
  return [...buffers]
}
