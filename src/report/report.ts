import type { CheckResult } from '../check/result.ts'
import type { Comparison } from '../compare/result.ts'
import { fail } from '../errors.ts'
import type { Finding, Model } from '../graph/graph.ts'
import { requireModel } from '../graph/require-model.ts'
import { requireOptions } from '../suggest.ts'
import { COMPARISON_STYLE, comparisonHeader, comparisonParts } from './comparison.ts'
import { FindingCards, modelHeader } from './findings.ts'
import { escaped, framed, pageOf, rowHtml, tableHtml } from './html.ts'
import { STYLE } from './style.ts'
import { counted } from './words.ts'

/** A table of a report. */
export interface ReportTable {
  readonly title: string
  /** What is to be said before the rows. */
  readonly notes?: readonly string[]
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The rows are behind the title, until it is pressed. */
  readonly isFolded?: boolean
}

/** What a report tells of a model; each part but the findings is there where it is given. */
export interface ReportParts {
  /** What `check` found. */
  readonly checked: CheckResult
  /** Findings that are told in place of those of `checked`, such as those of an earlier report. */
  readonly findings?: readonly Finding[]
  /** What else is known of the model, as names with their values. */
  readonly facts?: readonly (readonly [name: string, text: string])[]
  /** Pictures as SVG documents. They are shown as images, in which nothing runs and nothing is loaded. */
  readonly pictures?: readonly { readonly title: string; readonly svg: string }[]
  readonly tables?: readonly ReportTable[]
  /** What `compare` found of the model and another. */
  readonly comparison?: { readonly other: string; readonly result: Comparison }
}

const OWN_STYLE = `
body { max-width: 76rem }
main > section, main > article, header + header, details + header { margin: 2rem 0 1rem }
img { display: block; max-width: 100%; height: auto; margin: 0 auto }
th { color: var(--soft); font-weight: normal }
td:not(:first-child) { font-variant-numeric: tabular-nums }
summary { cursor: pointer; font-weight: bold }
`

/** Rows of a table that a page shows: it must open on a phone. */
const MAX_ROWS = 20_000

/**
 * What is known of a model as one HTML page that needs nothing else: no script, no network. Findings have their place,
 * the lines of the file where it is text, and what is around them with dims on the edges.
 * @throws NodewiseError `bad-usage` for what is no model, and without `checked`
 */
export function htmlReport(model: Model, parts: ReportParts): string {
  requireModel(model)
  requireOptions(parts)
  if (!parts.checked) fail('bad-usage', '`checked` is what `check` gives')
  const { checked, facts = [], pictures = [], tables = [], comparison } = parts
  const result = parts.findings ? withFindings(checked, parts.findings) : checked
  const source = model.dialect === 'openvino' ? model.source : undefined
  const own = facts.map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`)
  return pageOf(model.file, STYLE + COMPARISON_STYLE + OWN_STYLE, [
    `<header>${modelHeader({ model, result })}${own.length > 0 ? `<dl>${own.join('')}</dl>` : ''}</header>`,
    ...(pictures.length > 0 ? [`<div class="sides">${pictures.map(pictureHtml).join('')}</div>`] : []),
    ...new FindingCards().of({ model, result, source }),
    ...tables.map(tablePart),
    ...(comparison
      ? [comparisonHeader(comparison.result, model.file, comparison.other), ...comparisonParts(comparison.result)]
      : [])
  ])
}

/** The outcome of a check with other findings, and with their counts. */
const withFindings = (checked: CheckResult, findings: readonly Finding[]): CheckResult => {
  const count = (wanted: Finding['severity']): number => findings.filter(({ severity }) => severity === wanted).length
  return { ...checked, findings, summary: { ...checked.summary, errors: count('error'), warnings: count('warning') } }
}

function pictureHtml({ title, svg }: { readonly title: string; readonly svg: string }): string {
  // Half a surrogate pair is in no UTF-8.
  const address = `data:image/svg+xml,${encodeURIComponent(svg.replace(/\p{Surrogate}/gu, '\ufffd'))}`
  const name = escaped(title)
  return `<section><h2>${name}</h2>${framed(`<img alt="${name}" src="${escaped(address)}">`)}</section>`
}

function tablePart({ title, notes = [], head, rows, isFolded = false }: ReportTable): string {
  const more = rows.length - MAX_ROWS
  const body = [
    ...notes.map(note => `<p>${escaped(note)}</p>`),
    rows.length > 0
      ? tableHtml([rowHtml(head, 'th'), ...rows.slice(0, MAX_ROWS).map(cells => rowHtml(cells, 'td'))])
      : '',
    more > 0 ? `<p>${escaped(`and ${counted(more, 'more row')}`)}</p>` : ''
  ].join('')
  const name = escaped(title)
  return isFolded
    ? `<details><summary>${name}</summary>${body}</details>`
    : `<section><h2>${name}</h2>${body}</section>`
}
