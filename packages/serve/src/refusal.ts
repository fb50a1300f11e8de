import { basename } from 'node:path'
import { type ErrorCode, NodewiseError, type Place } from 'nodewise'

/** Codes of what the server refuses by itself; those of Nodewise stand beside them. */
export type RefusalCode =
  | 'bad-request'
  | 'unauthenticated'
  | 'unknown-model'
  | 'not-ready'
  | 'not-supported'
  | 'body-too-large'
  | 'queue-full'
  | 'overloaded'
  | 'deadline-exceeded'
  | 'cancelled'
  | 'worker-ended'
  | 'files-changed'
  | 'not-found'

/** Status numbers of gRPC, by their names in its documentation. */
const GRPC = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16
} as const

/** Statuses of HTTP and gRPC by code. Codes that are not here tell of inputs that do not fit: 400. */
const STATUS: Readonly<Record<string, readonly [number, keyof typeof GRPC]>> = {
  unauthenticated: [401, 'UNAUTHENTICATED'],
  'unknown-model': [404, 'NOT_FOUND'],
  'not-found': [404, 'UNIMPLEMENTED'],
  'missing-file': [404, 'NOT_FOUND'],
  'body-too-large': [413, 'RESOURCE_EXHAUSTED'],
  'limit-exceeded': [413, 'RESOURCE_EXHAUSTED'],
  'queue-full': [429, 'RESOURCE_EXHAUSTED'],
  // What nginx answers where a client has left; nobody reads it.
  cancelled: [499, 'CANCELLED'],
  aborted: [499, 'CANCELLED'],
  internal: [500, 'INTERNAL'],
  'not-supported': [501, 'UNIMPLEMENTED'],
  'unsupported-op': [501, 'UNIMPLEMENTED'],
  'unsupported-version': [501, 'UNIMPLEMENTED'],
  'not-ready': [503, 'UNAVAILABLE'],
  overloaded: [503, 'RESOURCE_EXHAUSTED'],
  'worker-ended': [503, 'UNAVAILABLE'],
  'files-changed': [503, 'UNAVAILABLE'],
  'deadline-exceeded': [504, 'DEADLINE_EXCEEDED']
}

/** What a refusal tells besides its code and text. */
export interface RefusalParts {
  readonly place?: Place
  readonly details?: Readonly<Record<string, unknown>>
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number
}

/** A failure as clients see it: of the server, or of Nodewise. It can be passed between threads by its fields. */
export class Refusal extends Error {
  readonly code: RefusalCode | ErrorCode
  readonly place: Place
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfter: number | undefined

  constructor(code: RefusalCode | ErrorCode, message: string, { place, details, retryAfter }: RefusalParts = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.place = place ?? {}
    this.details = details ?? {}
    this.retryAfter = retryAfter
  }

  /** Status of HTTP. */
  get status(): number {
    return STATUS[this.code]?.[0] ?? 400
  }

  /** Status of gRPC. */
  get grpc(): number {
    return GRPC[STATUS[this.code]?.[1] ?? 'INVALID_ARGUMENT']
  }
}

/** A refusal's fields, as threads pass them on. */
export interface PlainRefusal extends RefusalParts {
  readonly code: RefusalCode | ErrorCode
  readonly message: string
}

/** What can be copied to another thread of a refusal. */
export const plainRefusal = ({ code, message, place, details }: Refusal): PlainRefusal => ({
  code,
  message,
  place,
  details: JSON.parse(
    JSON.stringify(details, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  ) as Readonly<Record<string, unknown>>
})

export const refusalFrom = ({ code, message, ...parts }: PlainRefusal): Refusal => new Refusal(code, message, parts)

const withoutFolder = (place: Place): Place =>
  place.file === undefined ? place : { ...place, file: basename(place.file) }

/** Whatever was thrown, as clients may see it: without the folders of the server, and without internals. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof NodewiseError) {
    const shown = withoutFolder(error.place)
    const { message } = new NodewiseError(error.code, error.reason, shown)
    const details: Readonly<Record<string, unknown>> = error.details
    const { place } = details
    const isPlace = typeof place === 'object' && place !== null
    return new Refusal(error.code, message, {
      place: shown,
      details: isPlace ? { ...details, place: withoutFolder(place) } : details
    })
  }
  if (error instanceof RangeError) return new Refusal('limit-exceeded', error.message)
  return new Refusal('internal', 'internal error')
}

/** The body of a failed request: the protocol's `error`, with the code and the place. */
export const bodyOf = ({ message, code, place, details }: Refusal): object => ({
  error: message,
  code,
  ...(Object.keys(place).length > 0 && { place }),
  ...(Object.keys(details).length > 0 && { details })
})
