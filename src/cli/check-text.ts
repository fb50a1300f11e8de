import type { CheckedValue, CheckResult } from '../check/result.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Finding, Model } from '../graph/graph.ts'
import { printable } from '../io/print.ts'
import { excerptAt } from './excerpt.ts'
import { placeText } from './failure.ts'
import { type Box, type Line, neighbourFinder, type Neighbourhood, type Said } from './neighbours.ts'
import { bold, counted, cyan, dim, green, red, table, yellow } from './terminal.ts'

export interface Look {
  /** The file of the model where it is text. */
  readonly source: ByteSource | undefined
  /** List all values too. */
  readonly withValues: boolean
}

const TINT = { error: red, warning: yellow, note: cyan } as const
const SEVERITIES = ['error', 'warning', 'note'] as const
/** Notes of one code beyond these are only counted. */
const MAX_NOTES = 10
/** Findings beyond these are shown without what is around them. */
const MAX_EXCERPTS = 200
/** Inputs and readers of a node that are listed. */
const MAX_LINES = 6

/** The report for people: errors, warnings, notes, each with what the file says there; then the summary. */
export function checkText(model: Model, result: CheckResult, { source, withValues }: Look): string {
  const { findings, values } = result
  const find = neighbourFinder(model, result)
  const around = (finding: Finding): string[] => {
    const excerpt = source && finding.place.file === model.file ? excerptLines(source, finding) : undefined
    return excerpt ?? neighbourLines(find(finding.place), finding)
  }
  const blocks = SEVERITIES.flatMap(severity => {
    const some = findings.filter(finding => finding.severity === severity)
    if (severity === 'note') return noteBlocks(some)
    return some.map((finding, i) => [findingLine(finding), ...(i < MAX_EXCERPTS ? around(finding) : [])])
  })
  return [...(withValues ? [valueLines(values)] : []), ...blocks, [summaryLine(result)]]
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

function findingLine({ severity, code, message, place }: Finding): string {
  const head = printable(placeText(place))
  const value = place.value === undefined || message.includes(`"${place.value}"`) ? '' : `value "${place.value}": `
  return `${bold(head)}${head === '' ? '' : ': '}${printable(value + message)} ${TINT[severity](`[${severity}: ${code}]`)}`
}

function noteBlocks(notes: readonly Finding[]): string[][] {
  return [...new Set(notes.map(({ code }) => code))].map(code => {
    const some = notes.filter(note => note.code === code)
    const more = some.length - MAX_NOTES
    return [
      ...some.slice(0, MAX_NOTES).map(findingLine),
      ...(more > 0 ? [dim(`and ${counted(more, 'more note')} ${code} (--format json lists all)`)] : [])
    ]
  })
}

function excerptLines(source: ByteSource, { place, severity }: Finding): string[] | undefined {
  const excerpt = excerptAt(source, place)
  if (excerpt === undefined) return undefined
  const width = Math.max(...excerpt.lines.map(({ number }) => `${number}`.length))
  const gutter = (text: string): string => dim(`  ${text.padStart(width)} |`)
  return [
    ...excerpt.lines.map(({ number, text }) => `${gutter(`${number}`)} ${text}`.trimEnd()),
    `${gutter('')} ${TINT[severity](excerpt.marker)}`
  ]
}

/** What a file without lines has in place of an excerpt: the node, what it reads and who reads it. */
function neighbourLines(neighbourhood: Neighbourhood | undefined, { place }: Finding): string[] {
  if (!neighbourhood) return []
  const { box, inputs, outputs } = neighbourhood
  const path = place.graphPath ? ` in ${place.graphPath}` : ''
  return [
    // The first line of the finding names its node already.
    ...(place.nodeIndex === undefined ? [`  ${dim('|')} ${printable(boxText(box) + path)}`] : []),
    ...shortened(inputs.map(line => `<- ${lineText(line)}  ${dim(`from ${boxText(line.box)}`)}`)),
    ...shortened(outputs.map(line => `-> ${lineText(line)}  ${dim(`to ${boxText(line.box)}`)}`))
  ]
}

const boxText = ({ type, name }: Box): string => (name === '' ? type : `${type} "${printable(name)}"`)

function lineText({ value, inferred, declared, received }: Line): string {
  const said = (word: string, { text, isFalse }: Said): string =>
    `, ${(isFalse ? red : dim)(printable(`${word} ${text}`))}`
  return `${printable(value)}: ${printable(inferred)}${declared ? said('declared', declared) : ''}${received ? said('read as', received) : ''}`
}

function shortened(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LINES
  return [...lines.slice(0, MAX_LINES), ...(more > 0 ? [dim(`… ${more} more`)] : [])].map(
    line => `  ${dim('|')}   ${line}`
  )
}

function summaryLine({ summary }: CheckResult): string {
  const { errors, warnings, nodes, values, unknownShapes, unverified } = summary
  const counts = [
    counted(nodes, 'node'),
    counted(values, 'value'),
    `${counted(unknownShapes, 'value')} of unknown rank`,
    ...(unverified > 0 ? [`${counted(unverified, 'value')} not verified`] : [])
  ]
  const tint = errors > 0 ? red : warnings > 0 ? yellow : green
  return `${tint(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}`)} (${counts.join(', ')})`
}

function valueLines(values: readonly CheckedValue[]): string[] {
  const dimsText = (dims: CheckedValue['dims']): string => (dims === undefined ? '[...]' : `[${dims.join(', ')}]`)
  return table(
    values.map(({ name, graphPath, type, dims, declaredDims, note }) => {
      const declared =
        declaredDims !== undefined && dimsText(declaredDims) !== dimsText(dims)
          ? `declared ${dimsText(declaredDims)}`
          : ''
      const path = graphPath === '' ? '' : `${graphPath}/`
      return [
        path + name,
        type ?? '?',
        dimsText(dims),
        [declared, note ?? ''].filter(text => text !== '').join('; ')
      ].map(printable)
    })
  )
}
