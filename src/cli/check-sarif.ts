import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Artifact, ArtifactLocation, Location, Log, LogicalLocation, ReportingDescriptor, Result } from 'sarif'
import { CODES } from '../check/codes.ts'
import type { CheckResult } from '../check/result.ts'
import type { Place } from '../errors.ts'
import type { Finding } from '../graph/graph.ts'
import { printable } from '../io/print.ts'

export interface SarifOptions {
  /** The model's file as the caller gave it. */
  readonly file: string
  /** Of this program. */
  readonly version: string
  /** Locations are given relative to this folder, as code-review tools want them. */
  readonly folder: string
}

/** The findings in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS Standard). */
export function checkSarif({ findings }: CheckResult, { file, version, folder }: SarifOptions): Log {
  const codes = [...new Set(findings.map(({ code }) => code))].sort()
  const rules = codes.map((code): ReportingDescriptor => ({ id: code, shortDescription: { text: CODES[code] } }))
  const model = artifactOf(file, folder)
  const artifacts: Artifact[] = [{ location: model, roles: ['analysisTarget'] }]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'nodewise', version, rules } },
        columnKind: 'utf16CodeUnits',
        artifacts,
        results: findings.map(finding => resultOf(finding, codes.indexOf(finding.code), file, folder))
      }
    ]
  }
}

function resultOf(
  { code, severity, message, declared, inferred, place }: Finding,
  ruleIndex: number,
  file: string,
  folder: string
): Result {
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: literal(message) },
    locations: [locationOf(place, place.file ?? file, folder)],
    ...((declared ?? inferred) !== undefined && {
      properties: { ...(declared !== undefined && { declared }), ...(inferred !== undefined && { inferred }) }
    })
  }
}

/** Message strings have a syntax of their own: braces are placeholders and brackets before a parenthesis are links. */
const literal = (text: string): string =>
  printable(text)
    .replace(/[{}]/g, '$&$&')
    .replace(/\](?=\()/g, '\\]')

function locationOf(place: Place, file: string, folder: string): Location {
  const { line, column } = place
  const logical = logicalOf(place)
  return {
    physicalLocation: {
      artifactLocation: artifactOf(file, folder),
      ...(line !== undefined && { region: { startLine: line, ...(column !== undefined && { startColumn: column }) } })
    },
    ...(logical && { logicalLocations: [logical] })
  }
}

/**
 * The place within the graph: `12:then_branch/3/Gather_5/y` is the value y of node 3, Gather_5, of the branch of node
 * 12.
 */
function logicalOf({ graphPath, node, nodeIndex, layer, port, value }: Place): LogicalLocation | undefined {
  const index = nodeIndex ?? layer
  const parts = [graphPath, index, node, port === undefined ? undefined : `port ${port}`, value]
    .filter(part => part !== undefined && part !== '')
    .map(part => printable(`${part}`))
  const name = value ?? node ?? layer
  if (parts.length === 0) return undefined
  return {
    ...(name !== undefined && name !== '' && { name: printable(name) }),
    fullyQualifiedName: parts.join('/'),
    kind: value === undefined ? 'object' : 'value'
  }
}

function artifactOf(file: string, folder: string): ArtifactLocation {
  if (/^(https?|file):/i.test(file)) return { uri: file }
  const path = relative(folder, resolve(folder, file))
  // On Windows a file of another drive has no way from here.
  if (isAbsolute(path)) return { uri: `file:///${encoded(path)}` }
  return path.startsWith('..') ? { uri: encoded(path) } : { uri: encoded(path), uriBaseId: '%SRCROOT%' }
}

const encoded = (path: string): string => path.split(sep).map(encodeURIComponent).join('/')
