import type { OpListing, Registry } from '../bind/registry.ts'
import { allTypes } from '../bind/schema.ts'
import { reasonOf } from '../bind/unsupported.ts'
import { NodewiseError } from '../errors.ts'
import type { Dialect } from '../graph/graph.ts'
import { didYouMean } from '../suggest.ts'
import { hasAcceleratedKernel } from '../wasm/select.ts'
import { EXIT } from './failure.ts'
import { type OpsFlags, registryOf } from './own-ops.ts'
import { print, table, type Terminal } from './terminal.ts'

/** What stands in files as nodes without being computed: constants, and the inputs and outputs of an IR. */
const STRUCTURAL: readonly OpListing[] = [
  { name: 'Constant', dialect: 'onnx', domain: 'ai.onnx', since: 1 },
  ...['Const', 'Parameter', 'Result'].map(name => ({
    name,
    dialect: 'openvino' as const,
    domain: 'openvino',
    since: 1
  }))
]

/** Every version of every operator, sorted by dialect, domain, name and version. */
export const listOps = (registry = registryOf({})): OpListing[] =>
  [...registry.list(), ...STRUCTURAL].sort(
    (a, b) =>
      compare(a.dialect, b.dialect) || compare(a.domain, b.domain) || compare(a.name, b.name) || a.since - b.since
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An operator of the tables that is not supported. */
interface Missing {
  readonly name: string
  readonly dialect: Dialect
  readonly domain: string
  readonly versions: readonly number[]
  readonly reason: string
}

/** What the standards and ONNX Runtime define and Nodewise lacks, sorted like {@link listOps}. */
function listMissing(registry: Registry): Missing[] {
  const structural = new Set(STRUCTURAL.map(({ dialect, domain, name }) => keyOf(dialect, domain, name)))
  return (['onnx', 'openvino'] as const).flatMap(dialect =>
    allTypes(dialect)
      .filter(({ domain, type }) => !structural.has(keyOf(dialect, domain, type)))
      .map(({ domain, type, versions }) => ({
        name: type,
        dialect,
        domain,
        versions: versions.filter(version => !registry.find(dialect, domain, type, version)),
        reason: reasonOf(domain, type) ?? 'not written yet'
      }))
      .filter(({ versions }) => versions.length > 0)
      .sort((a, b) => compare(a.domain, b.domain) || compare(a.name, b.name))
  )
}

/** Those of a list that have no kernel in WebAssembly of their own. */
const listPlain = (list: readonly OpListing[], registry: Registry): OpListing[] =>
  list.filter(({ dialect, domain, name, since }) => {
    const binding = registry.find(dialect, domain, name, since)
    return binding !== undefined && !hasAcceleratedKernel(binding.op.name)
  })

const keyOf = (dialect: Dialect, domain: string, name: string): string => `${dialect}|${domain}|${name}`

/**
 * `nodewise ops`
 * @param names the operators to list, in any case; all where there are none
 */
export function ops(
  names: readonly string[],
  flags: OpsFlags & { json?: boolean; missing?: boolean; plain?: boolean },
  terminal: Terminal
): number {
  const { json, missing, plain } = flags
  const registry = registryOf(flags)
  const [supported, absent] = [listOps(registry), listMissing(registry)]
  const wanted = new Set(names.map(name => name.toLowerCase()))
  const isWanted = ({ name }: { readonly name: string }): boolean => wanted.size === 0 || wanted.has(name.toLowerCase())
  const lacking = absent.filter(isWanted)
  const found = (plain ? listPlain(supported, registry) : supported).filter(isWanted)
  const [listed, lines] = missing
    ? [lacking, () => missingLines(lacking)]
    : [found, () => table([HEADER, ...merged(found)])]
  if (listed.length === 0 && !supported.some(isWanted)) refuse(names, supported, absent)
  print(terminal, json ? JSON.stringify(listed, undefined, 2) : lines().join('\n'))
  return EXIT.yes
}

function refuse(names: readonly string[], supported: readonly OpListing[], absent: readonly Missing[]): never {
  const [first] = names
  const known = absent.find(({ name }) => name.toLowerCase() === first.toLowerCase())
  if (known) throw new NodewiseError('unsupported-op', `${known.name} is not supported: ${known.reason}`)
  const near = didYouMean(
    first,
    supported.map(({ name }) => name)
  )
  throw new NodewiseError('unsupported-op', `there is no operator "${first}"${near}`)
}

const HEADER = ['name', 'dialect', 'domain', 'versions']

/** Operators below the reason that they share, since most share one. */
function missingLines(list: readonly Missing[]): string[] {
  const [head, ...lines] = table([
    HEADER,
    ...list.map(({ name, dialect, domain, versions }) => [name, dialect, domain, versions.join(', ')])
  ]).map(line => `  ${line}`)
  const byReason = new Map<string, string[]>()
  list.forEach(({ reason }, i) => {
    const lined = byReason.get(reason)
    if (lined) lined.push(lines[i])
    else byReason.set(reason, [lines[i]])
  })
  return [head, ...[...byReason].flatMap(([reason, lined]) => ['', `${reason}:`, ...lined])]
}

/** One line an operator: `1-12, 13-`. */
function merged(list: readonly OpListing[]): string[][] {
  const lines = new Map<string, string[]>()
  for (const { name, dialect, domain, since, until } of list) {
    const key = JSON.stringify([dialect, domain, name])
    const versions = until === undefined ? `${since}-` : since === until ? `${since}` : `${since}-${until}`
    const line = lines.get(key)
    if (line) line[3] += `, ${versions}`
    else lines.set(key, [name, dialect, domain, versions])
  }
  return [...lines.values()]
}
