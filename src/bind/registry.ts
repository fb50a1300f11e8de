import type { Dialect } from '../graph/graph.ts'
import type { AnyOpVersion, Op } from '../op-kit/define.ts'

/** One binding row with the operator that it belongs to. */
export interface Binding {
  readonly op: Op
  readonly opVersion: AnyOpVersion
}

/** Operators indexed by (dialect, domain, type); rows in ascending `since`. */
export interface Registry {
  /** The row with the highest `since` that does not exceed `version`, unless it ended before. */
  find(dialect: Dialect, domain: string, type: string, version: number): Binding | undefined
  /** Every row, for `nodewise ops`. */
  list(): OpListing[]
}

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
      for (const row of op[dialect] ?? []) {
        const key = keyOf(dialect, row.domain ?? defaultDomain(dialect), row.type ?? op.name)
        fresh.set(key, [...(fresh.get(key) ?? []), { op, opVersion: row }])
      }
      for (const [key, bindings] of fresh) index.set(key, merge(index.get(key) ?? [], bindings))
    }
  }
  return {
    find(dialect, domain, type, version) {
      const binding = index
        .get(keyOf(dialect, domain, type))
        ?.filter(({ opVersion: row }) => row.since <= version)
        .at(-1)
      return binding && version <= (binding.opVersion.until ?? Infinity) ? binding : undefined
    },
    list() {
      return [...index].flatMap(([key, bindings]) => {
        const [dialect, domain, name] = key.split('|')
        return bindings.map(({ opVersion: row }, i) => {
          const until = row.until ?? (i + 1 < bindings.length ? bindings[i + 1].opVersion.since - 1 : undefined)
          return { name, dialect: dialect as Dialect, domain, since: row.since, ...(until !== undefined && { until }) }
        })
      })
    }
  }
}

const defaultDomain = (dialect: Dialect): string => (dialect === 'onnx' ? 'ai.onnx' : 'openvino')

const keyOf = (dialect: Dialect, domain: string, type: string): string => `${dialect}|${domain}|${type}`

const merge = (old: readonly Binding[], fresh: readonly Binding[]): Binding[] => {
  const since = new Set(fresh.map(({ opVersion: row }) => row.since))
  return [...old.filter(({ opVersion: row }) => !since.has(row.since)), ...fresh].sort(
    (a, b) => a.opVersion.since - b.opVersion.since
  )
}
