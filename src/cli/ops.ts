import type { OpListing } from '../bind/registry.ts'
import { supportedOps } from '../index.ts'
import { EXIT } from './failure.ts'
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
export const listOps = (): OpListing[] =>
  [...supportedOps(), ...STRUCTURAL].sort(
    (a, b) =>
      compare(a.dialect, b.dialect) || compare(a.domain, b.domain) || compare(a.name, b.name) || a.since - b.since
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** `nodewise ops` */
export function ops({ json }: { json?: boolean }, terminal: Terminal): number {
  const list = listOps()
  if (json) print(terminal, JSON.stringify(list, undefined, 2))
  else print(terminal, table([['name', 'dialect', 'domain', 'versions'], ...merged(list)]).join('\n'))
  return EXIT.yes
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
