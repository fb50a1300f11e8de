import { createHash, timingSafeEqual } from 'node:crypto'
import type { Models } from './models/models.ts'
import { Refusal } from './refusal.ts'

/** Maxima of what a request may ask for. */
export interface RequestLimits {
  /** Bytes of a body, or of a message of gRPC. */
  readonly maxBody: number
  /** Bytes of JSON, or of typed contents in gRPC: both take many times their size in memory. */
  readonly maxJson: number
  /** Bytes of all bodies that are held at the same time. */
  readonly maxBodies: number
}

/** What both ports share. */
export interface Context {
  readonly models: Models
  readonly limits: RequestLimits
  /** Tokens of which each request must bear one; none: anybody may ask. */
  readonly tokens: readonly string[]
  /** Whether the server has begun to end. */
  isDraining: boolean
  /** Whether models can be loaded and unloaded by requests. */
  readonly mayControl: boolean
  readonly bodies: Bodies
}

/** Whether every model is there and the server takes requests. */
export const isReady = ({ models, isDraining }: Context): boolean => !isDraining && models.isReady

/** Bytes of bodies that are held: more are refused before they are read. */
export class Bodies {
  private readonly most: number
  private held = 0

  constructor(most: number) {
    this.most = most
  }

  /**
   * Takes room for a body.
   * @returns gives the room back; may be called twice
   * @throws Refusal `overloaded`
   */
  take(bytes: number): () => void {
    if (this.held + bytes > this.most)
      throw new Refusal('overloaded', `requests of ${this.held} bytes are under way; no more are taken now`, {
        retryAfter: 1
      })
    this.held += bytes
    let isTaken = true
    return () => {
      if (isTaken) this.held -= bytes
      isTaken = false
    }
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Checks the `Authorization` of a request. Digests are compared, in constant time.
 * @throws Refusal `unauthenticated`
 */
export function authenticate({ tokens }: Context, header: unknown): void {
  if (tokens.length === 0) return
  const [, token] = (typeof header === 'string' ? /^Bearer +(\S+)$/i.exec(header) : null) ?? []
  const given = digest(token ?? '')
  let isKnown = false
  for (const one of tokens) if (timingSafeEqual(digest(one), given)) isKnown = true
  if (token === undefined || !isKnown) throw new Refusal('unauthenticated', 'a known bearer token is needed')
}

/** @throws Refusal `not-ready` while the server ends; requests that are under way are answered */
export function refuseWhileDraining({ isDraining }: Context): void {
  if (isDraining) throw new Refusal('not-ready', 'the server is ending', { retryAfter: 1 })
}

/** @throws Refusal `not-supported` */
export function refuseControl({ mayControl }: Context): void {
  if (!mayControl) throw new Refusal('not-supported', 'models are not loaded or unloaded by requests (--no-control)')
}
