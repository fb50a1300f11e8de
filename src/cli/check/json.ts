import type { CheckedValue } from '../../check/result.ts'
import { type Json, stringifyExact } from '../../io/json-text.ts'
import { failureJson } from '../failure.ts'
import { type Checked, isChecked, type Outcome, type Reporter, type ReportOptions } from './report.ts'

/** The report for programs: of one file as an object, of many as `{"files": […], "summary"}`. */
export function jsonReport({ isMany, withValues }: ReportOptions): Reporter {
  const files: Json[] = []
  return {
    add: outcome => files.push(outcomeJson(outcome, withValues)),
    end(totals) {
      const { ignored, ...summary } = totals
      const document = isMany ? { files, summary: { ...summary, ...(ignored > 0 && { ignored }) } } : files[0]
      return stringifyExact(document, 2)
    }
  }
}

const outcomeJson = (outcome: Outcome, withValues: boolean): Json =>
  isChecked(outcome)
    ? checkedJson(outcome, withValues)
    : { model: outcome.file, ...(failureJson(outcome.error) as { error: Json }) }

function checkedJson(
  { model, result: { findings, summary, values }, ignored, changed }: Checked,
  withValues: boolean
): Json {
  return {
    model: model.file,
    findings: findings.map(({ code, severity, message, declared, inferred, place }) => ({
      code,
      severity,
      message,
      declared: declared ?? null,
      inferred: inferred ?? null,
      place: place as Json
    })),
    summary: { ...summary, ...(ignored > 0 && { ignored }) },
    ...(withValues && { values: values.map(valueJson) }),
    ...(changed && { changed: changed.map(change => ({ ...change })) })
  }
}

const valueJson = ({ name, type, dims, declaredDims, node, note }: CheckedValue): Json => ({
  name,
  type: type ?? null,
  dims: dims === undefined ? null : [...dims],
  declaredDims: declaredDims === undefined ? null : [...declaredDims],
  node: node ?? null,
  ...(note !== undefined && { note })
})
