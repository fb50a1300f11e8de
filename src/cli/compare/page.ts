import type {
  ComparedOutput,
  ComparedPair,
  ComparedValue,
  Comparison,
  FirstDifference,
  ValueStatistics
} from '../../compare/result.ts'
import type { Model } from '../../graph/graph.ts'
import { escaped, pageOf } from '../draw/html.ts'
import { surroundingsOf } from '../draw/neighbourhood.ts'
import { STYLE } from '../draw/style.ts'
import { drawSvg } from '../draw/svg.ts'
import { shortNumber } from '../run/summary.ts'
import { counted } from '../terminal.ts'
import { errorCurve } from './error-curve.ts'
import { measureText, nodeText, worstText } from './text.ts'

/** What is compared, by the names that the caller gave; a recording has no model. */
export interface Subjects {
  readonly a: string
  readonly b: string
  readonly modelA?: Model | undefined
  readonly modelB?: Model | undefined
}

/** Rows of a table that a page shows. */
const MAX_ROWS = 2000

const OWN_STYLE = `
body { max-width: 76rem }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem }
.sides h2 { margin: .5rem 0 }
svg rect { fill: var(--card); stroke: var(--line) }
svg .port { stroke-dasharray: none; fill: var(--paper) }
svg .constant { stroke-dasharray: 4 3 }
svg .marked { stroke: var(--error); stroke-width: 3 }
svg .edge { marker-end: url(#tip) }
svg .tip { fill: var(--soft) }
svg .grid { stroke: var(--line); stroke-width: .5 }
svg .axis { text-anchor: end; fill: var(--soft) }
svg .curve { fill: none; stroke: var(--note); stroke-width: 1.5 }
svg circle.equal { fill: var(--note) }
svg circle.apart { fill: var(--error) }
.good { color: var(--good) }
tr.apart td { color: var(--error) }
`

/** What a comparison found as one page that needs nothing else. */
export async function comparePage(result: Comparison, subjects: Subjects): Promise<string> {
  const { equal, first, pairs, unpaired, isolated } = result
  const verdict = equal ? '<b class="good">equal</b>' : '<b class="declared">not equal</b>'
  const found = `${counted(pairs.length, 'pair')} of values; ${unpaired.a} of a, ${unpaired.b} of b have no counterpart`
  const body = [
    `<header><h1>nodewise compare: ${verdict}</h1>`,
    `<dl><dt>a</dt><dd>${escaped(subjects.a)}</dd><dt>b</dt><dd>${escaped(subjects.b)}</dd></dl>`,
    `<p class="facts">${escaped(found)}</p></header>`,
    ...(first ? [firstCard(first), await pictures(first, subjects)] : []),
    ...(pairs.length > 0
      ? [`<h2>Signal to noise, in the order of the run</h2><div class="drawing">${errorCurve(pairs)}</div>`]
      : []),
    outputTable(result.outputs),
    ...(isolated ? [pairTable('Nodes of b by their own error, fed with the values of a', isolated)] : []),
    pairTable('All pairs', pairs)
  ]
  return pageOf(`${subjects.a} and ${subjects.b}`, STYLE + OWN_STYLE, body)
}

function firstCard({ a, b, distance, why, statistics, iteration }: FirstDifference): string {
  const { differing, elements } = distance
  const when = iteration === undefined ? '' : ` in iteration ${iteration}`
  const lines = [
    `${differing} of ${elements} elements of ${a.value} differ${when}; what feeds them agrees`,
    worstText(distance),
    ...why
  ]
  const row = (name: string, value: ComparedValue, numbers: ValueStatistics): string[] => [
    name,
    nodeText(value),
    `${numbers.type} [${numbers.dims.join(', ')}]`,
    ...[numbers.min, numbers.max, numbers.mean].map(number => (number === undefined ? '' : shortNumber(number))),
    String(numbers.nans)
  ]
  return [
    '<article class="error"><h2><span>first difference</span></h2>',
    ...lines.map(line => `<p>${escaped(line)}</p>`),
    '<div class="drawing"><table>',
    rowHtml(['', 'node', 'value', 'least', 'greatest', 'mean', 'NaN'], 'th'),
    rowHtml(row('a', a, statistics.a), 'td'),
    rowHtml(row('b', b, statistics.b), 'td'),
    '</table></div></article>'
  ].join('')
}

async function pictures({ a, b }: FirstDifference, { modelA, modelB }: Subjects): Promise<string> {
  const side = async (name: string, model: Model | undefined, value: ComparedValue): Promise<string> => {
    const around = model && surroundingsOf(model, value)
    const picture = around
      ? await drawSvg(around.model, { marked: new Set([`g_${around.place}`]), isInline: true })
      : `<p>${escaped(nodeText(value))}</p>`
    return `<section><h2>${name}</h2><div class="drawing">${picture}</div></section>`
  }
  return `<div class="sides">${await side('a', modelA, a)}${await side('b', modelB, b)}</div>`
}

function outputTable(outputs: readonly ComparedOutput[]): string {
  if (outputs.length === 0) return ''
  const rows = outputs.map(({ a, b, distance, problem = '' }) =>
    rowHtml([a, b, distance ? measureText(distance) : problem], 'td', distance?.equal === true ? '' : 'apart')
  )
  return `<h2>Outputs</h2><div class="drawing"><table>${rowHtml(['a', 'b', ''], 'th')}${rows.join('\n')}</table></div>`
}

function pairTable(title: string, pairs: readonly ComparedPair[]): string {
  const rows = pairs
    .slice(0, MAX_ROWS)
    .map(({ a, b, distance }) =>
      rowHtml([nodeText(a), a.value, nodeText(b), b.value, measureText(distance)], 'td', distance.equal ? '' : 'apart')
    )
  const rest = pairs.length > MAX_ROWS ? `<p>and ${pairs.length - MAX_ROWS} more; --json --all has them</p>` : ''
  return [
    `<details><summary>${escaped(title)}</summary><div class="drawing"><table>`,
    rowHtml(['node of a', 'value', 'node of b', 'value', ''], 'th'),
    `${rows.join('\n')}</table></div>${rest}</details>`
  ].join('')
}

const rowHtml = (cells: readonly string[], tag: 'td' | 'th', look = ''): string =>
  `<tr${look === '' ? '' : ` class="${look}"`}>${cells.map(text => `<${tag}>${escaped(text)}</${tag}>`).join('')}</tr>`
