import { createHash, timingSafeEqual } from 'node:crypto'
import type { Models } from './models/models.ts'
import { Refusal } from './refusal.ts'

/** Maxima of what a request may ask for. */
export interface RequestLimits {
  /** Bytes of a body, or of a message of gRPC. */
  readonly maxBody: number
  /** Bytes of JSON, or of typed contents in gRPC: both take many times their size in memory. */
  readonly maxJson: number
  /** Milliseconds in which a request must have been sent, and an answer be read further. */
  readonly ioTimeout: number
}

/** What both ports share. */
export interface Context {
  readonly models: Models
  readonly limits: RequestLimits
  /** Tokens of which each request must bear one; none: anybody may ask. */
  readonly tokens: readonly string[]
  /** Whether the server says that it is not ready, since it is going to end. */
  isDraining: boolean
  /** Whether it takes no new requests. */
  isEnding: boolean
  /** Whether models can be loaded and unloaded by requests. */
  readonly mayControl: boolean
  readonly bodies: Bodies
}

/** Whether every model is there and the server takes requests. */
export const isReady = ({ models, isDraining }: Context): boolean => !isDraining && models.isReady

/** Bytes of bodies that are held: more are refused. */
export class Bodies {
  private readonly most: number
  private held = 0

  constructor(most: number) {
    this.most = most
  }

  /**
   * Checks that there is room now, and takes none: bytes count when they have come, so that those who send nothing of
   * what they announce keep nobody out.
   * @throws Refusal `overloaded`
   */
  check(bytes: number): void {
    if (this.held + bytes > this.most)
      throw new Refusal('overloaded', `requests of ${this.held} bytes are under way; no more are taken now`, {
        retryAfter: 1
      })
  }

  /**
   * Takes room.
   * @throws Refusal `overloaded`
   */
  take(bytes: number): void {
    this.check(bytes)
    this.held += bytes
  }

  /** Gives room back. */
  free(bytes: number): void {
    this.held -= bytes
  }
}

/** The room of one request. */
export class Room {
  private readonly bodies: Bodies
  private held = 0

  constructor(bodies: Bodies) {
    this.bodies = bodies
  }

  /** @throws Refusal `overloaded` */
  take(bytes: number): void {
    this.bodies.take(bytes)
    this.held += bytes
  }

  /** Gives back all that it has taken. */
  free(): void {
    this.bodies.free(this.held)
    this.held = 0
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
export function refuseAtEnd({ isEnding }: Context): void {
  if (isEnding) throw new Refusal('not-ready', 'the server is ending', { retryAfter: 1 })
}

/** @throws Refusal `not-supported` */
export function refuseControl({ mayControl }: Context): void {
  if (!mayControl) throw new Refusal('not-supported', 'models are not loaded or unloaded by requests (--no-control)')
}
