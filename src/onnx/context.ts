import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Finding, FindingCode } from '../graph/graph.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { Payload } from './skim.ts'

/** What reading any part of a file needs to know of the file. */
export interface FileContext {
  /** Name of the file, for places. */
  readonly file: string
  readonly source: ByteSource
  /** Where the elements of tensors are; `TensorProto.payload` has indices into this list. */
  readonly payloads: readonly Payload[]
  /** A file of external data by its location as the model writes it; it is opened when it is first read. */
  external(location: string): ByteSource
  readonly limits: Limits
  /** How many inputs and outputs each model-local function has, by `functionKey`. */
  readonly signatures: ReadonlyMap<string, { readonly inputs: number; readonly outputs: number }>
  /** Number of findings so far, in all graphs. */
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

/** Part of a file. Implementations compute `place` in a getter, since files have many parts and few faults. */
export interface Located {
  readonly place: Place
}

/** A finding without its place: what is wrong with a part of a file, for callers that know where the part is. */
export interface Problem {
  readonly code: FindingCode
  /** `error` when left out. */
  readonly severity?: 'error' | 'warning'
  readonly message: string
}

/** The problem that `TensorProto.data_type` or `elem_type` has a number that is not known. */
export const unknownType = (title: string, code: number): Problem => ({
  code: 'unknown-type',
  message: code === 0 ? `${title} has no element type` : `${title} has element type ${code}, which is not known`
})
