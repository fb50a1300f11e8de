import type { Dialect } from '../graph/graph.ts'
import type { AnyOpVersion, Op } from '../op-kit/define.ts'

/** An operator version with its operator. */
export interface Binding {
  readonly op: Op
  readonly opVersion: AnyOpVersion
}

/** Operators indexed by (dialect, domain, type); versions in ascending `since`. */
export interface Registry {
  /** The version with the highest `since` that does not exceed `version`, unless it ended before. */
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
  readonly until?: number
}

/** Later operators win over earlier ones of the same type: a caller's own come last. */
export function createRegistry(ops: readonly Op[]): Registry {
  const index = new Map<string, Binding[]>()
  for (const op of ops) {
    for (const dialect of ['onnx', 'openvino'] as const) {
      const fresh = new Map<string, Binding[]>()
      for (const opVersion of op[dialect] ?? []) {
        const key = keyOf(dialect, opVersion.domain ?? defaultDomain(dialect), opVersion.type ?? op.name)
        fresh.set(key, [...(fresh.get(key) ?? []), { op, opVersion }])
      }
      for (const [key, bindings] of fresh) index.set(key, merge(index.get(key) ?? [], bindings))
    }
  }
  const expanding = new Set(
    ops.flatMap(({ name, expand, onnx = [] }) => (expand ? onnx.map(({ type = name }) => type) : []))
  )
  return {
    expands: type => expanding.has(type),
    find(dialect, domain, type, version) {
      return index
        .get(keyOf(dialect, domain, type))
        ?.filter(({ opVersion }) => opVersion.since <= version)
        .at(-1)
    },
    list() {
      return [...index].flatMap(([key, bindings]) => {
        const [dialect, domain, name] = key.split('|')
        return bindings.map(({ opVersion }, i) => {
          const until = i + 1 < bindings.length ? bindings[i + 1].opVersion.since - 1 : undefined
          return {
            name,
            dialect: dialect as Dialect,
            domain,
            since: opVersion.since,
            ...(until !== undefined && { until })
          }
        })
      })
    }
  }
}

/**
 * What gives a registry of standard operators and of a caller's own, which win over standard ones of the same type.
 * That of the standard ones alone is made once.
 */
export function registries(standard: readonly Op[]): (own?: readonly Op[]) => Registry {
  let alone: Registry | undefined
  return (own = []) => (own.length === 0 ? (alone ??= createRegistry(standard)) : createRegistry([...standard, ...own]))
}

const defaultDomain = (dialect: Dialect): string => (dialect === 'onnx' ? 'ai.onnx' : 'openvino')

const keyOf = (dialect: Dialect, domain: string, type: string): string => `${dialect}|${domain}|${type}`

const merge = (old: readonly Binding[], fresh: readonly Binding[]): Binding[] => {
  const since = new Set(fresh.map(({ opVersion }) => opVersion.since))
  return [...old.filter(({ opVersion }) => !since.has(opVersion.since)), ...fresh].sort(
    (a, b) => a.opVersion.since - b.opVersion.since
  )
}
