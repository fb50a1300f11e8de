import { CODES } from '../check/codes.ts'
import type { CheckedValue, CheckResult } from '../check/result.ts'
import { placeText } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Finding, Model } from '../graph/graph.ts'
import { drawNeighbourhood } from './check-drawing.ts'
import { STYLE } from './check-style.ts'
import type { Look } from './check-text.ts'
import { excerptAt } from './excerpt.ts'
import { escaped } from './html.ts'
import { neighbourFinder, type Neighbourhood } from './neighbours.ts'
import { counted, dimsText } from './terminal.ts'

const SEVERITIES = ['error', 'warning', 'note'] as const
/** Findings that are drawn, and those that are listed at all: a page must open on a phone. */
const MAX_DRAWN = 300
const MAX_LISTED = 2000
const MAX_VALUES = 20_000

/** The report as one page that needs nothing else: no script, no network. */
export function checkPage(model: Model, result: CheckResult, { source, withValues }: Look): string {
  const find = neighbourFinder(model, result)
  const sorted = SEVERITIES.flatMap(severity => result.findings.filter(finding => finding.severity === severity))
  const cards = sorted
    .slice(0, MAX_LISTED)
    .map((finding, i) =>
      i < MAX_DRAWN
        ? card(finding, source && finding.place.file === model.file ? source : undefined, find(finding.place))
        : card(finding, undefined, undefined)
    )
  const title = `nodewise check: ${model.file}`
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    summary(model, result),
    ...cards,
    ...(sorted.length > MAX_LISTED
      ? [`<p>${escaped(`and ${counted(sorted.length - MAX_LISTED, 'more finding')}; --format json lists all`)}</p>`]
      : []),
    ...(withValues ? [valueTable(result.values)] : []),
    '</body>',
    '</html>'
  ].join('\n')
}

function summary(model: Model, { findings, summary }: CheckResult): string {
  const { errors, warnings, nodes, values, unknownShapes, unverified } = summary
  const notes = findings.length - errors - warnings
  const tiles: readonly (readonly [number, string, string])[] = [
    [errors, 'error', 'error'],
    [warnings, 'warning', 'warning'],
    [notes, 'note', 'note']
  ]
  const facts = [
    counted(nodes, 'node'),
    counted(values, 'value'),
    `${counted(unknownShapes, 'value')} of unknown rank`,
    `${counted(unverified, 'value')} not verified`
  ]
  const verdict =
    errors > 0
      ? 'What this file declares cannot all be true.'
      : 'Nothing that this file declares was found to be false.'
  const items = tiles.map(
    ([count, name, look]) =>
      `<li class="${count > 0 ? look : 'none'}"><b>${count}</b> ${name}${count === 1 ? '' : 's'}</li>`
  )
  const format = model.dialect === 'onnx' ? 'ONNX' : 'OpenVINO IR'
  return [
    `<header><h1>${escaped(model.file)}</h1><p>${escaped(verdict)}</p>`,
    `<ul class="tiles">${items.join('')}</ul>`,
    `<p class="facts">${escaped([format, ...facts].join(', '))}</p></header>`
  ].join('')
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
    `<p class="code"><code>${code}</code>: ${escaped(CODES[code])}</p></article>`
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
