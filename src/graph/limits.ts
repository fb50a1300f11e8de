import { fail, NodewiseError, type Place } from '../errors.ts'
import { scriptMemory } from '../host.ts'
import { requireOptions } from '../suggest.ts'
import { MAX_RANK } from '../tensor/tensor.ts'

/**
 * Maxima of what a file may contain; a file beyond one is refused with `limit-exceeded`. Models in use stay far below
 * every default.
 */
export interface Limits {
  /** Nesting depth of protobuf messages. */
  readonly messageDepth: number
  /** Nesting depth of XML elements. */
  readonly xmlDepth: number
  /** Nesting depth of bodies. */
  readonly graphDepth: number
  /** Nesting depth of calls of model-local functions. */
  readonly callDepth: number
  /** Nodes of a model after its calls of functions are expanded; layers of an IR. */
  readonly nodes: number
  /** Dims of a tensor. This limit can only be lowered. */
  readonly rank: number
  /** Findings of reading the file. */
  readonly findings: number
  /** Approximate bytes of memory of all parts of a file but its weights. */
  readonly structureBytes: number
}

/** Names of the options of `load`, which those who make a session from a file may give it, too. */
export const LOAD_OPTIONS = [
  'dataRoot',
  'externalData',
  'name',
  'limits',
  'docs',
  'signal',
  'network',
  'onProgress',
  'whole'
] as const

/** Upper bound of limits of depth: nested parts are read recursively, and the stack is finite. */
const MAX_DEPTH = 400

/** Bounds of the default for `structureBytes`, half of the JavaScript heap: no Node starts with less than the first. */
const MIN_STRUCTURE = 2 ** 20
const MAX_STRUCTURE = 2 ** 31

export const defaultLimits = (): Limits => ({
  messageDepth: 100,
  xmlDepth: 100,
  graphDepth: 32,
  callDepth: 32,
  nodes: 1_000_000,
  rank: MAX_RANK,
  findings: 100_000,
  // Asked for when it is needed: Node loads modules for the answer, at the cost of a tenth of a start.
  get structureBytes() {
    return Math.max(MIN_STRUCTURE, Math.min(MAX_STRUCTURE, Math.floor(scriptMemory() / 2)))
  }
})

/** What the limit `structureBytes` is at least: the limit itself, or less where that would have to be asked for. */
export function leastStructure(limits: Limits): number {
  const isAsked = Object.getOwnPropertyDescriptor(limits, 'structureBytes')?.get === undefined
  return isAsked ? limits.structureBytes : MIN_STRUCTURE
}

/**
 * All limits: those given, and the defaults of the others.
 * @throws NodewiseError `bad-usage` for a name that is no limit, and for a number that a limit cannot be
 */
export function limitsFrom(given: { readonly [L in keyof Limits]?: Limits[L] | undefined } = {}): Limits {
  requireOptions(given)
  const limits = defaultLimits()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    if (!Object.hasOwn(limits, name))
      fail('bad-usage', `there is no limit "${name}"; there are ${Object.keys(limits).join(', ')}`)
    const max = name.endsWith('Depth') ? MAX_DEPTH : name === 'rank' ? MAX_RANK : Number.MAX_SAFE_INTEGER
    if (!Number.isSafeInteger(value) || value < 0 || value > max)
      fail('bad-usage', `the limit ${name} is a whole number from 0 to ${max}, not ${value}`)
    Object.defineProperty(limits, name, { value, enumerable: true })
  }
  return limits
}

/**
 * Throws `limit-exceeded`. The message names the limit, so that a user who trusts the file knows which one to raise.
 */
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
