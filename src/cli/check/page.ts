import type { CheckedValue, CheckResult } from '../../check/result.ts'
import { placeText } from '../../errors.ts'
import type { ByteSource } from '../../files/byte-source.ts'
import type { Finding } from '../../graph/graph.ts'
import { drawNeighbourhood } from '../draw/around-node.ts'
import { escaped, pageOf } from '../draw/html.ts'
import { neighbourFinder, type Neighbourhood } from '../draw/neighbours.ts'
import { STYLE } from '../draw/style.ts'
import { shortMeaning } from '../help/explain.ts'
import { counted, dimsText } from '../terminal.ts'
import { excerptAt } from './excerpt.ts'
import {
  type Checked,
  isChecked,
  type Outcome,
  type Reporter,
  type ReportOptions,
  type Totals,
  type Unchecked
} from './report.ts'

const SEVERITIES = ['error', 'warning', 'note'] as const
/** Findings that are drawn, and those that are listed at all: a page must open on a phone. */
const MAX_DRAWN = 300
const MAX_LISTED = 2000
const MAX_VALUES = 20_000

/** The report as one page that needs nothing else: no script, no network. */
export function pageReport({ isMany, withValues }: Pick<ReportOptions, 'isMany' | 'withValues'>): Reporter {
  const rows: string[] = []
  const sections: string[] = []
  let [drawn, listed] = [0, 0]
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
      const { findings } = outcome.result
      if (!isMany) sections.push(`<header>${fileSummary(outcome)}</header>`)
      else if (findings.length > 0 || withValues) sections.push(header)
      const cards = cardsOf(outcome, MAX_DRAWN - drawn, MAX_LISTED - listed)
      drawn += Math.min(findings.length, MAX_DRAWN)
      listed += findings.length
      sections.push(...cards, ...(withValues ? [valueTable(outcome.result.values)] : []))
    },
    end(totals) {
      const title = `nodewise check: ${isMany ? counted(totals.files, 'file') : name}`
      return pageOf(title, STYLE, isMany ? [...manySummary(totals, rows), ...sections] : sections)
    }
  }
}

/** Findings of a file by severity, as far as the page has room for them. */
function cardsOf({ model, result, source }: Checked, drawn: number, listed: number): string[] {
  const find = neighbourFinder(model, result)
  const sorted = SEVERITIES.flatMap(severity => result.findings.filter(finding => finding.severity === severity))
  const more = sorted.length - Math.max(0, listed)
  return [
    ...sorted
      .slice(0, Math.max(0, listed))
      .map((finding, i) =>
        i < drawn
          ? card(finding, source && finding.place.file === model.file ? source : undefined, find(finding.place))
          : card(finding, undefined, undefined)
      ),
    ...(more > 0 ? [`<p>${escaped(`and ${counted(more, 'more finding')}; --format json lists all`)}</p>`] : [])
  ]
}

const failureCard = ({ file, error: { code, reason, place } }: Unchecked): string =>
  [
    `<article class="error"><h2><span>not checked</span> ${escaped(reason)}</h2>`,
    `<p class="place">${escaped(placeText({ file, ...place }))}</p>`,
    `<p class="code"><code>${code}</code>: ${escaped(shortMeaning(code))}</p></article>`
  ].join('')

const FALSE = 'What is declared cannot all be true.'
const NOTHING = 'Nothing that is declared was found to be false.'

const fileSummary = ({ model, result, ignored }: Checked): string =>
  [
    `<h1>${escaped(model.file)}</h1><p>${escaped(result.summary.errors > 0 ? FALSE : NOTHING)}</p>`,
    tiles(countsOf(result, ignored)),
    factLine([model.dialect === 'onnx' ? 'ONNX' : 'OpenVINO IR'], result.summary)
  ].join('')

