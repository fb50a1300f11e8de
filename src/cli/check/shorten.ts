import type { CheckedValue, CheckResult } from '../../check/result.ts'
import type { Place } from '../../errors.ts'

/** Characters of a name in a report; what it is cut to where a report has so many that they would make it endless. */
const MAX_LENGTH = 1000
const MIN_LENGTH = 64
const MAX_CHARACTERS = 2 ** 24

/**
 * The result with names and messages cut: every finding of a node repeats the node's name, so that a file of a
 * megabyte, most of it one name, would make a report of gigabytes.
 */
export function shortened(result: CheckResult): CheckResult {
  const { findings, summary } = result
  const longest = Math.max(
    MIN_LENGTH,
    Math.min(MAX_LENGTH, Math.floor(MAX_CHARACTERS / (findings.length + summary.values + 1)))
  )
  const cut = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest)}…`)
  let values: readonly CheckedValue[] | undefined
  return {
    summary,
    findings: findings.map(finding => ({
      ...finding,
      message: cut(finding.message),
      place: shortPlace(finding.place, cut)
    })),
    // Few ask for the list.
    get values() {
      return (values ??= result.values.map(value =>
        value.node === undefined ? value : { ...value, node: cut(value.node) }
      ))
    }
  }
}

const shortPlace = (place: Place, cut: (text: string) => string): Place =>
  Object.fromEntries(
    Object.entries(place).map(([key, value]) => [key, typeof value === 'string' && key !== 'file' ? cut(value) : value])
  )
