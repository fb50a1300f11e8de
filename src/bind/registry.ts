import { fail } from '../errors.ts'
import type { Dialect } from '../graph/graph.ts'
import { type AnyOpVersion, isBuiltIn, type Op } from '../op-kit/define.ts'
import { joined, libraryOf, type OpLibrary } from '../op-kit/library.ts'
import { problemOf } from '../op-kit/problem.ts'

/** An operator version with its operator. */
export interface Binding {
  readonly op: Op
  readonly opVersion: AnyOpVersion
}

/** Operators indexed by (dialect, domain, type); versions in ascending `since`. */
export interface Registry {
  /** The version with the highest `since` that does not exceed `version`; undefined where all are newer. */
  find(dialect: Dialect, domain: string, type: string, version: number): Binding | undefined
  /** Whether an ONNX operator of this type, of whatever domain, stands for other nodes. */
  expands(type: string): boolean
  /** Every version, for `nodewise ops`. */
  list(): OpListing[]
}

/** An operator version as `supportedOps` and `nodewise ops` list it. */
export interface OpListing {
  readonly name: string
  readonly dialect: Dialect
  readonly domain: string
  readonly since: number
  /** The last version before the next entry of the same type; left out for the newest. */
  readonly until?: number
}

/** Later operators win over earlier ones of the same type: a caller's own come last. */
export const createRegistry = (ops: readonly Op[]): Registry => registryOf(libraryOf(ops))

/**
 * The same for operators that a caller names.
 * @throws NodewiseError `bad-usage` for what is no list of operators
 */
export function namedRegistry(ops: readonly Op[]): Registry {
  requireOps(ops)
  return createRegistry(ops)
}

/** A registry that asks a library for the operators of a type when a node first has it. */
function registryOf(library: OpLibrary): Registry {
  const found = new Map<string, OfType>()
  const ofType = (type: string): OfType | undefined => {
    const known = found.get(type)
    if (known) return known
    const ops = library.ofType(type)
    // Of types without an operator a file may have any number.
    if (ops.length === 0) return undefined
    const fresh = { versions: indexOf(ops), expands: ops.some(op => op.expand && onnxTypes(op).includes(type)) }
    found.set(type, fresh)
    return fresh
  }
  return {
    expands: type => ofType(type)?.expands ?? false,
    find: (dialect, domain, type, version) =>
      ofType(type)
        ?.versions.get(keyOf(dialect, domain, type))
        ?.filter(({ opVersion }) => opVersion.since <= version)
        .at(-1),
    list: () => [...indexOf(library.all())].flatMap(([key, bindings]) => listed(key, bindings))
  }
}

/** The operators of one type of nodes. */
interface OfType {
  readonly versions: Index
  /** Whether an ONNX operator of the type stands for other nodes. */
  readonly expands: boolean
}

/** Versions by dialect, domain and type. */
type Index = ReadonlyMap<string, readonly Binding[]>

function indexOf(ops: readonly Op[]): Index {
  const index = new Map<string, Binding[]>()
  for (const op of ops)
    for (const dialect of ['onnx', 'openvino'] as const) {
      const fresh = new Map<string, Binding[]>()
      for (const opVersion of op[dialect] ?? []) {
        const key = keyOf(dialect, opVersion.domain ?? defaultDomain(dialect), opVersion.type ?? op.name)
        fresh.set(key, [...(fresh.get(key) ?? []), { op, opVersion }])
      }
      for (const [key, bindings] of fresh) index.set(key, merge(index.get(key) ?? [], bindings))
    }
  return index
}

const onnxTypes = ({ name, onnx = [] }: Op): string[] => onnx.map(({ type = name }) => type)

function listed(key: string, bindings: readonly Binding[]): OpListing[] {
  const [dialect, domain, name] = key.split('|')
  return bindings.map(({ opVersion: { since } }, i) => {
    const until = i + 1 < bindings.length ? bindings[i + 1].opVersion.since - 1 : undefined
    return { name, dialect: dialect as Dialect, domain, since, ...(until !== undefined && { until }) }
  })
}

/**
 * What gives a registry of standard operators and of a caller's own, which win over standard ones of the same type.
 * That of the standard ones alone is made once.
 */
export function registries(standard: OpLibrary): (own?: readonly Op[]) => Registry {
  let alone: Registry | undefined
  return (own = []) => {
    requireOps(own)
    return own.length === 0 ? (alone ??= registryOf(standard)) : registryOf(joined(standard, libraryOf(own)))
  }
}

const isOp = (op: unknown): boolean => typeof op === 'object' && op !== null

/** Operators of plain JavaScript may lack anything; what binds and infers trusts that nothing is missing. */
function requireOps(ops: readonly Op[]): void {
  if (!Array.isArray(ops) || !ops.every(isOp)) fail('bad-usage', '`ops` is a list of what `defineOp` gives')
  for (const op of ops as readonly Op[]) {
    const problem = isBuiltIn(op) ? undefined : problemOf(op)
    if (problem !== undefined) fail('bad-usage', `the operator ${JSON.stringify(String(op.name))} is none: ${problem}`)
  }
}

const defaultDomain = (dialect: Dialect): string => (dialect === 'onnx' ? 'ai.onnx' : 'openvino')

const keyOf = (dialect: Dialect, domain: string, type: string): string => `${dialect}|${domain}|${type}`

const merge = (old: readonly Binding[], fresh: readonly Binding[]): Binding[] => {
  const since = new Set(fresh.map(({ opVersion }) => opVersion.since))
  return [...old.filter(({ opVersion }) => !since.has(opVersion.since)), ...fresh].sort(
    (a, b) => a.opVersion.since - b.opVersion.since
  )
}