const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`)

type Count = readonly [count: number, name: string, look: string]

function countsOf({ findings, summary: { errors, warnings } }: CheckResult, ignored: number): Count[] {
  const notes = findings.filter(({ severity }) => severity === 'note').length
  return [
    [errors, plural('error', errors), 'error'],
    [warnings, plural('warning', warnings), 'warning'],
    [notes, plural('note', notes), 'note'],
    ...(ignored > 0 ? [[ignored, 'ignored', 'none'] as const] : [])
  ]
}

const tiles = (counts: readonly Count[]): string => {
  const items = counts.map(
    ([count, name, look]) => `<li class="${count > 0 ? look : 'none'}"><b>${count}</b> ${name}</li>`
  )
  return `<ul class="tiles">${items.join('')}</ul>`
}

const factLine = (
  first: readonly string[],
  { nodes, values, unknownShapes, unverified }: CheckResult['summary']
): string => {
  const facts = [
    counted(nodes, 'node'),
    counted(values, 'value'),
    `${counted(unknownShapes, 'value')} of unknown rank`,
    `${counted(unverified, 'value')} not verified`
  ]
  return `<p class="facts">${escaped([...first, ...facts].join(', '))}</p>`
}

function manySummary(totals: Totals, rows: readonly string[]): string[] {
  const { files, failed, ignored, errors, warnings } = totals
  const counts: Count[] = [
    [errors, plural('error', errors), 'error'],
    [warnings, plural('warning', warnings), 'warning'],
    ...(ignored > 0 ? [[ignored, 'ignored', 'none'] as const] : []),
    ...(failed > 0 ? [[failed, `${plural('file', failed)} not checked`, 'error'] as const] : [])
  ]
  return [
    `<header><h1>nodewise check</h1><p>${escaped(errors > 0 ? FALSE : NOTHING)}</p>${tiles(counts)}`,
    `${factLine([counted(files, 'file')], totals)}</header>`,
    '<div class="drawing"><table><tr><th>file</th><th>errors</th><th>warnings</th><th>notes</th></tr>',
    `${rows.join('\n')}</table></div>`
  ]
}

function fileRow(outcome: Outcome, id: string): string {
  const cells = isChecked(outcome)
    ? countsOf(outcome.result, 0).map(([count, , look]) =>
        count > 0 ? `<td class="${look}">${count}</td>` : '<td>0</td>'
      )
    : ['<td class="error" colspan="3">not checked</td>']
  const isListed = !isChecked(outcome) || outcome.result.findings.length > 0
  const name = escaped(outcome.file)
  return `<tr><td>${isListed ? `<a href="#${id}">${name}</a>` : name}</td>${cells.join('')}</tr>`
}

function card(finding: Finding, source: ByteSource | undefined, neighbourhood: Neighbourhood | undefined): string {
  const { severity, code, message, place, declared, inferred } = finding
  const where = [
    placeText({
      ...place,
      ...(place.nodeIndex === undefined && place.graphPath !== undefined && { node: place.node ?? place.graphPath })
    }),
    place.value === undefined || message.includes(`"${place.value}"`) ? '' : `value "${place.value}"`
  ]
    .filter(text => text !== '')
    .join(', ')
  const compared =
    declared === undefined && inferred === undefined
      ? ''
      : [
          `<dl><dt>declared</dt><dd class="declared">${escaped(declared ?? 'nothing')}</dd>`,
          `<dt>inferred</dt><dd class="inferred">${escaped(inferred ?? 'nothing')}</dd></dl>`
        ].join('')
  const drawing = neighbourhood ? `<div class="drawing">${drawNeighbourhood(neighbourhood)}</div>` : ''
  return [
    `<article class="${severity}"><h2><span>${severity}</span> ${escaped(message)}</h2>`,
    `<p class="place">${escaped(where)}</p>${compared}${excerptHtml(source, finding)}${drawing}`,
    `<p class="code"><code>${code}</code>: ${escaped(shortMeaning(code))}</p></article>`
  ].join('')
}

function excerptHtml(source: ByteSource | undefined, { place }: Finding): string {
  const excerpt = source && excerptAt(source, place)
  if (!excerpt) return ''
  const width = Math.max(...excerpt.lines.map(({ number }) => `${number}`.length))
  const lines = excerpt.lines.map(({ number, text }) => escaped(`${`${number}`.padStart(width)} | ${text}`))
  return `<pre>${[...lines, `${' '.repeat(width)} | <b>${excerpt.marker}</b>`].join('\n')}</pre>`
}

function valueTable(values: readonly CheckedValue[]): string {
  const declared = (list: CheckedValue['dims']): string => (list === undefined ? '' : dimsText(list))
  const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map(text => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`
  const rows = values.slice(0, MAX_VALUES).map(({ name, graphPath, type, dims: inferred, declaredDims, note }) => {
    const path = graphPath === '' ? name : `${graphPath}/${name}`
    return row([path, type ?? '?', dimsText(inferred, type), declared(declaredDims), note ?? ''], 'td')
  })
  const rest =
    values.length > MAX_VALUES ? `<p>${escaped(`and ${counted(values.length - MAX_VALUES, 'more value')}`)}</p>` : ''
  return [
    `<details><summary>${counted(values.length, 'value')}</summary><div class="drawing">`,
    `<table>${row(['value', 'type', 'inferred', 'declared', ''], 'th')}${rows.join('')}</table></div>`,
    `${rest}</details>`
  ].join('')
}
