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

/**
 * An empty map of inputs by name. It inherits nothing, so that any name is but a name; an object without any prototype
 * would be a hash table to V8, which takes several times as long to walk.
 */
export const noFeeds = (): Record<string, PlainTensor> => new Feeds() as unknown as Record<string, PlainTensor>
const Feeds = function () {} as unknown as new () => object
Feeds.prototype = Object.create(null) as object

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
