import type {
  ComparedOutput,
  ComparedPair,
  ComparedValue,
  Comparison,
  FirstDifference,
  ValueStatistics
} from '../compare/result.ts'
import { differingText, measureText, nodeText, worstText } from './compared-words.ts'
import { errorCurve } from './error-curve.ts'
import { escaped, framed, rowHtml, tableHtml } from './html.ts'
import { counted, shortNumber } from './words.ts'

/** Rows of a table that a page shows. */
const MAX_ROWS = 2000

/** How a comparison looks, beside what all pages have. */
export const COMPARISON_STYLE = `
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem }
.sides h2 { margin: .5rem 0 }
svg .grid { stroke: var(--line); stroke-width: .5 }
svg .axis { text-anchor: end; fill: var(--soft) }
svg .curve { fill: none; stroke: var(--note); stroke-width: 1.5 }
svg circle.equal { fill: var(--note) }
svg circle.apart { fill: var(--error) }
.good { color: var(--good) }
tr.apart td { color: var(--error) }
`

/** Whether two models are equal, and how much of them was compared. */
export function comparisonHeader({ equal, pairs, unpaired }: Comparison, a: string, b: string): string {
  const verdict = equal ? '<b class="good">equal</b>' : '<b class="declared">not equal</b>'
  const found = `${counted(pairs.length, 'pair')} of values; ${unpaired.a} of a, ${unpaired.b} of b have no counterpart`
  return [
    `<header><h1>nodewise compare: ${verdict}</h1>`,
    `<dl><dt>a</dt><dd>${escaped(a)}</dd><dt>b</dt><dd>${escaped(b)}</dd></dl>`,
    `<p class="facts">${escaped(found)}</p></header>`
  ].join('')
}

/**
 * What a comparison found.
 * @param pictures of both graphs around the first difference
 */
export const comparisonParts = ({ first, pairs, outputs, isolated }: Comparison, pictures = ''): string[] => [
  ...(first ? [firstCard(first), pictures] : []),
  ...(pairs.length > 0 ? [`<h2>Signal to noise, in the order of the run</h2>${framed(errorCurve(pairs))}`] : []),
  outputTable(outputs),
  ...(isolated ? [pairTable('Nodes of b by their own error, fed with the values of a', isolated)] : []),
  pairTable('All pairs', pairs)
]

function firstCard({ a, b, distance, why, statistics, iteration }: FirstDifference): string {
  const when = iteration === undefined ? '' : ` in iteration ${iteration}`
  const lines = [
    `${differingText(distance, ` of ${a.value}`)}${when}; what feeds it agrees`,
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
    tableHtml([
      rowHtml(['', 'node', 'value', 'least', 'greatest', 'mean', 'NaN'], 'th'),
      rowHtml(row('a', a, statistics.a), 'td'),
      rowHtml(row('b', b, statistics.b), 'td')
    ]),
    '</article>'
  ].join('')
}

function outputTable(outputs: readonly ComparedOutput[]): string {
  if (outputs.length === 0) return ''
  const rows = outputs.map(({ a, b, distance, problem = '' }) =>
    rowHtml([a, b, distance ? measureText(distance) : problem], 'td', distance?.equal === true ? '' : 'apart')
  )
  return `<h2>Outputs</h2>${tableHtml([rowHtml(['a', 'b', ''], 'th'), ...rows])}`
}

function pairTable(title: string, pairs: readonly ComparedPair[]): string {
  const rows = pairs
    .slice(0, MAX_ROWS)
    .map(({ a, b, distance }) =>
      rowHtml([nodeText(a), a.value, nodeText(b), b.value, measureText(distance)], 'td', distance.equal ? '' : 'apart')
    )
  const rest = pairs.length > MAX_ROWS ? `<p>and ${pairs.length - MAX_ROWS} more; --json --all has them</p>` : ''
  return [
    `<details><summary>${escaped(title)}</summary>`,
    tableHtml([rowHtml(['node of a', 'value', 'node of b', 'value', ''], 'th'), ...rows]),
    `${rest}</details>`
  ].join('')
}
