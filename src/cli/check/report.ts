import type { CheckResult, CheckSummary } from '../../check/result.ts'
import type { Change } from '../../convert/edits/nodes.ts'
import type { NodewiseError } from '../../errors.ts'
import type { ByteSource } from '../../files/byte-source.ts'
import type { Model } from '../../graph/graph.ts'

/** Forms of a report. */
export type Format = 'text' | 'json' | 'sarif' | 'html' | 'github'

/** A file that was checked; its findings are those to report. */
export interface Checked {
  readonly file: string
  readonly model: Model
  readonly result: CheckResult
  /** Findings that were left out, as asked. */
  readonly ignored: number
  /** Findings that the baseline has and the file has no longer. */
  readonly gone: number
  /** One for each finding that is reported. */
  readonly fingerprints: readonly string[]
  /** What `--fix` replaced; undefined without it. */
  readonly changed?: readonly Change[]
  /** The file of the model where it is text. */
  readonly source: ByteSource | undefined
}

/** A file that could not be checked. */
export interface Unchecked {
  readonly file: string
  readonly error: NodewiseError
}

export type Outcome = Checked | Unchecked

export const isChecked = (outcome: Outcome): outcome is Checked => 'result' in outcome

/** Counts over all files of a command. */
export interface Totals extends CheckSummary {
  readonly files: number
  /** Of these files, those that could not be checked. */
  readonly failed: number
  readonly ignored: number
}

/** What a report is made with. */
export interface ReportOptions {
  /** The form for many files, also where there is one. */
  readonly isMany: boolean
  /** List all values too. */
  readonly withValues: boolean
  /** Only what counts as an error, and nothing where there is none. */
  readonly isQuiet: boolean
  /** Of this program. */
  readonly version: string
  /** The folder of the command. */
  readonly folder: string
}

/** Takes one file after the other, so that no model outlives its turn, and makes one report of all. */
export interface Reporter {
  add(outcome: Outcome): void
  /** @returns the report, without a line end after it; empty where nothing is to be said */
  end(totals: Totals): string
}

/** Sums up what becomes of files. */
export class Tally {
  readonly totals: Record<keyof Totals, number> = {
    files: 0,
    failed: 0,
    ignored: 0,
    errors: 0,
    warnings: 0,
    nodes: 0,
    values: 0,
    unknownShapes: 0,
    unverified: 0
  }

  add(outcome: Outcome): void {
    this.totals.files++
    if (!isChecked(outcome)) {
      this.totals.failed++
      return
    }
    this.totals.ignored += outcome.ignored
    for (const [key, count] of Object.entries(outcome.result.summary)) this.totals[key as keyof CheckSummary] += count
  }
}
