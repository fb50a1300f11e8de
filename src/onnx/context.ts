import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Finding, FindingCode } from '../graph/graph.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { Payload } from './skim.ts'

/** What every part of a file's reading needs of the file. */
export interface FileContext {
  /** Name for places. */
  readonly file: string
  readonly source: ByteSource
  /** Where the elements of tensors lie, by number. */
  readonly payloads: readonly Payload[]
  /** Another file that holds elements, by its location as written; it is looked for when it is first read. */
  external(location: string): ByteSource
  readonly limits: Limits
  /** How many inputs and outputs each model-local function has, by its key. */
  readonly signatures: ReadonlyMap<string, { readonly inputs: number; readonly outputs: number }>
  /** Findings so far, of all graphs. */
  readonly counts: { findings: number }
}

/**
 * Adds a finding to those of a graph.
 * @throws NodewiseError `limit-exceeded` when the file has too many
 */
export function addFinding(findings: Finding[], finding: Finding, { limits, counts }: FileContext): void {
  if (++counts.findings > limits.findings)
    exceed('findings', limits, `the file has more than ${limits.findings} faults`, finding.place)
  findings.push(finding)
}

/** What has a place, made when it is asked for: files have many parts and few faults. */
export interface Located {
  readonly place: Place
}

/** Something wrong with a part of a file, before it is known where that part stands. */
export interface Problem {
  readonly code: FindingCode
  /** `error` when left out. */
  readonly severity?: 'error' | 'warning'
  readonly message: string
}

/** The problem of an element type that has no number in this version of ONNX, or that this program does not have. */
export const unknownType = (title: string, code: number): Problem => ({
  code: 'unknown-type',
  message: code === 0 ? `${title} has no element type` : `${title} has element type ${code}, which is not known`
})
