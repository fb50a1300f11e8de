import { NodewiseError } from '../errors.ts'
import { allowListeners } from '../host.ts'

/** Bytes `[offset, offset + length)` of a file. */
export interface Range {
  readonly offset: number
  readonly length: number
}

/** Bytes of a file from `offset` on, and the memory that takes them. */
export interface Part {
  readonly offset: number
  readonly target: Uint8Array
}

/** Bytes that come asynchronously: over a network, from a `Blob`, or from a caller's own reader. */
export interface AsyncBytes {
  /** Name for messages. */
  readonly name: string
  readonly size: number
  /**
   * Reads into memory, near parts together and several at once. When it settles nothing is written any more.
   * @throws NodewiseError (as a rejection) `aborted` when the signal says so, and what reading throws
   */
  fill(parts: readonly Part[], signal?: AbortSignal): Promise<void>
}

/** Ends what {@link Remote.fetch} promised. */
export type Lease = () => void

/** What a byte source whose bytes come asynchronously can do beside reading those that are at hand. */
export interface Remote {
  /** Brings ranges to hand: until the lease ends they can be read. Those that are at hand are not read again. */
  fetch(ranges: readonly Range[], signal?: AbortSignal): Promise<Lease>
  /** Reads straight into memory, as {@link AsyncBytes.fill}. */
  fill(parts: readonly Part[], signal?: AbortSignal): Promise<void>
}

/** A read of bytes that are not at hand. */
export interface PendingRead {
  /** Brings what was missing to hand, and may read ahead. */
  settle(signal?: AbortSignal): Promise<Lease>
  /** What was missing; absent where the file has not been opened yet. */
  readonly missing?: { readonly remote: Remote; readonly range: Range }
}

const PENDING = Symbol('pending read')

/**
 * What a synchronous read of bytes that are not at hand throws. Who can wait settles the read and begins again; for
 * others it is the error that says so.
 */
export const notRead = (what: string, pending: PendingRead): NodewiseError =>
  // In the details, since errors are made anew where they get a place.
  new NodewiseError(
    'bad-usage',
    `${what} is read as it is needed; load it with { whole: true } to have all of it at hand`,
    {},
    // Not enumerable: it is not for those who print errors.
    Object.defineProperty({}, PENDING, { value: pending })
  )

/** The read that an error stands for; undefined for a failure. */
export const pendingRead = (error: unknown): PendingRead | undefined =>
  error instanceof NodewiseError
    ? ((error.details as Readonly<Record<symbol, unknown>>)[PENDING] as PendingRead | undefined)
    : undefined

/**
 * The result of synchronous work over bytes that may not be at hand: it begins anew when what it missed has come. So it
 * must do nothing that cannot be done again.
 */
export async function reading<T>(work: () => T, signal?: AbortSignal): Promise<T> {
  const leases: Lease[] = []
  try {
    for (;;) {
      try {
        return work()
      } catch (error) {
        const pending = pendingRead(error)
        if (pending === undefined) throw error
        leases.push(await pending.settle(signal))
      }
    }
  } finally {
    for (const end of leases) end()
  }
}

/** The error of what was given up because a signal said so. */
export const abortedBy = (signal: AbortSignal, file?: string): NodewiseError =>
  new NodewiseError('aborted', 'reading was aborted', file === undefined ? {} : { file }, {}, { cause: signal.reason })

/** @throws NodewiseError `aborted` where the signal has said so */
export function refuseAborted(signal: AbortSignal | undefined, file?: string): void {
  if (signal?.aborted) throw abortedBy(signal, file)
}

/** Calls a listener when a signal says so, at once where it has; the function that is returned forgets it. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener()
  else signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}

/** What a promise gives, but no later than a signal ends the waiting; what the promise stands for goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, file?: string): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => reject(abortedBy(signal, file)))
    promise.then(resolve, reject).finally(forget)
  })
}

/**
 * Does work for items, at most so many at once. After a failure the others are aborted, and it rejects when all of them
 * have settled.
 */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
  signal?: AbortSignal
): Promise<void> {
  const own = new AbortController()
  allowListeners(own.signal)
  const forget = onAbort(signal, () => own.abort(signal?.reason))
  let failure: { readonly error: unknown } | undefined
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      try {
        await work(items[next++], own.signal)
      } catch (error) {
        failure ??= { error }
        own.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane))
  forget()
  if (failure) throw failure.error
}
