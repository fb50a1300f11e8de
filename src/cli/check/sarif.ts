import { sep } from 'node:path'
import type {
  Artifact,
  ArtifactLocation,
  Location,
  Log,
  LogicalLocation,
  Notification,
  ReportingDescriptor,
  Result
} from 'sarif'
import { CODES, shortMeaning } from '../../check/codes.ts'
import type { NodewiseError, Place } from '../../errors.ts'
import type { Finding, FindingCode } from '../../graph/graph.ts'
import { printable } from '../../io/print.ts'
import { helpUri, HOME } from '../help/explain.ts'
import { graphPlace, isUrl, pathFrom } from '../places.ts'
import { isChecked, type Reporter, type ReportOptions } from './report.ts'

/**
 * The findings of all files in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS Standard). A file
 * that could not be checked is a notification. Findings that are ignored are left out: code-review tools do not know
 * `suppressions` and would show them.
 */
export function sarifReport({ version, folder }: Pick<ReportOptions, 'version' | 'folder'>): Reporter {
  const results: { readonly finding: Finding; readonly file: string; readonly fingerprint: string }[] = []
  const notifications: Notification[] = []
  const artifacts: Artifact[] = []
  return {
    add(outcome) {
      const { file } = outcome
      artifacts.push({ location: artifactOf(file, folder), roles: ['analysisTarget'] })
      if (isChecked(outcome))
        outcome.result.findings.forEach((finding, i) =>
          results.push({ finding, file, fingerprint: outcome.fingerprints[i] })
        )
      else notifications.push(notificationOf(outcome.error, file, folder))
    },
    end() {
      const codes = [...new Set(results.map(({ finding }) => finding.code))].sort()
      const failures = [...new Set(notifications.map(({ descriptor }) => descriptor?.id as FindingCode))].sort()
      const log: Log = {
        $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
        version: '2.1.0',
        runs: [
          {
            tool: {
              driver: {
                name: 'nodewise',
                version,
                informationUri: HOME,
                rules: codes.map(descriptorOf),
                ...(failures.length > 0 && { notifications: failures.map(descriptorOf) })
              }
            },
            invocations: [
              {
                executionSuccessful: notifications.length === 0,
                ...(notifications.length > 0 && { toolExecutionNotifications: notifications })
              }
            ],
            columnKind: 'utf16CodeUnits',
            artifacts,
            results: results.map(({ finding, file, fingerprint }) =>
              resultOf(finding, codes.indexOf(finding.code), fingerprint, file, folder)
            )
          }
        ]
      }
      return JSON.stringify(log, null, 2)
    }
  }
}

function descriptorOf(code: FindingCode): ReportingDescriptor {
  const [meaning, example] = CODES[code]
  return {
    id: code,
    shortDescription: { text: shortMeaning(code) },
    fullDescription: { text: meaning },
    help: { text: `${meaning}\nExample: ${example}`, markdown: `${meaning}\n\nExample: ${example}` },
    helpUri: helpUri(code)
  }
}

function notificationOf({ code, reason, place }: NodewiseError, file: string, folder: string): Notification {
  return {
    descriptor: { id: code },
    level: 'error',
    message: { text: literal(reason) },
    locations: [locationOf(place, place.file ?? file, folder)]
  }
}

function resultOf(
  { code, severity, message, declared, inferred, place }: Finding,
  ruleIndex: number,
  fingerprint: string,
  file: string,
  folder: string
): Result {
  return {
    ruleId: code,
    ruleIndex,
    level: severity,
    message: { text: literal(message) },
    locations: [locationOf(place, place.file ?? file, folder)],
    // The first is the name by which GitHub knows a finding again, the second one that others do not take for theirs.
    partialFingerprints: { primaryLocationLineHash: fingerprint, 'nodewise/v1': fingerprint },
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

function logicalOf(place: Place): LogicalLocation | undefined {
  const { node, layer, value } = place
  const way = printable(graphPlace(place))
  const name = value ?? node ?? layer
  if (way === '') return undefined
  return {
    ...(name !== undefined && name !== '' && { name: printable(name) }),
    fullyQualifiedName: way,
    kind: value === undefined ? 'object' : 'value'
  }
}

function artifactOf(file: string, folder: string): ArtifactLocation {
  if (isUrl(file)) return { uri: file }
  const path = pathFrom(folder, file)
  const uri = path.split('/').map(encodeURIComponent).join('/')
  // On Windows a file of another drive has no way from here.
  if (sep === '\\' && /^[a-z]:\//i.test(path)) return { uri: `file:///${uri}` }
  return path.startsWith('..') ? { uri } : { uri, uriBaseId: '%SRCROOT%' }
}
