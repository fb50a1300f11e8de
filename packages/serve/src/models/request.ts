import type { PlainTensor } from '../tensors/datatypes.ts'

/** A request as both protocols say it. */
export interface InferRequest {
  readonly feeds: Readonly<Record<string, PlainTensor>>
  /** Names of outputs; all where there are none. */
  readonly fetches?: readonly string[]
  /** `performance.now()` at which the answer is too late. */
  readonly deadline?: number
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal
}

export type Outputs = Readonly<Record<string, PlainTensor>>
