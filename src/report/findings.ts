import { CODES, shortMeaning } from '../check/codes.ts'
import type { CheckResult } from '../check/result.ts'
import { placeText } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Finding, Model } from '../graph/graph.ts'
import { drawNeighbourhood } from './around-node.ts'
import { excerptAt } from './excerpt.ts'
import { escaped, framed } from './html.ts'
import { neighbourFinder, type Neighbourhood } from './neighbours.ts'
import { counted, valueText } from './words.ts'

const SEVERITIES = ['error', 'warning', 'note'] as const
/** Findings that are drawn, and those that are listed at all: a page must open on a phone. */
const MAX_DRAWN = 300
const MAX_LISTED = 2000

/** What was checked, and the findings that are told of it. */
export interface Told {
  readonly model: Model
  readonly result: CheckResult
  /** The file of the model where it is text. */
  readonly source: ByteSource | undefined
}

/** Lists findings with what is around them, as far as a page has room for them. */
export class FindingCards {
  private drawn = 0
  private listed = 0

  /** Cards of the findings, the worst first; what is left out is counted. */
  of({ model, result, source }: Told): string[] {
    const find = neighbourFinder(model, result)
    const sorted = SEVERITIES.flatMap(severity => result.findings.filter(finding => finding.severity === severity))
    const listed = sorted.slice(0, Math.max(0, MAX_LISTED - this.listed))
    const drawn = Math.max(0, MAX_DRAWN - this.drawn)
    this.listed += sorted.length
    this.drawn += Math.min(sorted.length, MAX_DRAWN)
    const more = sorted.length - listed.length
    return [
      ...listed.map((finding, i) =>
        i < drawn
          ? card(finding, source && finding.place.file === model.file ? source : undefined, find(finding.place))
          : card(finding, undefined, undefined)
      ),
      ...(more > 0 ? [`<p>${escaped(`and ${counted(more, 'more finding')}; --format json lists all`)}</p>`] : [])
    ]
  }
}

function card(finding: Finding, source: ByteSource | undefined, neighbourhood: Neighbourhood | undefined): string {
  const { severity, code, message, place, declared, inferred } = finding
  const words = placeText({
    ...place,
    ...(place.nodeIndex === undefined && place.graphPath !== undefined && { node: place.node ?? place.graphPath })
  })
  const where = [words, valueText(finding, words)].filter(text => text !== '').join(', ')
  const compared =
    declared === undefined && inferred === undefined
      ? ''
      : [
          `<dl><dt>declared</dt><dd class="declared">${escaped(declared ?? 'nothing')}</dd>`,
          `<dt>inferred</dt><dd class="inferred">${escaped(inferred ?? 'nothing')}</dd></dl>`
        ].join('')
  const drawing = neighbourhood ? framed(drawNeighbourhood(neighbourhood)) : ''
  return [
    `<article class="${severity}"><h2><span>${severity}</span> ${escaped(message)}</h2>`,
    `<p class="place">${escaped(where)}</p>${compared}${excerptHtml(source, finding)}${drawing}`,
    `${codeHtml(code)}</article>`
  ].join('')
}

/** A code with what it means; one of a later version has no meaning here. */
export const codeHtml = (code: string): string => {
  const meaning = Object.hasOwn(CODES, code) ? `: ${escaped(shortMeaning(code as Finding['code']))}` : ''
  return `<p class="code"><code>${escaped(code)}</code>${meaning}</p>`
}

function excerptHtml(source: ByteSource | undefined, { place }: Finding): string {
  const excerpt = source && excerptAt(source, place)
  if (!excerpt) return ''
  const width = Math.max(...excerpt.lines.map(({ number }) => `${number}`.length))
  const lines = excerpt.lines.map(({ number, text }) => escaped(`${`${number}`.padStart(width)} | ${text}`))
  return `<pre tabindex="0">${[...lines, `${' '.repeat(width)} | <b>${excerpt.marker}</b>`].join('\n')}</pre>`
}

/** What findings come to, in a sentence. */
export const verdictOf = (errors: number): string =>
  errors > 0 ? 'What is declared cannot all be true.' : 'Nothing that is declared was found to be false.'

/** How many there are of something, and how that looks. */
export type Count = readonly [count: number, name: string, look: string]

const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`)

/** Counts of errors and warnings, and of what else there is where there is any. */
export const countsOf = (errors: number, warnings: number, ...others: readonly Count[]): Count[] => [
  [errors, plural('error', errors), 'error'],
  [warnings, plural('warning', warnings), 'warning'],
  ...others
]

/** {@link countsOf} findings, with the notes. */
export const findingCounts = ({ findings, summary: { errors, warnings } }: CheckResult): Count[] => {
  const notes = findings.filter(({ severity }) => severity === 'note').length
  return countsOf(errors, warnings, [notes, plural('note', notes), 'note'])
}

/** Counts side by side. */
export const tiles = (counts: readonly Count[]): string => {
  const items = counts.map(
    ([count, name, look]) => `<li class="${count > 0 ? look : 'none'}"><b>${count}</b> ${name}</li>`
  )
  return `<ul class="tiles">${items.join('')}</ul>`
}

/** What was looked at, in a line. */
export const factLine = (
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

/** The header of one model: its name, the verdict, the counts. */
export const modelHeader = ({ model, result }: Pick<Told, 'model' | 'result'>, ...others: readonly Count[]): string =>
  [
    `<h1>${escaped(model.file)}</h1><p>${escaped(verdictOf(result.summary.errors))}</p>`,
    tiles([...findingCounts(result), ...others]),
    factLine([model.dialect === 'onnx' ? 'ONNX' : 'OpenVINO IR'], result.summary)
  ].join('')
