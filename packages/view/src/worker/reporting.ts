import { check, type Comparison, type Finding, htmlReport, type Model, type ReportParts } from 'nodewise'
import { shapesWith, type ShownFinding, type Sizes } from './facts.ts'
import type { Flat } from './flatten.ts'
import { valueTable } from './run-table.ts'
import type { Step } from './running.ts'

/** What the page has to tell in a report, beside what the engine knows itself. */
export interface ReportRequest extends Pick<ReportParts, 'facts' | 'pictures' | 'tables'> {
  /** The run, of which all values are listed. */
  readonly steps?: readonly Step[]
  /** Sizes of open dims that a user set. */
  readonly sizes: Sizes
  /** The findings of a report that is shown in place of the page's own. */
  readonly findings?: readonly ShownFinding[]
  /** Whether a comparison is shown. */
  readonly isCompared: boolean
}

/** A comparison with another model. */
export interface Compares {
  readonly other: string
  readonly result: Comparison
}

/** The open model, and what it was compared with last. */
export interface Reported {
  readonly model: Model
  readonly flat: Flat
  readonly compared?: Compares
}

/** The open model as one HTML page: what is known of it, and what is seen of it. */
export function reportOf(
  { model, flat, compared }: Reported,
  { sizes, findings, isCompared, steps, ...told }: ReportRequest
): string {
  const checked = check(model, sizes.size > 0 ? { inputShapes: shapesWith(model, sizes) } : {})
  return htmlReport(model, {
    ...told,
    checked,
    tables: [...(told.tables ?? []), ...(steps ? [valueTable(flat, steps)] : [])],
    // Codes of a report may be of a later version.
    ...(findings && { findings: findings as readonly Finding[] }),
    ...(isCompared && compared && { comparison: compared })
  })
}
