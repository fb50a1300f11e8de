import type { PlainTensor } from '../tensors/datatypes.ts'

/**
 * Whether a client still waits. An AbortSignal takes 50 microseconds to make, as long as all else that a small request
 * costs.
 */
export class Presence {
  hasLeft = false
  /** Called when the client leaves. */
  onLeave: (() => void) | undefined

  leave(): void {
    if (this.hasLeft) return
    this.hasLeft = true
    this.onLeave?.()
  }
}

/** A request as both protocols say it. */
export interface InferRequest {
  readonly feeds: Readonly<Record<string, PlainTensor>>
  /** Names of outputs; all where there are none. */
  readonly fetches?: readonly string[]
  /** `performance.now()` at which the answer is too late. */
  readonly deadline?: number
  readonly client?: Presence
}

export type Outputs = Readonly<Record<string, PlainTensor>>
