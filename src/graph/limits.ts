import { fail, NodewiseError, type Place } from '../errors.ts'
import { scriptMemory } from '../host.ts'
import { MAX_RANK } from '../tensor/tensor.ts'

/** What a file may ask for before it is refused with `limit-exceeded`. Models in use stay far below every default. */
export interface Limits {
  /** Messages of protobuf inside each other. */
  readonly messageDepth: number
  /** Elements of XML inside each other. */
  readonly xmlDepth: number
  /** Bodies inside each other. */
  readonly graphDepth: number
  /** Calls of model-local functions inside each other. */
  readonly callDepth: number
  /** Nodes of a model once calls of functions are written out; layers of an IR. */
  readonly nodes: number
  /** Dims of a tensor; it can only be lowered. */
  readonly rank: number
  /** Faults that reading lists. */
  readonly findings: number
  /** Bytes of memory, roughly, that everything in a file but its weights may take. */
  readonly structureBytes: number
}

/** Depths are bounded by the stack. */
const MAX_DEPTH = 400

/** A heap that overflows ends the process: a file gets half of it at most. */
const MAX_STRUCTURE = 2 ** 31

export const defaultLimits = (): Limits => ({
  messageDepth: 100,
  xmlDepth: 100,
  graphDepth: 32,
  callDepth: 32,
  nodes: 1_000_000,
  rank: MAX_RANK,
  findings: 100_000,
  structureBytes: Math.min(MAX_STRUCTURE, Math.floor(scriptMemory() / 2))
})

/**
 * The defaults, with what is given in their place.
 * @throws NodewiseError `bad-usage` for a name that is no limit, and for a number that no limit can be
 */
export function limitsFrom(given: Partial<Limits> = {}): Limits {
  const limits: Record<string, number> = { ...defaultLimits() }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(limits, name))
      fail('bad-usage', `there is no limit "${name}"; there are ${Object.keys(limits).join(', ')}`)
    const most = name.endsWith('Depth') ? MAX_DEPTH : name === 'rank' ? MAX_RANK : Number.MAX_SAFE_INTEGER
    if (!Number.isSafeInteger(value) || value < 0 || value > most)
      fail('bad-usage', `the limit ${name} is a whole number from 0 to ${most}, not ${value}`)
    limits[name] = value
  }
  return limits as unknown as Limits
}

/** Fails because of a limit; what is said names it, so that whoever trusts the file knows what to raise. */
export function exceed(
  limit: keyof Limits,
  limits: Limits,
  what: string,
  place: Place = {},
  details: Readonly<Record<string, unknown>> = {}
): never {
  throw new NodewiseError('limit-exceeded', `${what} (limit ${limit})`, place, {
    ...details,
    limit,
    most: limits[limit]
  })
}
