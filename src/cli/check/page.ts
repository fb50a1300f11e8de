import type { CheckedValue } from '../../check/result.ts'
import { placeText } from '../../errors.ts'
import {
  codeHtml,
  type Count,
  countsOf,
  factLine,
  FindingCards,
  findingCounts,
  modelHeader,
  tiles,
  verdictOf
} from '../../report/findings.ts'
import { escaped, pageOf, rowHtml, tableHtml } from '../../report/html.ts'
import { STYLE } from '../../report/style.ts'
import { counted, dimsText } from '../terminal.ts'
import { isChecked, type Outcome, type Reporter, type ReportOptions, type Totals, type Unchecked } from './report.ts'

/** Values that are listed: a page must open on a phone. */
const MAX_VALUES = 20_000

/** The report as one page that needs nothing else: no script, no network. */
export function pageReport({ isMany, withValues }: Pick<ReportOptions, 'isMany' | 'withValues'>): Reporter {
  const rows: string[] = []
  const sections: string[] = []
  const cards = new FindingCards()
  let name = ''
  return {
    add(outcome) {
      const id = `f${rows.length + 1}`
      name = outcome.file
      rows.push(fileRow(outcome, id))
      const header = isMany ? `<h1 id="${id}">${escaped(outcome.file)}</h1>` : ''
      if (!isChecked(outcome)) {
        sections.push(header, failureCard(outcome))
        return
      }
      const { findings, values } = outcome.result
      if (!isMany) sections.push(`<header>${modelHeader(outcome, ...ignoredCount(outcome.ignored))}</header>`)
      else if (findings.length > 0 || withValues) sections.push(header)
      sections.push(...cards.of(outcome), ...(withValues ? [valueTable(values)] : []))
    },
    end(totals) {
      const title = `nodewise check: ${isMany ? counted(totals.files, 'file') : name}`
      return pageOf(title, STYLE, isMany ? [...manySummary(totals, rows), ...sections] : sections)
    }
  }
}

const failureCard = ({ file, error: { code, reason, place } }: Unchecked): string =>
  [
    `<article class="error"><h2><span>not checked</span> ${escaped(reason)}</h2>`,
    `<p class="place">${escaped(placeText({ file, ...place }))}</p>`,
    `${codeHtml(code)}</article>`
  ].join('')

const ignoredCount = (ignored: number): Count[] => (ignored > 0 ? [[ignored, 'ignored', 'none']] : [])

function manySummary(totals: Totals, rows: readonly string[]): string[] {
  const { files, failed, ignored, errors, warnings } = totals
  const counts = countsOf(
    errors,
    warnings,
    ...ignoredCount(ignored),
    ...(failed > 0 ? [[failed, `${failed === 1 ? 'file' : 'files'} not checked`, 'error'] as const] : [])
  )
  return [
    `<header><h1>nodewise check</h1><p>${escaped(verdictOf(errors))}</p>${tiles(counts)}`,
    `${factLine([counted(files, 'file')], totals)}</header>`,
    tableHtml([rowHtml(['file', 'errors', 'warnings', 'notes'], 'th'), ...rows])
  ]
}

function fileRow(outcome: Outcome, id: string): string {
  const cells = isChecked(outcome)
    ? findingCounts(outcome.result).map(([count, , look]) =>
        count > 0 ? `<td class="${look}">${count}</td>` : '<td>0</td>'
      )
    : ['<td class="error" colspan="3">not checked</td>']
  const isListed = !isChecked(outcome) || outcome.result.findings.length > 0
  const name = escaped(outcome.file)
  return `<tr><td>${isListed ? `<a href="#${id}">${name}</a>` : name}</td>${cells.join('')}</tr>`
}

function valueTable(values: readonly CheckedValue[]): string {
  const declared = (list: CheckedValue['dims']): string => (list === undefined ? '' : dimsText(list))
  const rows = values.slice(0, MAX_VALUES).map(({ name, graphPath, type, dims: inferred, declaredDims, note }) => {
    const path = graphPath === '' ? name : `${graphPath}/${name}`
    return rowHtml([path, type ?? '?', dimsText(inferred, type), declared(declaredDims), note ?? ''], 'td')
  })
  const rest =
    values.length > MAX_VALUES ? `<p>${escaped(`and ${counted(values.length - MAX_VALUES, 'more value')}`)}</p>` : ''
  return [
    `<details><summary>${counted(values.length, 'value')}</summary>`,
    tableHtml([rowHtml(['value', 'type', 'inferred', 'declared', ''], 'th'), ...rows]),
    `${rest}</details>`
  ].join('')
}
